/** A job defines its own kind of followed work and its own reasons: nothing else has to be changed for it. */
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createEngine } from '../../src/engine/engine.ts';
import { defineJob } from '../../src/job/job.ts';
import { createRegistry } from '../../src/job/registry.ts';
import type { WatchKind } from '../../src/job/watch/watch.ts';
import type { Watch } from '../../src/run/run.ts';
import { partsOf } from '../support/between.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';

interface LogsWatch extends Watch {
  kind: 'activity-logs';
  siteId: string;
}

type Site = { id: string; activity_logs?: { enabled?: boolean | undefined } | undefined };

const judge = (_watch: LogsWatch, { activity_logs }: Site) =>
  activity_logs?.enabled
    ? ({ is: 'failed', reason: 'logs-on' } as const)
    : ({ is: activity_logs?.enabled === undefined ? 'unclear' : 'running' } as const);

const logsWatch: WatchKind<LogsWatch, Site> = {
  name: 'activity-logs',
  label: ({ siteId }) => `The wait for the activity logs of ${siteId}`,
  id: ({ siteId }) => `logs of ${siteId}`,
  sweep: { operation: 'listSites', query: () => ({}) },
  keyOfItem: ({ id }) => id,
  keyOf: ({ siteId }) => siteId,
  evaluate: judge,
  poll: async (api, watch) => judge(watch, (await api.showSite({ site_id: watch.siteId })).site),
  async cancel(api, { siteId }) {
    await api.disableSiteActivityLogs({ site_id: siteId });
  },
};

const awaitLogs = defineJob({
  name: 'await-logs',
  summary: 'Reports sites whose activity logs are switched on.',
  reasons: { 'logs-on': { text: 'The activity logs of the site are on.', retryable: true } },
  watches: [logsWatch],
  options: z.strictObject({ undeclared: z.boolean().default(false) }),
  candidates: 'listSites',
  target: ({ id, url }) => ({ id, label: url }),
  requestsPerTarget: 0,
  act: async ({ target, now, options }) =>
    options.undeclared
      ? { is: 'done', reason: 'not-declared' }
      : { is: 'following', watch: { kind: 'activity-logs', siteId: target.id, since: now } },
  reconcile: async () => ({ is: 'absent' }),
});

let world: World;
let stop: () => Promise<void> = async () => undefined;
afterEach(async () => {
  await stop();
  stop = async () => undefined;
  await world?.stop();
  world = undefined as never;
});

async function engineWithJob() {
  world = await startWorld({ sites: 1, work: false });
  const registry = createRegistry([awaitLogs]);
  const engine = createEngine({ ...partsOf(world.caretaker), registry });
  const working = engine.work(50);
  stop = () => working.stop();
  return engine;
}

const logsPolicy = (options: object = {}, targetMs = 3_600_000) => {
  const policy = aPolicy({ job: 'await-logs', options: { undeclared: false, ...options } });
  return { ...policy, timeout: { ...policy.timeout, targetMs } };
};
const fire = (policy: ReturnType<typeof logsPolicy>) => world.fire(policy);
const call = (operation: 'enableSiteActivityLogs') =>
  world.caretaker
    .link('default')
    .client.call(operation, { site_id: 'site-0001' }, { requestClass: 'person' });

test('work of a kind that a job defines is followed to its end, with the sentence of its reason', async () => {
  await engineWithJob();
  const run = await fire(logsPolicy());
  await until(world, async () => (await world.targets(run))[0]?.state === 'following');
  await call('enableSiteActivityLogs');

  const ended = await world.ended(run);

  expect(ended).toMatchObject({ status: 'failed', counts: { failed: 1 } });
  expect((await world.targets(run))[0]).toMatchObject({
    outcome: 'failed',
    reason: 'logs-on',
    detail: 'The activity logs of the site are on.',
    taskId: 'logs of site-0001',
  });
});

test('work that is not over within its time limit is reported as its kind defines', async () => {
  await engineWithJob();
  const run = await world.ended(await fire(logsPolicy({}, 60_000)));

  expect((await world.targets(run))[0]).toMatchObject({
    reason: 'timeout',
    detail: 'The wait for the activity logs of site-0001 was still under way.',
  });
});

test('a cancelled run ends the work as its kind defines', async () => {
  const engine = await engineWithJob();
  const run = await fire(logsPolicy());
  await until(world, async () => (await world.targets(run))[0]?.state === 'following');

  await engine.cancel(run.id);
  await until(world, () => world.sandbox.journal.countOf('disableSiteActivityLogs') > 0);

  expect(world.sandbox.journal.countOf('disableSiteActivityLogs')).toBe(1);
});

test('a reason that the job does not declare is an error of the job, which the message says', async () => {
  await engineWithJob();
  const run = await world.ended(await fire(logsPolicy({ undeclared: true })));

  expect((await world.targets(run))[0]).toMatchObject({
    outcome: 'failed',
    reason: 'internal',
    detail: 'The job await-logs gave the reason "not-declared", which it does not declare.',
  });
});

test('two jobs cannot define the same reason or the same kind of watch', () => {
  const again = { ...awaitLogs, name: 'await-logs-again' };
  expect(() => createRegistry([awaitLogs, again])).toThrow('Two kinds of watch are called "activity-logs".');
  const other = { ...again, watches: [] };
  expect(() => createRegistry([awaitLogs, other])).toThrow('Two reasons are called "logs-on".');
});
