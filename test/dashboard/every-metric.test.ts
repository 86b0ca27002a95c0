/** Every metric of ours shows what it measures: each is triggered here, in one world. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openQueues } from '../../src/queue/queues.ts';
import { keys } from '../../src/records/keys.ts';
import { openRecords } from '../../src/records/records.ts';
import { deliver } from '../support/deliveries.ts';
import { keptLog } from '../support/quiet.ts';
import { type Exposition, readExposition } from './exposition.ts';
import { anAccount, aPolicy, aRun, PASSWORD, remember, showDaemon, startWorld, type World } from './world.ts';

const HOUR = 3_600_000;

/** The value that each has after all that happens below; `at least` where time goes on. */
const expected: Record<string, [labels: Record<string, string>, value: number, atLeast?: 'at least']> = {
  caretaker_account_blocked: [{ account: 'default' }, 1],
  caretaker_account_failing_seconds: [{ account: 'default' }, 60, 'at least'],
  caretaker_budget_left_requests: [{ account: 'default' }, 150],
  caretaker_budget_limit_requests: [{ account: 'default' }, 200],
  caretaker_budget_used_requests: [{ account: 'default' }, 50],
  caretaker_contract_deviations_total: [{}, 3],
  caretaker_daemons: [{ role: 'scheduler' }, 1],
  caretaker_deliveries: [{ receiver: 'ops', state: 'dead' }, 1],
  caretaker_delivery_attempts_total: [{ receiver: 'ops', result: 'rejected' }, 1],
  caretaker_delivery_delay_seconds_sum: [{ receiver: 'ops' }, 45],
  caretaker_delivery_oldest_seconds: [{ receiver: 'ops' }, 3_600, 'at least'],
  caretaker_policies: [{}, 3],
  caretaker_policies_failing: [{}, 1],
  caretaker_policies_paused: [{}, 1],
  caretaker_policy_files_broken: [{}, 1],
  caretaker_queue_entries: [{ queue: 'plans', state: 'waiting' }, 1],
  caretaker_queue_wait_seconds_sum: [{ queue: 'actions' }, 7],
  caretaker_redis_up: [{}, 1],
  caretaker_request_duration_seconds_sum: [{ operation: 'syncSite', result: 'ok' }, 0.3],
  caretaker_requests_total: [{ account: 'default', class: 'follow' }, 3],
  caretaker_run_moves_total: [{ status: 'running' }, 1],
  caretaker_runs: [{ status: 'running' }, 1],
  caretaker_schedule_lateness_seconds_sum: [{ trigger: 'catch-up' }, 9],
  caretaker_supervisor_lag_seconds: [{ account: 'default' }, 5, 'at least'],
  caretaker_target_duration_seconds_sum: [{ job: 'other' }, 90],
  caretaker_targets_ended_total: [{ outcome: 'failed', reason: 'other' }, 1],
  caretaker_up: [{}, 1],
};

let world: World;
let elsewhere: Redis;
let seen: Exposition;

