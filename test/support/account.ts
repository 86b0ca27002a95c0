/** An account of its own in a held world, and a client that costs nothing: for tests that go through operations one by one. */
import { onTestFinished } from 'vitest';
import type { Budget } from '../../src/budget/budget.ts';
import { openClient } from '../../src/client/client.ts';
import { systemClock } from '../../src/clock.ts';
import { readingOf } from '../../src/engine/reading.ts';
import type { Reading } from '../../src/job/job.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { heldClock } from './held-clock.ts';
import type { Account } from './operation-inputs.ts';
import { keptLog } from './quiet.ts';

const free: Budget = {
  letGo: async () => ({ person: 0, control: 0, follow: 0, action: 0 }),
  take: async () => ({ window: 0 }),
  takeNow: async () => ({ window: 0 }),
  learn: async () => {},
  state: async () => ({ limit: 1, remaining: 1, resetsAt: 0, room: 1 }),
  usage: async () => ({ limit: 1, reserved: 0 }),
};

export type OpenAccount = Account & { reading: Reading; now(): number };

/** Opens an account of forty sites, until the test is over. */
export async function openAccount(): Promise<OpenAccount> {
  const clock = heldClock();
  const sandbox = await startSandbox({ sites: 40, rateLimit: 0, token: 'an-operators-token', clock });
  onTestFinished(() => sandbox.stop());
  const account = { name: 'default', baseUrl: sandbox.url, token: sandbox.token };
  const client = openClient({ account, budget: free, clock: systemClock, log: keptLog() });
  onTestFinished(() => client.close());
  const options = { priority: 'person' } as const;
  return {
    call: (id, input) => client.call(id, input, options),
    pass: (ms) => clock.advance(ms),
    now: () => clock.now(),
    sandbox,
    reading: readingOf(client, options, (id, input) => client.call(id, input, options)),
  };
}
