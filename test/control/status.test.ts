/** `caretaker status` and its address: what runs, waits, failed and comes next, and what is in the way. */
import { expect, test } from 'vitest';
import { carryOut } from '../../src/control/carry-out.ts';
import { showStatus } from '../../src/control/commands/show-status.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import type { World } from '../support/caretaker.ts';
import { worldOfTest } from '../support/world-of-test.ts';

const viewer = { kind: 'user', name: 'anna', grants: [{ role: 'viewer' }] } as const;

const statusOf = (
  { caretaker }: World,
  policies: readonly Policy[] = [],
  principal: Parameters<typeof carryOut>[3]['principal'] = viewer,
) => carryOut(showStatus, { ...caretaker, policies: () => policies }, {}, { principal, from: '192.0.2.1' });

test('a run that waits for an approval is shown with that, to those who may see it', async () => {
  const world = await worldOfTest({ sites: 2 });
  const policy = aPolicy({ name: 'asked', approval: { when: 'always', expiresMs: 86_400_000 } });
  const run = await world.fire(policy);
  await world.ended(run, ({ status }) => status === 'awaiting-approval');

  const { active, failed } = await statusOf(world);

  expect(active).toMatchObject([{ run: run.id, waits: 'waits for an approval' }]);
  expect(failed).toEqual([]);
  const others = { kind: 'user', name: 'ben', grants: [{ role: 'viewer', policies: ['other'] }] } as const;
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
});
