import { afterEach, expect, test } from 'vitest';
import { readExposition } from './exposition.ts';
import { anAccount, PASSWORD, startWorld, type World } from './world.ts';

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

test('a process that does no work is neither ready nor up, even if Redis responds', async () => {
  world = await startWorld();
  expect(await metrics()).toContain('caretaker_up 1');
  world.health.troubles = [{ stops: true, message: 'the queue "actions" was paused' }];

  expect(await metrics()).toContain('caretaker_up 0');
  expect((await world.ask('/readyz')).status).toBe(503);

  // Policies that differ between daemons are named, and the process stays ready.
  world.health.troubles = [];
  world.health.differences = ['the policy nightly-sync differs between daemons: no scheduler has it'];
  const answer = await world.ask('/readyz');
  expect(answer.status).toBe(200);
  expect(await answer.text()).toBe(
    'ready\nwarning: the policy nightly-sync differs between daemons: no scheduler has it\n',
  );
});

test('metrics are current each time they are read, and counters never decrease', async () => {
  const requests = { person: 0, control: 0, follow: 0, action: 4, record: 0 };
  world = await startWorld({ accounts: async () => [anAccount({ requests })] });
  const account = 'default';
  const counted = async () => {
    const { value } = readExposition(await metrics());
    return [
      value('caretaker_requests_total', { account, class: 'action' }),
      value('caretaker_account_blocked', { account }),
    ];
  };

  expect(await counted()).toEqual([4, 0]);
  requests.action = 9;
  await world.records.accounts.block(account, { since: 1, why: 'HTTP 401' });
  expect(await counted()).toEqual([9, 1]);
});

test('while Redis is unavailable, the metrics and a page show that instead of waiting', async () => {
  world = await startWorld();
  const ask = await world.signedIn();
  expect(readExposition(await metrics()).value('caretaker_redis_up')).toBe(1);
  world.health.redis = 'down';
  await world.redis.kill();

  const { value, families } = readExposition(await metrics());

  expect([value('caretaker_redis_up'), value('caretaker_up')]).toEqual([0, 0]);
  expect(families.has('caretaker_runs')).toBe(false);
  const answer = await ask('/', { headers: { accept: 'text/html' } });

  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain('Redis does not answer.');
});
