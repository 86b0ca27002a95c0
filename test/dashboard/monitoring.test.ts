import { Redis } from 'ioredis';
import { afterEach, expect, test, vi } from 'vitest';
import { keys } from '../../src/records/keys.ts';
import { openRecords } from '../../src/records/records.ts';
import { readExposition } from './exposition.ts';
import {
  anAccount,
  aPolicy,
  aRun,
  ended,
  openEvents,
  PASSWORD,
  remember,
  showDaemon,
  startWorld,
  type World,
} from './world.ts';

let world: World;
afterEach(() => world.stop());

const bearer = { authorization: `Bearer ${PASSWORD}` };
const metrics = async () => (await world.ask('/metrics', { headers: bearer })).text();

test('health checks show that the process is alive and whether it is ready', async () => {
  world = await startWorld();
  expect([(await world.ask('/healthz')).status, (await world.ask('/readyz')).status]).toEqual([200, 200]);

  world.health.redis = 'down';
  world.health.waiting = ['worker'];
  const answer = await world.ask('/readyz');

  expect((await world.ask('/healthz')).status).toBe(200);
  expect(answer.status).toBe(503);
  expect(await answer.text()).toBe('not ready: Redis does not answer, the worker is not running\n');
});

test('a process that Redis has not answered for five minutes is not alive any more', async () => {
  let silentMs = 299_999;
  world = await startWorld({ redisSilentMs: () => silentMs });
  expect((await world.ask('/healthz')).status).toBe(200);
  silentMs += 1;

  const answer = await world.ask('/healthz');

  expect(answer.status).toBe(503);
  expect(await answer.text()).toBe('stuck: Redis has not answered this process for five minutes\n');
});

test('metrics report a process as down if it does no work, even if Redis responds', async () => {
  world = await startWorld();
  expect(await metrics()).toContain('caretaker_up 1');
  world.health.troubles = [{ stops: true, message: 'the queue "actions" was paused' }];

  expect(await metrics()).toContain('caretaker_up 0');
  expect((await world.ask('/readyz')).status).toBe(503);
});

test('the health check names policies that differ between daemons, and the process stays ready', async () => {
  world = await startWorld();
  world.health.differences = ['the policy nightly-sync differs between daemons: no scheduler has it'];
  const answer = await world.ask('/readyz');

  expect(answer.status).toBe(200);
  expect(await answer.text()).toBe(
    'ready\nwarning: the policy nightly-sync differs between daemons: no scheduler has it\n',
  );
});

test('metrics contain runs, queues, budgets, running processes, and requests by purpose', async () => {
  const failing = anAccount({ failingSince: Date.now() - 60_000 });
  world = await startWorld({
    accounts: async () => [failing],
    drift: () => 3,
  });
  await remember(world.records, aRun(), [ended('a', 'succeeded')]);
  await world.records.accounts.noteSupervised('default', Date.now() - 5_000);
  await showDaemon(world.records, ['worker', 'scheduler']);

  const { value } = readExposition(await metrics());

  expect(value('caretaker_up')).toBe(1);
  expect(value('caretaker_runs', { status: 'running' })).toBe(1);
  expect(value('caretaker_runs', { status: 'blocked' })).toBe(0);
  expect(value('caretaker_daemons', { role: 'worker' })).toBe(1);
  expect(value('caretaker_daemons', { role: 'dashboard' })).toBe(0);
  expect(value('caretaker_queue_entries', { queue: 'actions', state: 'waiting' })).toBe(0);
  expect(value('caretaker_budget_limit_requests', { account: 'default' })).toBe(200);
  expect(value('caretaker_budget_left_requests', { account: 'default' })).toBe(150);
  expect(value('caretaker_budget_used_requests', { account: 'default' })).toBe(50);
  expect(value('caretaker_requests_total', { account: 'default', class: 'follow' })).toBe(3);
  expect(value('caretaker_contract_deviations_total')).toBe(3);
  expect(value('caretaker_account_blocked', { account: 'default' })).toBe(0);
  expect(value('caretaker_account_failing_seconds', { account: 'default' })).toBeGreaterThanOrEqual(60);
  expect(value('caretaker_supervisor_lag_seconds', { account: 'default' })).toBeGreaterThanOrEqual(5);
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(0);
  expect(value('nodejs_eventloop_lag_p90_seconds')).toBe(0.004);
  expect(value('nodejs_eventloop_lag_max_seconds')).toBe(0.07);
});

