/** `schedule.pause_after_failures`: which runs count, and what happens after too many failures. */
import { afterEach, expect, test } from 'vitest';
import type { Policy } from '../../src/policy/policy.ts';
import type { PolicyState } from '../../src/records/policy-store.ts';
import type { Run } from '../../src/run/run.ts';
import type { Notification } from '../../src/settings/settings.ts';
import { type Receiver, startReceiver } from '../notify/receiver.ts';
import { letterOf, toldTo, webhooks } from '../notify/world.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { startWorld, until, type World } from '../support/caretaker.ts';
import { NOON } from '../support/held-clock.ts';
import { quickSyncs } from '../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

const policy = aPolicy({ schedule: aSchedule({ pauseAfterFailures: 2 }) });
/** Two sites are over this limit, so a run of it is stopped before anything is sent. */
const tooMany: Policy = { ...policy, limits: { ...policy.limits, maxTargets: 1 } };

let moment = NOON;
/** The ended run of the next scheduled time, in which this many of the two sites fail. */
async function run(fired: Policy, failing: number, trigger: Run['trigger'] = 'schedule'): Promise<Run> {
  const { sandbox, caretaker } = world;
  for (const id of sandbox.siteIds().slice(0, failing)) sandbox.site(id).failNextSync('The disk is full.');
  moment += 3_600_000;
  return world.ended(await caretaker.engine.fire(fired, { trigger, scheduledFor: moment }));
}

/** Resolves with the state of the policy once it is as expected, which is shortly after the end of a run. */
async function stateWith(holds: (state: PolicyState) => boolean): Promise<PolicyState> {
  for (;;) {
    const state = await world.caretaker.records.policies.state(policy.name);
    if (holds(state)) return state;
    await world.clock.sleep(1_000);
  }
}
const counted = (count: number) => stateWith(({ failures }) => failures === count);

test('failed or stopped runs in a row pause their policy; partly successful and manual runs do not', async () => {
  world = await startWorld({ sites: 2, before: quickSyncs });

  expect((await run(tooMany, 0)).status).toBe('stopped');
  expect((await counted(1)).pause).toBeUndefined();
  expect((await run(policy, 1)).status).toBe('partial');
  expect((await counted(0)).pause).toBeUndefined();
  expect((await run(policy, 2)).status).toBe('failed');
  expect((await counted(1)).pause).toBeUndefined();
  expect((await run(policy, 2, 'manual')).status).toBe('failed');
  // Nor does one that skips all of its targets end the row.
  const { sandbox } = world;
  for (const id of sandbox.siteIds()) sandbox.site(id).underMaintenance(true);
  expect((await run(policy, 0)).counts).toMatchObject({ planned: 2, skipped: 2 });
  for (const id of sandbox.siteIds()) sandbox.site(id).underMaintenance(false);
  expect((await run(tooMany, 0, 'backfill')).status).toBe('stopped');
  expect((await run(tooMany, 0, 'catch-up')).status).toBe('stopped');

  const { pause } = await stateWith((state) => state.pause !== undefined);
  expect(pause).toMatchObject({ by: 'caretaker', reason: '2 runs failed in a row' });
  const logged = 'paused: 2 runs failed in a row; caretaker policies resume nightly-sync resumes it';
  await until(world, () => world.log.lines.some((line) => line.includes(logged)));
});

/** A world with a receiver of notifications. */
async function withReceiver(rules: Partial<Notification> = {}): Promise<Receiver> {
  const ops = await startReceiver(204);
  world = await startWorld({ sites: 2, notify: true });
  world.caretaker.take({ notifications: webhooks({ ops }, undefined, { group_wait: 0, ...rules }) });
  return ops;
}

test('an automatic pause is notified once, with its reason and the run after which it began', async () => {
  const ops = await withReceiver();
  const told: Policy = { ...tooMany, notify: [{ on: ['paused'], to: 'ops' }] };

  await run(told, 0);
  expect((await counted(1)).pause).toBeUndefined();
  const last = await run(told, 0);
  await run(told, 0);
  await counted(3);
  await ops.untilReceived(1);

  expect(ops.received).toHaveLength(1);
  const { type, data } = letterOf(ops);
  expect(type).toBe('policy.paused');
  expect(data).toMatchObject({
    run: last.id,
    status: 'stopped',
    paused: { by: 'caretaker', reason: '2 runs failed in a row' },
  });
});

test('a manual pause keeps its author and its reason however many runs fail meanwhile, and is not notified', async () => {
  const ops = await withReceiver({ repeat_interval: 0 });
  const { records } = world.caretaker;
  await records.policies.pause(policy.name, { at: world.clock.now(), by: 'anna', reason: 'moving house' });
  const told: Policy = { ...tooMany, notify: [{ on: ['paused', 'stopped'], to: 'ops' }] };

  await run(told, 0);
  await run(told, 0);
  await ops.untilReceived(2);

  expect((await counted(2)).pause).toMatchObject({ by: 'anna', reason: 'moving house' });
  expect(toldTo(ops)).toEqual(['run.stopped', 'run.stopped']);
});
