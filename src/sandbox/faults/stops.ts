/** What keeps a request from its answer: it is not carried out, or what became of it is not shown. */
import type { FaultTable } from './table.ts';

/**
 * Gravest first: of several that one request meets, the first decides. Those without a rate are for tests
 * alone.
 *
 * `refuse` for a single request (`failNext`), which has been accepted when we know what it is for, is the
 * same as `reset-before`.
 */
export const stops = {
  refuse: { help: 'nothing listens on the port' },
  hang: { help: 'nothing is done, and no answer ever comes' },
  maintenance: {
    help: 'whole minutes of 503 pages with Retry-After; the rate is the share of minutes',
    rate: 0.1,
  },
  'reset-before': { help: 'the connection is cut, and nothing was done', rate: 0.05 },
  'status-503': { help: '503 from a proxy, before the service looked at the request' },
  'error-before': { help: '500, and nothing was done', rate: 0.05 },
  'bare-429': { help: '429 without rate headers', rate: 0.05 },
  'html-400': {
    help: '400 with an HTML page from a proxy, without rate headers; nothing was done',
    rate: 0.05,
  },
  redirect: { help: '301, 302, 307, 308 in turn, to another path of the same origin', rate: 0.05 },
  'redirect-away': { help: '301, 302, 307, 308 in turn, to another origin', rate: 0.05 },
  'reset-after': { help: 'the connection is cut, but it was done', rate: 0.05 },
  'error-after': { help: '500, but it was done', rate: 0.05 },
  truncate: { help: 'done, but the answer ends in the middle', rate: 0.05 },
  garbage: { help: 'done, but the answer is an HTML page with the status of success', rate: 0.05 },
} as const satisfies FaultTable;
