/** Faults that prevent an answer: the request is not carried out, or its result is not shown. */
import type { FaultTable } from './table.ts';

/**
 * The most severe first: of several faults of one request, the first one applies. Those without a rate are
 * for tests only.
 *
 * With `failNext`, `refuse` is the same as `reset-before`: the connection is already accepted when the
 * operation is known.
 */
export const stops = {
  refuse: { help: 'nothing listens on the port' },
  hang: { help: 'the request is not carried out, and no answer is sent' },
  maintenance: {
    help: 'whole minutes of 503 pages with Retry-After; the rate is the fraction of minutes',
    rate: 0.1,
  },
  'reset-before': { help: 'the connection is cut; the request is not carried out', rate: 0.05 },
  'status-503': { help: '503 from a proxy, before the service handles the request' },
  'error-before': { help: '500; the request is not carried out', rate: 0.05 },
  'bare-429': { help: '429 without rate headers', rate: 0.05 },
  'html-400': {
    help: '400 with an HTML page from a proxy, without rate headers; the request is not carried out',
    rate: 0.05,
  },
  redirect: { help: '301, 302, 307 and 308 in turn, to another path of the same origin', rate: 0.05 },
  'redirect-away': { help: '301, 302, 307 and 308 in turn, to another origin', rate: 0.05 },
  'reset-after': { help: 'the connection is cut, but the request is carried out', rate: 0.05 },
  'error-after': { help: '500, but the request is carried out', rate: 0.05 },
  truncate: { help: 'the request is carried out, but the answer is truncated', rate: 0.05 },
  garbage: {
    help: 'the request is carried out, but the answer is an HTML page with the status of success',
    rate: 0.05,
  },
} as const satisfies FaultTable;
