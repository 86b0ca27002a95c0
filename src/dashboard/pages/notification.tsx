/** One notification: its text, and each attempt. */
import { isPermitted } from '../../access/principal.ts';
import { resendDelivery } from '../../control/commands/notifications.ts';
import { actorOf } from '../auth/caller.ts';
import { NO_DELIVERY } from '../auth/guard.tsx';
import { Action } from '../components/action.tsx';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/empty.tsx';
import { showPage } from '../components/layout.tsx';
import { notificationPath } from '../components/paths.ts';
import { DataTable } from '../components/table.tsx';
import { span, Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { DeliverySubject } from './notifications.tsx';
import { sendProblem } from './problem.tsx';

export async function showNotification(c: Exchange, context: DashboardContext): Promise<Response> {
  const { records } = context.control;
  const delivery = await records.deliveries.get(c.req.param('delivery') ?? '');
  if (!delivery) return sendProblem(c, context, 404, NO_DELIVERY);
  const { id, to, event, at, policy, account, state, due, attempts, message } = delivery;
  const now = context.clock.now();
  const mayResend = isPermitted(actorOf(c).principal, resendDelivery.role, { policy, account });
  return showPage(
    c,
    context,
    { title: `Notification to ${to}`, here: '/notifications' },
    <>
      <section>
        <div class="page-head">
          <h1>Notification to {to}</h1>
          <Badge word={state} filled />
          {mayResend && (
            <Action to={notificationPath(id, '/resend')} icon="rotate-ccw">
              Resend
            </Action>
          )}
        </div>
        <div class="card">
          {message.text.split('\n').map((line, index) => (
            <>
              {index > 0 && <br />}
              {line}
            </>
          ))}
        </div>
      </section>
      <section>
        <h2>Facts</h2>
        <dl class="card">
          <div>
            <dt>About</dt>
            <dd>
              <DeliverySubject delivery={delivery} />
            </dd>
          </div>
          <div>
            <dt>Event</dt>
            <dd>{event}</dd>
          </div>
          <div>
            <dt>Happened</dt>
            <dd>
              <Time at={at} now={now} />
            </dd>
          </div>
          <div>
            <dt>Next attempt</dt>
            <dd>{due === undefined ? 'none' : <Time at={due} now={now} />}</dd>
          </div>
          <div>
            <dt>Id</dt>
            <dd>
              <code>{id}</code>
            </dd>
          </div>
        </dl>
      </section>
      <section>
        <h2>Attempts</h2>
        {attempts.length === 0 ? (
          <Empty title="There was no attempt yet." icon="clock">
            A worker makes one as soon as it is due.
          </Empty>
        ) : (
          <DataTable
            name="Attempts"
            columns={[
              { head: 'Time', width: 'w-run' },
              { head: 'Result', width: 'w-badge' },
              { head: 'Duration', width: 'w-word', end: true },
              { head: 'Why' },
            ]}
          >
            {attempts.toReversed().map((one) => (
              <tr data-key={`attempt ${one.at}`}>
                <td data-label="Time">
                  <Time at={one.at} now={now} show="both" />
                </td>
                <td data-label="Result">
                  <Badge word={one.is ?? 'unknown'} />
                </td>
                <td data-label="Duration" class="end">
                  {one.ms === undefined ? (
                    <span class="dim">not known</span>
                  ) : one.ms < 1000 ? (
                    `${one.ms} ms`
                  ) : (
                    span(one.ms)
                  )}
                </td>
                <td data-label="Why">
                  {one.why ??
                    (one.is === undefined
                      ? 'Its end was not recorded: it continues, or its process died.'
                      : '')}
                </td>
              </tr>
            ))}
          </DataTable>
        )}
      </section>
    </>,
  );
}
