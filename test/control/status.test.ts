/** `caretaker status` and its address: what runs, waits, failed and comes next, and what is in the way. */
import { expect, test } from 'vitest';
import { carryOut } from '../../src/control/carry-out.ts';
import { showStatus } from '../../src/control/commands/show-status.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { Counts, RunStatus } from '../../src/run/run.ts';
import { aPolicy, aRun, aSchedule } from '../support/builders.ts';
import type { World } from '../support/caretaker.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { actor, viewer } from './acting.ts';

const statusOf = ({ caretaker }: World, policies: readonly Policy[] = [], by = viewer) =>
  carryOut(showStatus, { ...caretaker, policies: () => policies }, {}, by);

test('a run that waits for an approval is shown with that, to those who may see it', async () => {
  const world = await worldOfTest({ sites: 2 });
  const policy = aPolicy({ name: 'asked', approval: { when: 'always', expiresMs: 86_400_000 } });
  const run = await world.fire(policy);
  await world.ended(run, ({ status }) => status === 'awaiting-approval');

  const { active, failed } = await statusOf(world);

  expect(active).toMatchObject([{ run: run.id, waits: 'waits for an approval' }]);
  expect(failed).toEqual([]);
  const others = actor([{ role: 'viewer', policies: ['other'] }]);
  expect((await statusOf(world, [], others)).active).toEqual([]);
});

test('a policy is among those whose last run failed until one of its runs succeeds', async () => {
  const world = await worldOfTest({ sites: 2 });
  const policy = aPolicy({ name: 'sync' });
  const stopped = await world.ended(
    await world.fire(aPolicy({ name: 'sync', limits: { ...policy.limits, maxTargets: 1 } })),
  );
  expect((await statusOf(world)).failed).toMatchObject([{ run: stopped.id, status: 'stopped' }]);

  expect(await world.ended(await world.fire(policy))).toMatchObject({ status: 'succeeded' });

  expect((await statusOf(world)).failed).toEqual([]);
});

test('a run that skipped all targets, was over one that a person named, or was cancelled hides no failure before it', async () => {
  const world = await worldOfTest({ sites: 1, work: false });
  const { records, clock } = world.caretaker;
  const ended = async (id: string, status: RunStatus, counts: Partial<Counts>, only: string[] = []) => {
    const at = clock.now() - 10_000 + Number(id.at(-1));
    const run = aRun({ id, policy: 'sync', createdAt: at, finishedAt: at, status });
    await records.runs.create(
      { ...run, counts: { ...run.counts, planned: 2, ...counts } },
      { concurrency: 1, targetMs: 1 },
      { only },
    );
  };
  await ended('sync.1', 'failed', { failed: 2 });
  await ended('sync.2', 'succeeded', { skipped: 2 });
  await ended('sync.3', 'succeeded', { succeeded: 2 }, ['site-0001', 'site-0002']);
  await ended('sync.4', 'cancelled', { cancelled: 2 });

  expect((await statusOf(world)).failed).toMatchObject([{ run: 'sync.1' }]);

  await ended('sync.5', 'succeeded', { succeeded: 1, skipped: 1 });

  expect((await statusOf(world)).failed).toEqual([]);
});

test('what keeps policies from running is said, and what is skipped or paused does not come next', async () => {
  const world = await worldOfTest({ sites: 1, work: false });
  const { records, clock } = world.caretaker;
  const policies = [
    aPolicy({ name: 'early', schedule: aSchedule({ cron: ['0 13 * * *'] }) }),
    aPolicy({ name: 'late', schedule: aSchedule({ cron: ['0 23 * * *'] }) }),
    aPolicy({ name: 'paused', schedule: aSchedule({ cron: ['30 12 * * *'] }) }),
  ];
  await records.policies.pause('paused', { at: clock.now(), by: 'anna' });
  const { next, problems } = await statusOf(world, policies);
  expect(next.map(({ policy }) => policy)).toEqual(['early', 'late', 'early']);
  expect(problems).toEqual([
    'No daemon with the role scheduler is running.',
    'No daemon with the role worker is running.',
    'Paused: paused.',
  ]);

  await records.freeze.begin({ at: clock.now(), by: 'anna', until: clock.now() + 5 * 3_600_000 });
  await records.presence.announce({
    ...{ id: 'vm:1', pid: 1, host: 'vm', roles: ['scheduler', 'worker'] },
    startedAt: clock.now(),
    seenAt: clock.now(),
  });
  const frozen = await statusOf(world, policies);
  expect(frozen.daemons).toMatchObject([{ host: 'vm', roles: ['scheduler', 'worker'] }]);
  expect(frozen.problems[0]).toMatch(/^Frozen: everything, frozen by anna from .*\.$/);
  expect(frozen.next[0]).toMatchObject({ policy: 'late' });

  await records.alerts.raise('queue work', {
    type: 'system',
    event: 'queue-paused',
    at: clock.now(),
    detail: '',
  });
  await records.accounts.block('default', { since: clock.now(), why: 'The token is not valid.' });
  expect((await statusOf(world, policies)).problems.slice(0, 2)).toEqual([
    'The queue work is paused, so its work waits.',
    'The account default refused access, and no run is active that asks again: The token is not valid.',
  ]);
  await records.freeze.end(clock.now());
  await world.fire(aPolicy());
  expect((await statusOf(world, policies)).problems[1]).toBe(
    'The account default refuses access, so its runs wait: The token is not valid.',
  );
});
