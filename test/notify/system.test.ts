/** What receivers are notified of in addition to policies: each once, however many processes notice it. */
import { expect, test } from 'vitest';
import { FIXED_AFTER_MS, noteBrokenFiles } from '../../src/app/file-alerts.ts';
import { openMovedAccounts } from '../../src/app/moved-accounts.ts';
import { watchSystem } from '../../src/notify/system-watch.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { KeptPolicy } from '../../src/records/presence-store.ts';
import { systemWords } from '../../src/settings/notify-words.ts';
import type { Diagnostic } from '../../src/yaml/diagnostic.ts';
import { keptLog } from '../support/quiet.ts';
import { startReceiver } from './receiver.ts';
import { activeRun, aWorld, endRun, letterOf, NOON, telling, toldTo, webhooks } from './world.ts';

/** A receiver that has every event, and two processes. */
async function twoProcesses() {
  const ops = await startReceiver();
  const world = await aWorld(webhooks({ ops }, undefined, { group_wait: 0, events: systemWords }));
  return { ops, world, other: world.another() };
}

test('a refusal and its end are told once, also to those who know of it from a run', async () => {
  const [ops, boss] = [await startReceiver(), await startReceiver()];
  const settings = {
    ...webhooks({ ops }, undefined, { group_wait: 0, events: ['account-blocked', 'account-back'] }),
    ...webhooks({ boss }),
  };
  const world = await aWorld(settings);
  const { accounts } = world.records;
  const policy = telling({ on: ['blocked'], to: 'ops' }, { on: ['blocked'], to: 'boss' });
  for (const at of [NOON - 1, NOON]) await accounts.block('default', { since: at, why: 'HTTP 401.' });
  for (const id of ['one', 'two', 'three'])
    await endRun(world, await activeRun(world, policy, { id }), 'blocked', 'HTTP 401.');
  await world.notifier.deliverDue();
  await Promise.all([accounts.unblock('default', NOON + 1), accounts.unblock('default', NOON + 2)]);
  await world.notifier.deliverDue();

  expect(toldTo(ops)).toEqual(['system.account-blocked', 'system.account-back']);
  expect(toldTo(boss)).toEqual(['run.blocked', 'system.account-back']);
  expect(letterOf(ops).data.text).toContain('The account "default" refuses access');

  await accounts.block('default', { since: NOON + 5, why: 'HTTP 403.' });
  await world.notifier.deliverDue();
  expect(toldTo(ops)).toHaveLength(3);
});

test('the first process that works after nobody did tells for how long', async () => {
  const { ops, world, other } = await twoProcesses();
  await watchSystem(world);
  await world.clock.advance(4 * 60_000);
  await watchSystem(world);
  await world.clock.advance(8 * 3_600_000);
  await Promise.all([watchSystem(world), watchSystem(other)]);
  await watchSystem(other);
  await world.notifier.deliverDue();

  expect(toldTo(ops)).toEqual(['system.nobody-running']);
  expect(letterOf(ops).data.text).toContain('from 2026-11-21 12:04Z to 2026-11-21 20:04Z');
});

test('that nobody worked is told, also when the clock had been ahead and went back before', async () => {
  const { ops, world } = await twoProcesses();
  await watchSystem({ ...world, clock: { now: () => NOON + 86_400_000 } });
  await watchSystem(world);
  await world.clock.advance(8 * 3_600_000);
  await watchSystem(world);
  await world.notifier.deliverDue();

  expect(toldTo(ops)).toEqual(['system.nobody-running']);
  expect(letterOf(ops).data.text).toContain('from 2026-11-21 12:00Z to 2026-11-21 20:00Z');
});

test('a paused queue is told once for each pause', async () => {
  const { ops, world, other } = await twoProcesses();
  const [queue] = world.queues.boards();
  for (let pause = 0; pause < 2; pause += 1) {
    await queue?.pause();
    await Promise.all([watchSystem(world), watchSystem(other)]);
    await watchSystem(world);
    await queue?.resume();
    await watchSystem(other);
    await world.clock.advance(1_000);
  }
  await world.notifier.deliverDue();
  await other.queues.close();

  expect(toldTo(ops)).toEqual(['system.queue-paused', 'system.queue-paused']);
});