beforeAll(async () => {
  const policies = ['a', 'b', 'c'].map((name) => aPolicy(name));
  world = await startWorld({
    accounts: async () => [anAccount({ failingSince: Date.now() - 61_000 })],
    drift: () => 3,
    policies: () => policies,
    receivers: () => [
      { name: 'ops', kind: 'webhook', rules: '' },
      { name: 'alive', kind: 'heartbeat', rules: '' },
    ],
  });
  const { records, health } = world;
  health.brokenFiles = [{ file: 'x.yaml', errors: [], since: Date.now(), active: [], kept: [] }];
  // Counters and histograms begin with the first scrape of this process, and count those of other processes.
  elsewhere = new Redis(world.redis.options);
  const others = openRecords(elsewhere);
  await elsewhere.ping();
  await remember(others, aRun(), []);
  await others.accounts.noteSupervised('default', Date.now() - 6_000);
  await others.accounts.block('default', { since: Date.now(), why: 'HTTP 401.' });
  await showDaemon(records, ['scheduler']);
  await others.policies.pause('b', { at: Date.now(), by: 'ops' });
  await others.policies.countFailure('c', true);
  const queues = openQueues(elsewhere, keptLog());
  await queues.put([{ kind: 'plan', run: 'nightly-sync.1' }]);
  await queues.close();
  const at = Date.now() - HOUR - 1_000;
  const about = { event: 'run.failed', at, to: 'ops', message: { text: 'nightly-sync failed.' } };
  await deliver(others, { ...about, id: 'msg_dead' }, { state: 'dead', attempt: { at, is: 'rejected' } });
  await deliver(others, { ...about, id: 'msg_open' });
  await deliver(others, { ...about, id: 'msg_gone', to: 'a-receiver-that-was-removed' });
  const { measurements } = others;
  measurements.note('request', ['syncSite', 'ok'], 300);
  measurements.note('request', ['brandNew', 'odd'], 20);
  measurements.note('brandNew' as 'request', ['syncSite', 'ok'], 5);
  measurements.note('queueWait', ['actions'], 7_000);
  measurements.note('scheduleLateness', ['catch-up'], 9_000);
  measurements.note('scheduleLateness', ['schedule'], -5);
  measurements.note('deliveryDelay', ['ops'], 45_000);
  measurements.note('deliveryAttempt', ['ops', 'rejected'], 12);
  measurements.note('deliveryAttempt', ['a-receiver-that-was-removed', 'odd'], 12);
  await measurements.publish();
  const target = { type: 'target.ended', run: 'r', target: 't', outcome: 'failed', reason: 'brand-new' };
  await elsewhere.publish(
    keys.events,
    JSON.stringify({ ...target, job: 'brand-new', at: 90_000, startedAt: 0 }),
  );
  const metrics = async () =>
    (await world.ask('/metrics', { headers: { authorization: `Bearer ${PASSWORD}` } })).text();
  await vi.waitFor(
    async () => {
      seen = readExposition(await metrics());
      expect(seen.text).toMatch(/targets_ended_total\{outcome="failed",reason="other"\} 1/);
      expect(seen.text).toMatch(/attempts_total\{receiver="other",result="other"\} 1/);
    },
    { timeout: 20_000 },
  );
});
afterAll(async () => {
  elsewhere.disconnect();
  await world.stop();
});

test('every metric that is served is among these', () => {
  const served = [...seen.families.keys()].filter((name) => name.startsWith('caretaker_'));
  expect(Object.keys(expected).map((name) => name.replace(/_sum$/, ''))).toEqual(served.sort());
});

test.each(Object.entries(expected))('%s shows what happened', (name, [labels, value, atLeast]) => {
  const found = seen.value(name, labels) ?? Number.NaN;
  if (atLeast) expect(found).toBeGreaterThanOrEqual(value);
  else expect(found).toBeCloseTo(value);
});

test('no label has the name of a receiver that the configuration does not have', () => {
  expect(seen.value('caretaker_deliveries', { receiver: 'other', state: 'pending' })).toBe(1);
  expect(seen.text).not.toContain('a-receiver-that-was-removed');
  expect(seen.text).not.toMatch(/receiver="alive"/);
});

test('what did not happen is zero, and what the process knows of itself is there', () => {
  for (const [name, labels, value] of [
    ['caretaker_runs', { status: 'blocked' }, 0],
    ['caretaker_daemons', { role: 'dashboard' }, 0],
    ['caretaker_queue_entries', { queue: 'actions', state: 'waiting' }, 0],
    ['nodejs_eventloop_lag_p90_seconds', {}, 0.004],
    ['nodejs_eventloop_lag_max_seconds', {}, 0.07],
  ] as const)
    expect(seen.value(name, labels), name).toBe(value);
  expect(seen.value('process_resident_memory_bytes')).toBeGreaterThan(0);
});

test('durations are counted by their length, and an unknown kind or label adds no series', () => {
  const request = { operation: 'syncSite', result: 'ok' };
  for (const [name, labels, value] of [
    ['caretaker_request_duration_seconds_bucket', { ...request, le: '0.25' }, 0],
    ['caretaker_request_duration_seconds_bucket', { ...request, le: '0.5' }, 1],
    ['caretaker_request_duration_seconds_count', { operation: 'other', result: 'other' }, 1],
    ['caretaker_queue_wait_seconds_bucket', { queue: 'actions', le: '15' }, 1],
    ['caretaker_schedule_lateness_seconds_sum', { trigger: 'schedule' }, 0],
  ] as const)
    expect(seen.value(name, labels), name).toBe(value);
  expect(seen.text).not.toContain('brandNew');
});

test('metrics have the format and the names that Prometheus requires', () => {
  const ours = [...seen.families.values()].filter(({ name }) => name.startsWith('caretaker_'));
  expect(ours.length).toBeGreaterThan(10);
  for (const { name, type, help } of ours) {
    expect(name).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
    expect({ name, total: name.endsWith('_total') }).toEqual({ name, total: type === 'counter' });
    expect(help).toMatch(/^[A-Z0-9].*\.$/);
  }
  expect(seen.text).not.toContain('nightly-sync');
});
