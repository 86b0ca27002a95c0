/** The requests that were sent for a target: operation, status, duration, id, and what an error answer says. */
import { isoTime } from '../../clock.ts';
import type { Target } from '../../run/run.ts';
import { isFailure } from '../../run/sent-request.ts';
import { countOf } from '../../text.ts';
import { span } from './time.tsx';

export const Requests = ({ target: { requests = [], moreRequests, startedAt } }: { target: Target }) =>
  requests.length === 0 ? null : (
    <div class="requests">
      <h3>Requests</h3>
      <ol class="plain">
        {requests.map((request) => (
          <li class={isFailure(request) ? 'is-failed' : 'is-succeeded'}>
            <p>
              <code>{request.operation}</code>
              <span class="status">
                {request.status === undefined ? 'no answer' : `HTTP ${request.status}`}
              </span>
              <span class="dim ms">{request.ms}&nbsp;ms</span>
              <span class="dim" title={isoTime(request.at)}>
                {startedAt !== undefined && `after ${span(request.at - startedAt)}`}
              </span>
              {request.id !== undefined && <span class="dim id">{request.id}</span>}
            </p>
            {(request.code !== undefined || request.message !== undefined) && (
              <p class="error">
                {request.code !== undefined && <code>{request.code}</code>} {request.message}
              </p>
            )}
          </li>
        ))}
      </ol>
      {moreRequests !== undefined && (
        <p class="dim">{countOf(moreRequests, 'more request')} between the first three and the last ones.</p>
      )}
    </div>
  );
