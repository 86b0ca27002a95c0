/** What is told about findings, a deadline and a pause. */
import { expect, test } from 'vitest';
import { startReceiver } from './receiver.ts';
import { activeRun, aWorld, endRun, letterOf, NOON, telling, toldTo, webhooks } from './world.ts';

const change = (target: string, message: string) => ({
  target,
  label: `https://${target}.example`,
  about: 'site',
  severity: 'error' as const,
  message,
  since: Date.parse('2026-11-18T07:00:00Z'),
});

test('a receiver that asked is notified which findings are new and which are resolved, in one message', async () => {
  const ops = await startReceiver();
  const world = await aWorld(webhooks({ ops }));
  const firstNew = Array.from({ length: 10 }, (_, at) => change(`a${at}`, '3 days'));
  const findings = { open: 14, new: 12, resolved: 1, firstNew, firstResolved: [change('b', '5 days')] };
  const policy = telling({ on: ['findings', 'recovered'], to: 'ops' });
  await endRun(world, await activeRun(world, policy, { findings }), 'failed');

  await world.notifier.deliverDue();

  expect(toldTo(ops)).toEqual(['policy.findings']);
  const { data } = letterOf(ops);
  expect(data.text.split('\n')).toEqual([
    'nightly-sync: 12 new findings, 1 resolved, 14 open.',
    ...firstNew.map(({ label }) => `New: ${label}: 3 days (since 2026-11-18 07:00Z)`),
    '... and 2 more.',
    'Resolved: https://b.example: 5 days (since 2026-11-18 07:00Z)',
  ]);
  expect(data).toMatchObject({ findings: { open: 14, new: 12, resolved: 1 } });
});

test('nobody is told while findings stay as they are, and each only of what they asked for', async () => {
  const [ops, boss] = [await startReceiver(), await startReceiver()];
  const world = await aWorld(webhooks({ ops, boss }));
  const policy = telling({ on: ['findings'], to: 'ops' }, { on: ['recovered'], to: 'boss' });
  const end = async (id: string, findings?: { open: number; new: number; resolved: number }) => {
    await endRun(world, await activeRun(world, policy, { id, ...(findings && { findings }) }), 'failed');
    await world.notifier.deliverDue();
  };

  await end('one', { open: 3, new: 0, resolved: 0 });
  await end('two');
  expect([ops.received, boss.received]).toEqual([[], []]);

  await end('three', { open: 3, new: 1, resolved: 0 });
  await end('four', { open: 0, new: 0, resolved: 3 });
  expect(toldTo(ops)).toEqual(['policy.findings']);
  expect(toldTo(boss)).toEqual(['policy.recovered']);
});

test('a receiver with "deadline" is notified that a run is predicted to miss it', async () => {
  const [ops, boss] = [await startReceiver(), await startReceiver()];
  const world = await aWorld(webhooks({ ops, boss }));
  const policy = telling({ on: ['deadline'], to: 'ops' }, { on: ['failed'], to: 'boss' });
  const run = await activeRun(world, policy, { dueBy: Date.parse('2026-11-21T04:00:00Z') });
  const late = { at: NOON, is: 'predicted', expected: Date.parse('2026-11-21T04:30:00Z') } as const;
  const notice = { type: 'deadline', run: run.id, at: NOON } as const;
  await world.records.late.note(run.id, late, notice);
  await world.records.late.note(run.id, late, notice);

  await world.notifier.deliverDue();

  expect(boss.received).toEqual([]);
  expect(toldTo(ops)).toEqual(['run.deadline']);
  expect(letterOf(ops).data).toMatchObject({
    text: 'nightly-sync is predicted to miss its deadline (2026-11-21 04:00Z): expected to end at 2026-11-21 04:30Z; 40 of 40 targets have ended.',
    deadline: { at: '2026-11-21T04:00:00.000Z', missed: false },
  });
});

test('a receiver with "paused" is notified that the policy was paused automatically, and how to resume it', async () => {
  const ops = await startReceiver();
  const world = await aWorld(webhooks({ ops }));
  const run = await activeRun(world, telling({ on: ['paused'], to: 'ops' }));
  const pause = { at: NOON, by: 'caretaker', reason: '3 runs failed in a row' };
  await world.records.policies.pause(run.policy, pause, { type: 'paused', run: run.id, ...pause });

  await world.notifier.deliverDue();

  expect(toldTo(ops)).toEqual(['policy.paused']);
  expect(letterOf(ops).data).toMatchObject({
    text: 'nightly-sync was paused by caretaker: 3 runs failed in a row. No scheduled run starts until it is resumed: caretaker policies resume nightly-sync.',
    paused: { at: '2026-11-21T12:00:00.000Z', by: 'caretaker', reason: '3 runs failed in a row' },
  });
});
