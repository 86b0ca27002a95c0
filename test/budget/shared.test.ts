/**
 * Several processes on one account: budgets with connections of their own, checked against the sandbox's
 * journal.
 */
import { setMaxListeners } from 'node:events';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Budget, openBudget } from '../../src/budget/budget.ts';
import type { RequestClass } from '../../src/budget/request-class.ts';
import { type Client, openClient } from '../../src/client/client.ts';
import { type Clock, shiftedClock } from '../../src/clock.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts';
import { fastClock } from '../support/caretaker.ts';
import { keptLog } from '../support/quiet.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';

const WINDOW_MS = 60_000;
/** A minute passes in two seconds. */
const SPEED = 30;
let redis: TestRedis;
let sandbox: Sandbox;
let clock: Clock;
/** The budget as one of the processes sees it. */
let watched: Budget;
let closing: (() => unknown)[] = [];

beforeEach(async () => {
  redis = await startTestRedis();
  clock = fastClock(SPEED);
});
afterEach(async () => {
  await Promise.all(closing.map((close) => close()));
  closing = [];
  await sandbox.stop();
  await redis.stop();
});

/** The service with a fast clock, and as many processes that share the account. */
async function processes(
  count: number,
  reserve: number,
  options: SandboxOptions,
  /** The offset of the clock of each process. */
  aheadMs: readonly number[] = [],
): Promise<Client[]> {
  sandbox = await startSandbox({ sites: 1, ...options, clock });
  const account = { name: 'shared', baseUrl: sandbox.url, token: sandbox.token };
  return Array.from({ length: count }, (_, index) => {
    const connection = new Redis(redis.options);
    const own = shiftedClock(clock, aheadMs[index] ?? 0);
    const budget = openBudget(connection, own, account.name, { requestsPerMinute: 200, reserve });
    const client = openClient({ account, budget, clock: own, log: keptLog() });
    watched = budget;
    closing.push(() => client.close().then(() => connection.disconnect()));
    return client;
  });
}

const ask = (client: Client, requestClass: RequestClass, signal?: AbortSignal) =>
  client.call('listTags', { perPage: 1 }, { requestClass, ...(signal ? { signal } : {}) });

/** Stops any number of callers. */
function stopper(): AbortController {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  return stopping;
}

