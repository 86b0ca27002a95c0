/** The requests that were sent for a target, as a table. */
import { isoTime } from '../../clock.ts';
import type { Target } from '../../run/run.ts';
import { isFailure, type SentRequest } from '../../run/sent-request.ts';
import { countOf } from '../../text.ts';
import { type List, listTable } from './list.ts';
import type { Terminal } from './terminal.ts';

/** Empty for a target for which no request is recorded. */
export function requestLines({ requests = [], moreRequests }: Target, terminal: Terminal): string[] {
  if (requests.length === 0) return [];
  return [
    '',
    listTable(list, requests, terminal),
    ...(moreRequests === undefined
      ? []
      : [`${countOf(moreRequests, 'more request')} between the first three and the last ones.`]),
  ];
}

const list: List<SentRequest> = {
  table: {
    sent: ({ at }) => isoTime(at),
    operation: ({ operation }) => operation,
    status: (one, { paint }) => paint(isFailure(one) ? 'red' : 'green', String(one.status ?? 'no answer')),
    ms: ({ ms }) => ms,
    'request id': ({ id }) => id,
    error: ({ code, message }) => [code, message].filter((one) => one !== undefined).join(': '),
  },
  shrink: ['error: 24', 'request id: 0', 'error: 0'],
};