test('metrics are current each time they are read, and counters never decrease', async () => {
  const requests = { person: 0, control: 0, follow: 0, action: 4, record: 0 };
  world = await startWorld({ accounts: async () => [anAccount({ requests })] });
  const count = async () =>
    readExposition(await metrics()).value('caretaker_requests_total', {
      account: 'default',
      class: 'action',
    });

  const before = await count();
  requests.action = 9;

  expect([before, await count()]).toEqual([4, 9]);
});

test('metrics have the format and the names that Prometheus requires', async () => {
  world = await startWorld();
  await remember(world.records, aRun(), [ended('a', 'succeeded')]);

  const { families, text } = readExposition(await metrics());

  const ours = [...families.values()].filter(({ name }) => name.startsWith('caretaker_'));
  expect(ours.length).toBeGreaterThan(10);
  for (const { name, type, help } of ours) {
    expect(name).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
    expect({ name, total: name.endsWith('_total') }).toEqual({ name, total: type === 'counter' });
    expect(help).toMatch(/^[A-Z0-9].*\.$/);
  }
  expect(text).not.toContain('nightly-sync');
});

test('events of every process are counted, and an unknown value adds no series', async () => {
  world = await startWorld();
  const events = await openEvents(await world.signedIn());
  await events.next();
  const elsewhere = new Redis(world.redis.options);
  const target = {
    type: 'target.ended',
    run: 'r',
    target: 't',
    outcome: 'succeeded',
    reason: 'brand-new',
    at: 1,
  };

  await elsewhere.publish(keys.events, JSON.stringify(target));
  await events.next();
  const text = await metrics();

  expect(text).toContain('caretaker_targets_ended_total{outcome="succeeded",reason="other"} 1');
  elsewhere.disconnect();
  await events.end();
});

test('durations of every process are counted, and an unknown kind or label adds no series', async () => {
  world = await startWorld();
  const connection = new Redis(world.redis.options);
  await connection.ping();
  const elsewhere = openRecords(connection);
  elsewhere.measurements.note('request', ['syncSite', 'ok'], 300);
  elsewhere.measurements.note('request', ['brandNew', 'odd'], 20);
  elsewhere.measurements.note('queueWait', ['deliveries'], 7_000);
  elsewhere.measurements.note('scheduleLateness', ['catch-up'], -5);
  elsewhere.measurements.note('brandNew' as 'request', ['syncSite', 'ok'], 5);
  await elsewhere.measurements.publish();
  await vi.waitFor(async () => expect(await metrics()).toContain('trigger="catch-up"'), { timeout: 20_000 });

  const { value, text } = readExposition(await metrics());

  const request = { operation: 'syncSite', result: 'ok' };
  expect(value('caretaker_request_duration_seconds_sum', request)).toBeCloseTo(0.3);
  expect(value('caretaker_request_duration_seconds_bucket', { ...request, le: '0.25' })).toBe(0);
  expect(value('caretaker_request_duration_seconds_bucket', { ...request, le: '0.5' })).toBe(1);
  expect(value('caretaker_request_duration_seconds_count', { operation: 'other', result: 'other' })).toBe(1);
  expect(value('caretaker_queue_wait_seconds_bucket', { queue: 'deliveries', le: '15' })).toBe(1);
  expect(value('caretaker_schedule_lateness_seconds_sum', { trigger: 'catch-up' })).toBe(0);
  expect(text).not.toContain('brandNew');
  connection.disconnect();
});

test('metrics contain how many policies fail or are paused', async () => {
  const policies = ['a', 'b', 'c'].map((name) => aPolicy(name));
  world = await startWorld({ policies: () => policies });
  await world.records.policies.pause('b', { at: Date.now(), by: 'ops' });
  await world.records.policies.countFailure('c', true);

  const { value } = readExposition(await metrics());

  expect(value('caretaker_policies')).toBe(3);
  expect(value('caretaker_policies_paused')).toBe(1);
  expect(value('caretaker_policies_failing')).toBe(1);
});

test('while Redis is unavailable, the metrics show that, with what the process knows by itself', async () => {
  world = await startWorld();
  expect(readExposition(await metrics()).value('caretaker_redis_up')).toBe(1);
  world.health.redis = 'down';
  await world.redis.kill();

  const { value, families } = readExposition(await metrics());

  expect([value('caretaker_redis_up'), value('caretaker_up')]).toEqual([0, 0]);
  expect(families.has('caretaker_runs')).toBe(false);
});

test('while Redis is unavailable a page shows that instead of waiting', async () => {
  world = await startWorld();
  const ask = await world.signedIn();
  await world.redis.kill();

  const answer = await ask('/', { headers: { accept: 'text/html' } });

  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain('Redis does not answer.');
});
