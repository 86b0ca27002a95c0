/** The requests that were sent for a target, as a table. */
import { isoTime } from '../../clock.ts';
import type { Target } from '../../run/run.ts';
import { isFailure, type SentRequest } from '../../run/sent-request.ts';
import { countOf, visibleLine } from '../../text.ts';
import { type Terminal, table } from './terminal.ts';

/** Empty for a target for which no request is recorded. */
export function requestLines({ requests = [], moreRequests }: Target, terminal: Terminal): string[] {
  if (requests.length === 0) return [];
  const rows = requests.map((request) => [
    isoTime(request.at),
    request.operation,
    terminal.paint(isFailure(request) ? 'red' : 'green', String(request.status ?? 'no answer')),
    String(request.ms),
    request.id ?? '',
    errorOf(request),
  ]);
  const heads = ['sent', 'operation', 'status', 'ms', 'request id', 'error'];
  return [
    '',
    table(heads, rows, terminal.paint, {
      columns: terminal.dataColumns,
      shrink: [
        { column: 5, min: 24 },
        { column: 4, min: 0 },
        { column: 5, min: 0 },
      ],
    }),
    ...(moreRequests === undefined
      ? []
      : [`${countOf(moreRequests, 'more request')} between the first three and the last ones.`]),
  ];
}

const errorOf = ({ code, message }: SentRequest): string =>
  visibleLine([code, message].filter((one) => one !== undefined).join(': '));