/** Sends requests until the signal aborts. */
async function keepAsking(client: Client, requestClass: RequestClass, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await ask(client, requestClass, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}

/**
 * How many requests each window of the service had; a window begins with the first request after the previous
 * one. The journal's times are those of the answers, so a request at the edge of a window may be counted in
 * its neighbour.
 */
function windows(): number[] {
  const counts: number[] = [];
  let ends = Number.NEGATIVE_INFINITY;
  for (const { at, ms } of sandbox.journal.requests) {
    const counted = at - ms * SPEED;
    if (counted >= ends) {
      ends = counted + WINDOW_MS;
      counts.push(0);
    }
    counts.push((counts.pop() ?? 0) + 1);
  }
  return counts;
}

/**
 * No window had more requests than may be spent, except for two percent at its edges. How many of them a busy
 * machine can use is a figure for a benchmark, not for a test.
 */
function expectEachWindow(spendable: number): void {
  for (const count of windows()) expect(count).toBeLessThanOrEqual(Math.ceil(spendable * 1.02));
}

const refusals = () => sandbox.journal.requests.filter(({ status }) => status === 429).length;

test.each([
  { rateLimit: 200, reserve: 0.1, spendable: 180 },
  { rateLimit: 20, reserve: 0, spendable: 20 },
])(
  'four processes that want more than the limit of $rateLimit use all of it except the reserve, and get no 429',
  async ({ rateLimit, reserve, spendable }) => {
    const clients = await processes(4, reserve, { rateLimit });
    const stopping = stopper();
    const asking = clients.flatMap((client) =>
      (['person', 'action', 'action', 'follow'] as const).map((requestClass) =>
        keepAsking(client, requestClass, stopping.signal),
      ),
    );

    await vi.waitFor(() => expect(windows().length).toBeGreaterThan(2), { timeout: 15_000, interval: 10 });
    stopping.abort();
    await Promise.all(asking);

    expect(refusals()).toBe(0);
    expectEachWindow(spendable);
  },
);

test('an account that another client used up costs one 429 in total, and then work continues', async () => {
  const clients = await processes(4, 0.1, { rateLimit: 200 });
  sandbox.account.useUpRequests(200);

  const answers = await Promise.all(
    clients.flatMap((client) => [1, 2, 3, 4, 5].map(() => ask(client, 'action'))),
  );

  expect(answers).toHaveLength(20);
  expect(refusals()).toBe(1);
});

test('an account that is used up during a window costs one 429 for all processes', async () => {
  const [first, ...others] = await processes(4, 0, { rateLimit: 200 });
  if (!first) throw new Error('There is no first process.');
  await ask(first, 'action');
  sandbox.account.useUpRequests(200);
  const refused = ask(first, 'action');
  await vi.waitFor(async () => expect((await watched.state()).remaining).toBe(0), { interval: 1 });

  await Promise.all([refused, ...others.flatMap((client) => [ask(client, 'person'), ask(client, 'action')])]);

  expect(refusals()).toBe(1);
});

test('what others spend reduces what we may spend, and the reserve stays theirs', async () => {
  const clients = await processes(3, 0.2, { rateLimit: 100 });
  const ends = clock.now() + WINDOW_MS;
  sandbox.account.useUpRequests(50);
  const stopping = stopper();
  const asking = clients.map((client) => keepAsking(client, 'person', stopping.signal));

  await vi.waitFor(() => expect(windows().length).toBeGreaterThan(1), { timeout: 10_000, interval: 5 });
  stopping.abort();
  await Promise.all(asking);

  const spent = sandbox.journal.requests.filter(({ at }) => at < ends).length;
  expect(spent).toBeGreaterThan(0);
  expect(spent).toBeLessThanOrEqual(30);
  expect(refusals()).toBe(0);
});

test('a limit below the configured one counts from the first answer on', async () => {
  const [client] = await processes(1, 0, { rateLimit: 100 });
  if (!client) throw new Error('There is no process.');
  const stopping = stopper();
  const asking = [1, 2, 3, 4].map(() => keepAsking(client, 'person', stopping.signal));

  await vi.waitFor(() => expect(windows().length).toBeGreaterThan(2), { timeout: 10_000, interval: 5 });
  stopping.abort();
  await Promise.all(asking);

  // The settings have 200, but the service's own figure counts.
  expectEachWindow(100);
  expect(refusals()).toBe(0);
});

test('processes whose clocks differ by seconds never exceed the limit', async () => {
  const clients = await processes(4, 0.1, { rateLimit: 200 }, [0, 2_000, -1_500, 4_000]);
  const stopping = stopper();
  const asking = clients.flatMap((client) =>
    [1, 2, 3].map(() => keepAsking(client, 'action', stopping.signal)),
  );

  await vi.waitFor(() => expect(windows().length).toBeGreaterThan(2), { timeout: 15_000, interval: 10 });
  stopping.abort();
  await Promise.all(asking);

  expect(refusals()).toBe(0);
});

test('a person is answered immediately while four processes want more than the limit', async () => {
  const clients = await processes(4, 0.1, { rateLimit: 200 });
  const [person, ...others] = clients;
  if (!person) throw new Error('There is no person.');
  const stopping = stopper();
  const asking = others.flatMap((client) =>
    [1, 2, 3, 4].map(() => keepAsking(client, 'action', stopping.signal)),
  );
  // Nothing is left for actions, and the window lasts for most of a minute.
  await vi.waitFor(
    async () => {
      const { availableForActions, resetsAt } = await watched.state();
      expect(availableForActions).toBeLessThan(3);
      expect(resetsAt - clock.now()).toBeGreaterThan(WINDOW_MS / 2);
    },
    { timeout: 10_000, interval: 1 },
  );

  const began = clock.now();
  await Promise.all([1, 2, 3, 4, 5].map(() => ask(person, 'person')));
  const tookMs = clock.now() - began;
  const { classes } = (await watched.usage()).window ?? {};
  stopping.abort();
  await Promise.all(asking);

  // The clock runs thirty times as fast as the requests do.
  expect(tookMs / SPEED).toBeLessThan(1_000);
  expect(classes?.person).toBe(5);
  expect(refusals()).toBe(0);
});
