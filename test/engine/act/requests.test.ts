/** What is kept of the requests that are sent for a target. */
import { afterEach, expect, test } from 'vitest';
import { RequestLog } from '../../../src/engine/act/report-act.ts';
import { keys } from '../../../src/records/keys.ts';
import type { Run } from '../../../src/run/run.ts';
import type { SentRequest } from '../../../src/run/sent-request.ts';
import { aPolicy, aTarget } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

const answered = { operation: 'syncSite', at: 1_000, ms: 12.6 } as const;

test('the message of an error answer is kept without secrets, and at most 300 characters of it', () => {
  const log = new RequestLog();
  log.note({
    ...answered,
    status: 422,
    problem: { code: 'refused', message: 'It needs password=hunter22222 today' },
  });
  log.note({ ...answered, status: 500, problem: { message: 'x'.repeat(5_000) } });

  const [refused, failed] = log.addTo(aTarget('a')).requests ?? [];

  expect(refused).toEqual({
    operation: 'syncSite',
    at: 1_000,
    ms: 13,
    status: 422,
    code: 'refused',
    message: 'It needs password=[hidden] today',
  });
  expect(failed?.message).toHaveLength(301);
});

test('a target keeps each request with status, duration and the id of the service, and of refusals the answer', async () => {
  world = await startWorld({ before: quickSyncs, sites: 1 });
  const [site = ''] = world.sandbox.siteIds();
  world.sandbox.failNext({ operation: 'syncSite' }, 'error-before');
  const first = await world.fire(aPolicy());
  await world.ended(first);
  world.sandbox.site(site).underMaintenance(true);
  const second = await world.fire(aPolicy());
  await world.ended(second);
  const syncsOf = async (run: Run): Promise<readonly SentRequest[]> =>
    ((await world?.targets(run))?.[0]?.requests ?? []).filter(({ operation }) => operation === 'syncSite');

  const [failed, last] = await syncsOf(first);
  expect(failed).toMatchObject({
    status: 500,
    id: expect.stringMatching(/^sandbox-\d+$/),
    code: 'internal_error',
    message: 'Something went wrong on our side.',
  });
  expect(await syncsOf(second)).toMatchObject([
    { status: 422, code: 'site_under_maintenance', message: 'The site is under maintenance.' },
  ]);
  expect(last).toEqual({
    operation: 'syncSite',
    at: expect.any(Number),
    ms: expect.any(Number),
    status: 200,
    id: expect.stringMatching(/^sandbox-\d+$/),
  });
  // The id is that of the entry in the service's own journal.
  const number = Number(last?.id?.slice('sandbox-'.length));
  expect(world.sandbox.journal.requests[number - 1]).toMatchObject({ operation: 'syncSite', status: 200 });
});

test('a target with one request that succeeded takes at most 110 bytes more', async () => {
  world = await startWorld({ before: quickSyncs, sites: 1 });
  const run = await world.fire(aPolicy());
  await world.ended(run);
  const [target] = await world.targets(run);
  const { requests, ...without } = target ?? {};

  expect(requests).toHaveLength(1);
  expect(JSON.stringify(target).length - JSON.stringify(without).length).toBeLessThanOrEqual(110);
  const stored = await world.caretaker.redis.store.hget(keys.targets(run.id), target?.id ?? '');
  expect(stored).toContain('"requests":[{');
});
