/**
 * Several processes on one account: budgets with connections of their own, checked against the sandbox's
 * journal. Only this shows that the windows of several budgets and of the service fit together.
 */
import { setMaxListeners } from 'node:events';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openBudget } from '../../src/budget/budget.ts';
import type { RequestClass } from '../../src/budget/ticket.ts';
import { type Client, openClient } from '../../src/client/client.ts';
import { shiftedClock } from '../../src/clock.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts';
import { around } from '../support/between.ts';
import { type HeldClock, heldClock } from '../support/held-clock.ts';
import { keptLog } from '../support/quiet.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';

const WINDOW_MS = 60_000;
/** How far time passes at once. */
const STEP_MS = 250;
let redis: TestRedis;
let sandbox: Sandbox;
let clock: HeldClock;
/** Requests that were granted and not answered yet, and commands to Redis. */
let inFlight = 0;
let closing: (() => unknown)[] = [];

beforeEach(async () => {
  redis = await startTestRedis();
  clock = heldClock();
  inFlight = 0;
});
afterEach(async () => {
  await Promise.all(closing.map((close) => close()));
  closing = [];
  await sandbox.stop();
  await redis.stop();
});

/** The service, and as many processes that share the account. */
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
    around(connection, 'sendCommand', (send) => during(send() as Promise<unknown>));
    const own = shiftedClock(clock, aheadMs[index] ?? 0);
    const budget = openBudget(connection, own, account.name, { requestsPerMinute: 200, reserve });
    around(budget, 'take', async (take) => {
      const ticket = await take();
      inFlight += 1;
      return ticket;
    });
    around(budget, 'learn', (learn) => {
      const learned = learn();
      arrived();
      return learned;
    });
    const client = openClient({ account, budget, clock: own, log: keptLog() });
    closing.push(() => client.close().then(() => connection.disconnect()));
    return client;
  });
}

function during<T>(work: Promise<T>): Promise<T> {
  inFlight += 1;
  work.then(arrived, arrived);
  return work;
}

let onIdle = () => {};
function arrived(): void {
  inFlight -= 1;
  if (inFlight === 0) onIdle();
}

/** Lets time pass until this is so, and never while something is on its way: no machine is too slow for that. */
async function passUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    do {
      if (inFlight > 0)
        await new Promise<void>((resolve) => {
          onIdle = resolve;
        });
      // What follows from an answer is sent within a few turns.
      for (let turns = 0; turns < 3; turns += 1) await new Promise(setImmediate);
    } while (inFlight > 0);
    await clock.advance(STEP_MS);
  }
}

const ask = (client: Client, requestClass: RequestClass, signal?: AbortSignal) =>
  client.call('listTags', { perPage: 1 }, { requestClass, ...(signal ? { signal } : {}) });

/** All clients ask for more than the limit, in each of these classes at once, until two windows have ended. */
async function wantMore(clients: readonly Client[], classes: readonly RequestClass[]): Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  setMaxListeners(0, signal);
  const keepAsking = async (client: Client, requestClass: RequestClass) => {
    while (!signal.aborted) {
      await ask(client, requestClass, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  };
  const asking = clients.flatMap((client) => classes.map((requestClass) => keepAsking(client, requestClass)));
  await passUntil(() => windows().length > 2);
  stopping.abort();
  await Promise.all(asking);
}

/** How many requests each window of the service had; a window begins with the first request after the previous one. */
function windows(): number[] {
  const counts: number[] = [];
  let ends = Number.NEGATIVE_INFINITY;
  for (const { at } of sandbox.journal.requests) {
    if (at >= ends) {
      ends = at + WINDOW_MS;
      counts.push(0);
    }
    counts.push((counts.pop() ?? 0) + 1);
  }
  return counts;
}

const refusals = () => sandbox.journal.requests.filter(({ status }) => status === 429).length;

test.each([
  { rateLimit: 50, reserve: 0.1, spendable: 45 },
  { rateLimit: 20, reserve: 0, spendable: 20 },
])(
  'four processes that want more than the limit of $rateLimit use all of it except the reserve, and get no 429',
  async ({ rateLimit, reserve, spendable }) => {
    const clients = await processes(4, reserve, { rateLimit });

    await wantMore(clients, ['person', 'action', 'action', 'follow']);

    expect(refusals()).toBe(0);
    const counts = windows();
    for (const count of counts) expect(count).toBeLessThanOrEqual(spendable);
    // Those that have ended.
    for (const count of counts.slice(0, -1)) expect(count).toBeGreaterThan(spendable * 0.9);
  },
);

test('processes whose clocks differ by seconds never exceed the limit', async () => {
  const clients = await processes(4, 0.1, { rateLimit: 50 }, [0, 2_000, -1_500, 4_000]);

  await wantMore(clients, ['action', 'action', 'action']);

  expect(refusals()).toBe(0);
});

test('an account that another client used up costs one 429 in total, and then work continues', async () => {
  const clients = await processes(4, 0.1, { rateLimit: 200 });
  sandbox.account.useUpRequests(200);
  let answers = 0;
  for (const client of clients)
    for (let count = 0; count < 5; count += 1)
      void ask(client, 'action').then(() => {
        answers += 1;
      });

  await passUntil(() => answers === 20);

  expect(refusals()).toBe(1);
});
