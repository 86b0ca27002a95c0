/** Notifications about approvals and gates, whole: a real receiver, real Redis, the sandbox, and two processes at work. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { localPrincipal } from '../../src/access/principal.ts';
import type { Caretaker } from '../../src/app/caretaker.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { Run } from '../../src/run/run.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { healthySites } from '../support/quick-syncs.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { letterOf, toldTo as told, webhooks } from './world.ts';

const anna = localPrincipal('anna');
const always = { when: 'always', expiresMs: 24 * 3_600_000 } as const;
const on = ['approval-wanted', 'approval-expired', 'gate-closed', 'succeeded', 'cancelled', 'stopped'];
const rollout = { batches: [{ count: 2 }], pauseMs: 0, maxFailed: { count: 0 }, waitWhenClosedMs: 0 };
const waits = ({ status }: Run) => status === 'awaiting-approval';

/** Two Caretakers beside each other, so that what both see could be told twice. */
let w: World;
const caretakers: Caretaker[] = [];
const notifying: { stop(): Promise<void> }[] = [];
beforeAll(async () => {
  w = await startWorld({ sites: 4, speedUp: 240, before: healthySites });
  caretakers.push(w.caretaker, await w.another());
  for (const one of caretakers) notifying.push(one.notifier.work());
});
afterAll(async () => {
  await Promise.all(notifying.map((one) => one.stop()));
  await w.stop();
});

/** What a test has of its own: a receiver, and a policy. */
async function ours(name: string, changes: Partial<Policy> = {}) {
  const ops = await startReceiver(204);
  for (const one of caretakers) one.take({ notifications: webhooks({ ops }) });
  return { ops, policy: aPolicy({ name, notify: [{ on, to: 'ops' }], ...changes }) };
}

const bodyOf = (receiver: Receiver, index: number) => letterOf(receiver, index).data;

test('a run that waits for an approval is told once, with its plan and how to approve it', async () => {
  const { ops, policy } = await ours('whole', { approval: always });
  const run = await w.ended(await w.fire(policy), waits);
  await ops.untilReceived(1);

  expect(bodyOf(ops, 0)).toMatchObject({
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
  await ops.untilReceived(2);
  expect(told(ops)).toEqual(['run.approval-wanted', 'run.succeeded']);
});

test('each batch that needs its own approval is told once', async () => {
  const { ops, policy } = await ours('batches', { approval: { ...always, eachBatch: true }, rollout });
  const run = await w.ended(await w.fire(policy), waits);
  await w.caretaker.engine.approve(run.id, { by: anna });
  await w.ended(run, (now) => waits(now) && now.approvals?.length === 2);
  await ops.untilReceived(2);
  await w.caretaker.engine.approve(run.id, { by: anna });
  await w.ended(run);
  await ops.untilReceived(3);

  expect(told(ops)).toEqual(['run.approval-wanted', 'run.approval-wanted', 'run.succeeded']);
  expect(bodyOf(ops, 1)).toMatchObject({
    text: expect.stringContaining('waits for an approval (batch 2 of 2: 2 targets).'),
    approvals: [{}, { batches: { from: 2, to: 2 } }],
  });
});

test('an approval that nobody gave is told once, with the time', async () => {
  const { ops, policy } = await ours('expiring', { approval: { ...always, expiresMs: 600_000 } });
  const run = await w.ended(await w.fire(policy), waits);
  w.clock.leap(600_000);
  await w.ended(run);
  await ops.untilReceived(3);

  expect(told(ops).toSorted()).toEqual(['run.approval-expired', 'run.approval-wanted', 'run.cancelled']);
  const expired = told(ops).indexOf('run.approval-expired');
  expect(bodyOf(ops, expired)).toMatchObject({
    text: expect.stringMatching(
      /was cancelled: It was not approved before \S+ \S+Z \(approval\.expires\)\.$/,
    ),
    run: run.id,
    approvals: [{ decided: { is: 'expired' } }],
  });
});

test('a gate that closed is told once, with the sites that did not do well', async () => {
  const retry = { attempts: 1, backoff: 'fixed', delayMs: 1000, maxDelayMs: 1000 } as const;
  const { ops, policy } = await ours('gated', { rollout, retry });
  const { targets } = await w.caretaker.engine.preview(policy);
  w.sandbox.site(targets[0]?.id ?? '').failNextSync('the backup is broken');
  const run = await w.fire(policy);
  await w.ended(run);
  await ops.untilReceived(2);

  expect(told(ops).toSorted()).toEqual(['run.gate-closed', 'run.stopped']);
  const { text, ...report } = bodyOf(ops, told(ops).indexOf('run.gate-closed'));
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
