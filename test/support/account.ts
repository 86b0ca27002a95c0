/**
 * A separate account in a held world, and a client without a budget, for tests that call operations one by
 * one.
 */
import { onTestFinished } from 'vitest';
import type { Budget } from '../../src/budget/budget.ts';
import { openClient } from '../../src/client/client.ts';
import { createJobApi } from '../../src/engine/job-api.ts';
import type { Effects } from '../../src/job/job.ts';
import type { Looking } from '../../src/job/reconcile/own-effect.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { heldClock } from './held-clock.ts';
import type { Account } from './operation-inputs.ts';
import { keptLog } from './quiet.ts';

const free: Budget = {
  availableForActions: async () => 1,
  take: async () => ({ window: 0 }),
  takeNow: async () => ({ window: 0 }),
  learn: async () => {},
  state: async () => ({
    limit: 1,
    remaining: 1,
    resetsAt: 0,
    granted: { person: 0, control: 0, follow: 0, action: 0, record: 0 },
  }),
  usage: async () => ({ limit: 1, reserved: 0 }),
  history: async () => [],
};

export type OpenAccount = Account & {
  /** The arguments for looking for a lost change. Its effects have no owner until they are claimed. */
  looking: Looking;
  /** Records effects as another target's, by their ids. */
  giveAway(...ids: string[]): void;
  now(): number;
};

/** The owners of effects, as in the records. */
function ownership(): { effects: Effects; giveAway(...ids: string[]): void } {
  const others = new Set<string>();
  return {
    effects: {
      claim: async (_operation, id) => !others.has(id),
      belongsToOther: async (_operation, id) => others.has(id),
    },
    giveAway: (...ids) => {
      for (const id of ids) others.add(id);
    },
  };
}

/** Opens an account of forty sites for the duration of the test. */
export async function openAccount(): Promise<OpenAccount> {
  const clock = heldClock();
  const sandbox = await startSandbox({ sites: 40, rateLimit: 0, token: 'an-operators-token', clock });
  onTestFinished(() => sandbox.stop());
  const account = { name: 'default', baseUrl: sandbox.url, token: sandbox.token };
  const client = openClient({ account, budget: free, clock, log: keptLog() });
  onTestFinished(() => client.close());
  const options = { requestClass: 'person' } as const;
  const { effects, giveAway } = ownership();
  return {
    giveAway,
    call: (id, input) => client.call(id, input, options),
    pass: (ms) => clock.advance(ms),
    now: () => clock.now(),
    sandbox,
    looking: { ...createJobApi(client, options, (id, input) => client.call(id, input, options)), effects },
  };
}
