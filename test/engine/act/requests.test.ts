/** What is kept of the requests that are sent for a target. */
import { expect, test } from 'vitest';
import { RequestLog } from '../../../src/engine/act/report-act.ts';
import { keys } from '../../../src/records/keys.ts';
import { aPolicy, aTarget } from '../../support/builders.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { worldOfTest } from '../../support/world-of-test.ts';

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

test('a target keeps each request with status, duration and the id of the service, of refusals the answer, and takes little room', async () => {
  const world = await worldOfTest({ before: quickSyncs, sites: 1 });
  const [site = ''] = world.sandbox.siteIds();
  const ended = async () => {
    const run = await world.ended(await world.fire(aPolicy()));
    const [target] = await world.targets(run);
    const syncs = target?.requests?.filter(({ operation }) => operation === 'syncSite') ?? [];
    return { run, target, syncs };
  };
  world.sandbox.failNext({ operation: 'syncSite' }, 'error-before');
  const [failed, last] = (await ended()).syncs;
  world.sandbox.site(site).underMaintenance(true);
  const second = await ended();
  world.sandbox.site(site).underMaintenance(false);
  const third = await ended();

  expect(failed).toMatchObject({
    status: 500,
    id: expect.stringMatching(/^sandbox-\d+$/),
    code: 'internal_error',
    message: 'Something went wrong on our side.',
  });
  expect(second.syncs).toMatchObject([
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

  const { requests, ...without } = third.target ?? {};
  expect(requests).toHaveLength(1);
  const bytes = JSON.stringify(third.target).length - JSON.stringify(without).length;
  expect(bytes, 'of one request that succeeded').toBeLessThanOrEqual(110);
  const stored = await world.caretaker.redis.store.hget(keys.targets(third.run.id), site);
  expect(stored).toContain('"requests":[{');
});
