/** Notifications about approvals and gates, whole: a real receiver, real Redis, the sandbox, and two processes at work. */
import { expect, onTestFinished, test } from 'vitest';
import { localPrincipal } from '../../src/access/principal.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { Run } from '../../src/run/run.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld } from '../support/caretaker.ts';
import { healthySites } from '../support/quick-syncs.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { letterOf, toldTo as told } from './world.ts';

const anna = localPrincipal('anna');
const always = { when: 'always', expiresMs: 24 * 3_600_000 } as const;
const on = ['approval-wanted', 'approval-expired', 'gate-closed', 'succeeded', 'cancelled', 'stopped'];
const waits = ({ status }: Run) => status === 'awaiting-approval';

/** Two Caretakers beside each other, so that what both see could be told twice. */
async function aWorld() {
  const ops = await startReceiver(204);
  const world = await startWorld({ sites: 4, speedUp: 240, before: healthySites });
  const stops: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    await Promise.all(stops.map((stop) => stop()));
    await world.stop();
  });
  const notifications = { ops: { name: 'ops', webhook: { url: ops.url }, group_wait: 0 } };
  for (const one of [world.caretaker, await world.another()]) {
    one.take({ notifications, calendars: {}, retention: { runsMs: 86_400_000 } });
    const notifying = one.notifier.work();
    stops.push(() => notifying.stop());
  }
  return {
    ...world,
    ops,
    policy: (changes: Partial<Policy>) => aPolicy({ notify: [{ on, to: 'ops' }], ...changes }),
  };
}

const bodyOf = (receiver: Receiver, index: number) => letterOf(receiver, index).data;

test('a run that waits for an approval is told once, with its plan and how to approve it', async () => {
  const w = await aWorld();
  const run = await w.ended(await w.fire(w.policy({ approval: always })), waits);
  await w.ops.untilReceived(1);

  expect(bodyOf(w.ops, 0)).toMatchObject({
    text: expect.stringMatching(
      /waits for an approval \(4 targets\)\. It waits for an approval until \S+ \S+Z\. Every run of the policy needs an approval\. caretaker approvals approve \S+$/,
    ),
    run: run.id,
    status: 'awaiting-approval',
    plan_complete: true,
    counts: { planned: 4, succeeded: 0 },
    approvals: [{ decided: null }],
  });

  await w.caretaker.engine.approve(run.id, { by: anna });
  await w.ended(run);
  await w.ops.untilReceived(2);
  expect(told(w.ops)).toEqual(['run.approval-wanted', 'run.succeeded']);
});

test('each batch that needs its own approval is told once', async () => {
  const w = await aWorld();
  const rollout = { batches: [{ count: 2 }], pauseMs: 0, maxFailed: { count: 0 }, waitWhenClosedMs: 0 };
  const run = await w.ended(
    await w.fire(w.policy({ approval: { ...always, eachBatch: true }, rollout })),
    waits,
  );
  await w.caretaker.engine.approve(run.id, { by: anna });
  await w.ended(run, (now) => waits(now) && now.approvals?.length === 2);
  await w.ops.untilReceived(2);
  await w.caretaker.engine.approve(run.id, { by: anna });
  await w.ended(run);
  await w.ops.untilReceived(3);

  expect(told(w.ops)).toEqual(['run.approval-wanted', 'run.approval-wanted', 'run.succeeded']);
  expect(bodyOf(w.ops, 1)).toMatchObject({
    text: expect.stringContaining('waits for an approval (batch 2 of 2: 2 targets).'),
    approvals: [{}, { batches: { from: 2, to: 2 } }],
  });
});

test('an approval that nobody gave is told once, with the time', async () => {
  const w = await aWorld();
  const run = await w.ended(await w.fire(w.policy({ approval: { ...always, expiresMs: 600_000 } })), waits);
  w.clock.leap(600_000);
  await w.ended(run);
  await w.ops.untilReceived(3);

  expect(told(w.ops).toSorted()).toEqual(['run.approval-expired', 'run.approval-wanted', 'run.cancelled']);
  const expired = told(w.ops).indexOf('run.approval-expired');
  expect(bodyOf(w.ops, expired)).toMatchObject({
    text: expect.stringMatching(
      /was cancelled: It was not approved before \S+ \S+Z \(approval\.expires\)\.$/,
    ),
    run: run.id,
    approvals: [{ decided: { is: 'expired' } }],
  });
});

test('a gate that closed is told once, with the sites that did not do well', async () => {
  const w = await aWorld();
  const { targets } = await w.caretaker.engine.preview(w.policy({}));
  w.sandbox.site(targets[0]?.id ?? '').failNextSync('the backup is broken');
  const rollout = { batches: [{ count: 2 }], pauseMs: 0, maxFailed: { count: 0 }, waitWhenClosedMs: 0 };
  const retry = { attempts: 1, backoff: 'fixed', delayMs: 1000, maxDelayMs: 1000 } as const;
  const run = await w.fire(w.policy({ rollout, retry }));
  await w.ended(run);
  await w.ops.untilReceived(2);

  expect(told(w.ops).toSorted()).toEqual(['run.gate-closed', 'run.stopped']);
  const { text, ...report } = bodyOf(w.ops, told(w.ops).indexOf('run.gate-closed'));
  expect(text.split('\n')).toEqual([
    expect.stringMatching(/: The gate after batch 1 of 2 \(2 targets\) closed: 1 of 2 targets failed/),
    expect.stringMatching(new RegExp(`^${targets[0]?.label}: failed \\(.*the backup is broken`)),
  ]);
  expect(report).toMatchObject({
    run: run.id,
    counts: { planned: 4, succeeded: 1, failed: 1 },
    rollout: { is: 'closed', batches: [{ gate: { is: 'closed' } }, {}] },
  });
});