test('a broken policy file and its correction are told once, though processes read it at other times', async () => {
  const { ops, world } = await twoProcesses();
  const file = '/etc/caretaker/policies/nightly.yaml';
  const findings = () => [{ file, line: 3, column: 5, message: 'It is broken.' } as Diagnostic];
  const kept = () => [{ file } as KeptPolicy];
  const broken = { findings, kept, policies: () => [{ file } as Policy] };
  const fine = { findings: () => [], kept: () => [], policies: () => [] };
  const { clock, records } = world;
  const look = async (...watchers: (typeof broken)[]) => {
    for (const watcher of watchers) await noteBrokenFiles(records, watcher, clock.now());
    await clock.advance(5_000);
  };
  await look(broken, broken);
  await look(fine, broken);
  await look(broken, fine);
  await world.notifier.deliverDue();
  expect(toldTo(ops)).toEqual(['system.policy-file-broken']);
  expect(letterOf(ops).data.text).toMatch(
    /nightly\.yaml has errors: .*:3:5: It is broken\. Policies that cannot be read stay active/,
  );

  await clock.advance(FIXED_AFTER_MS);
  await look(fine, fine);
  await world.notifier.deliverDue();
  expect(toldTo(ops)).toEqual(['system.policy-file-broken', 'system.policy-file-fixed']);
});

test.each([
  ['a folder that cannot be read', '/policies', '/policies', [], 'Policies that cannot be read stay active'],
  [
    'a file with an error in a new policy',
    '/a.yaml',
    undefined,
    ['/a.yaml'],
    'Only its policies without errors',
  ],
  ['a new file with errors', '/a.yaml', undefined, ['/b.yaml'], 'None of its policies is active'],
])('of %s it is told what is active', async (_what, file, keptIn, activeIn, expected) => {
  const { ops, world } = await twoProcesses();
  const watcher = {
    findings: () => [{ file, line: 1, column: 1, message: 'It is broken.' } as Diagnostic],
    kept: () => (keptIn === undefined ? [] : [{ file: keptIn } as KeptPolicy]),
    policies: () => activeIn.map((one) => ({ file: one }) as Policy),
  };
  await noteBrokenFiles(world.records, watcher, world.clock.now());
  await world.notifier.deliverDue();
  expect(letterOf(ops).data.text).toContain(`It is broken. ${expected}`);
});

test('an account with another address is told once, and when no process has seen it for a while', async () => {
  const { ops, world, other } = await twoProcesses();
  const { records, clock } = world;
  await records.accounts.supervise(
    { account: 'default', address: 'https://a.example' },
    { name: 'lease', owner: 'x', ttlMs: 1 },
  );
  const processWith = (baseUrl: string) =>
    openMovedAccounts({
      ...{ records, clock, log: keptLog() },
      settings: { accounts: { default: { name: 'default', baseUrl } } },
    });
  const [right, wrong, also] = ['https://a.example/', 'https://b.example', 'https://b.example'].map(
    processWith,
  );
  for (const one of [wrong, right, also]) await one?.look();
  await world.notifier.deliverDue();
  await other.queues.close();
  expect(toldTo(ops)).toEqual(['system.account-moved']);
  expect(letterOf(ops).data.text).toContain(
    'belong to https://a.example, but the configuration has https://b',
  );

  await clock.advance(30_000);
  await right?.look();
  await right?.look();
  await world.notifier.deliverDue();
  expect(toldTo(ops)).toEqual(['system.account-moved', 'system.account-matches']);
});

test('missed times are told once, with how many', async () => {
  const { ops, world } = await twoProcesses();
  const records = [1, 2, 3].map((hour) => ({
    scheduledFor: NOON - hour * 3_600_000,
    is: 'missed' as const,
    at: NOON,
  }));
  for (let time = 0; time < 2; time += 1)
    await world.records.ledger.record('nightly-sync', records, { to: NOON, schedule: 'x' });
  await world.notifier.deliverDue();

  expect(toldTo(ops)).toEqual(['system.missed-time']);
  expect(letterOf(ops).data).toMatchObject({
    policy: 'nightly-sync',
    text: expect.stringContaining('3 scheduled times'),
  });
});

test('a receiver without events is told nothing of it', async () => {
  const ops = await startReceiver();
  const world = await aWorld(webhooks({ ops }));
  await world.records.accounts.block('default', { since: NOON, why: 'HTTP 401.' });
  await world.notifier.deliverDue();
  expect(ops.received).toEqual([]);
  expect(await world.records.notices.open(10)).toEqual([]);
});
