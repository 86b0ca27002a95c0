import { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { keys } from '../../src/records/keys.ts';
import { aRun, ended, openEvents, PASSWORD, remember, startWorld, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

const bearer = { authorization: `Bearer ${PASSWORD}` };
const metrics = async () => (await world.ask('/metrics', { headers: bearer })).text();

test('a supervisor learns that the process lives and whether it is ready', async () => {
  world = await startWorld();
  expect([(await world.ask('/healthz')).status, (await world.ask('/readyz')).status]).toEqual([200, 200]);

  world.health.redis = 'down';
  world.health.waiting = ['worker'];
  const answer = await world.ask('/readyz');

  expect((await world.ask('/healthz')).status).toBe(200);
  expect(answer.status).toBe(503);
  expect(await answer.text()).toBe('not ready: Redis does not answer, the worker is not at work\n');
});

test('metrics tell runs under way, queues, budgets and what became of targets', async () => {
  world = await startWorld({
    metrics: {
      budgets: async () => [{ account: 'default', limit: 200, remaining: 150 }],
      drift: () => 3,
    },
  });
  await remember(world.records, aRun(), [ended('a', 'succeeded')]);

  const text = await metrics();

  expect(text).toContain('caretaker_up 1');
  expect(text).toContain('caretaker_runs_active{status="running"} 1');
  expect(text).toContain('caretaker_runs_active{status="blocked"} 0');
  expect(text).toContain('caretaker_queue_entries{queue="actions",state="waiting"} 0');
  expect(text).toContain('caretaker_budget_requests{account="default",state="remaining"} 150');
  expect(text).toContain('caretaker_contract_deviations 3');
  expect(text).toContain('process_resident_memory_bytes');
  expect(text).not.toContain('nightly-sync');
});

test('what any process does is counted, and a word that is not known yet makes no series of its own', async () => {
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

test('while Redis is away a page says so instead of standing still', async () => {
  world = await startWorld();
  const ask = await world.signedIn();
  await world.redis.kill();

  const answer = await ask('/', { headers: { accept: 'text/html' } });

  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain('Redis does not answer.');
});
