import { expect, test } from 'vitest';
import { type SentRequest, withRequests } from '../../src/run/sent-request.ts';

const sent = (at: number, changes: Partial<SentRequest> = {}): SentRequest => ({
  operation: 'syncSite',
  at,
  ms: 40,
  status: 200,
  ...changes,
});
const refused = (at: number) =>
  sent(at, { status: 409, code: 'sync_in_progress', message: `Refused ${at}.` });

test('the first three and the last nine requests of a target are kept, and the others are counted', () => {
  const first = withRequests(
    {},
    Array.from({ length: 11 }, (_, at) => sent(at)),
  );
  const all = withRequests(
    first,
    Array.from({ length: 10 }, (_, at) => sent(11 + at)),
  );

  expect(first.requests).toHaveLength(11);
  expect(first.moreRequests).toBeUndefined();
  expect(all.requests?.map(({ at }) => at)).toEqual([0, 1, 2, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
  expect(all.moreRequests).toBe(9);
  expect(withRequests(all, [sent(21)])).toMatchObject({ moreRequests: 10 });
});

test('only the last three failures keep their message; each keeps its status and its code', () => {
  const { requests = [] } = withRequests({}, [1, 2, 3, 4, 5].map(refused));

  expect(requests.map(({ message }) => message)).toEqual([
    undefined,
    undefined,
    'Refused 3.',
    'Refused 4.',
    'Refused 5.',
  ]);
  expect(requests.every(({ status, code }) => status === 409 && code === 'sync_in_progress')).toBe(true);
});

test('a target without requests stays as it is', () => {
  expect(withRequests({}, [])).toEqual({});
});
