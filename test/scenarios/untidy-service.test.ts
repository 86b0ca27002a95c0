/** A service that violates its specification in many ways at once: each outcome agrees with its journal. */
import { afterEach, describe, expect, test } from 'vitest';
import type { OperationId } from '../../src/contract/operations.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { Run } from '../../src/run/run.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { endedByLeaps } from '../support/leaps.ts';
import { quickSyncs } from '../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

const SITES = 60;
const untidy = {
  'numbers-as-text': 0.1,
  redirect: 0.1,
  'redirect-away': 0.1,
  'html-errors': 0.1,
  'html-400': 0.1,
  'other-errors': 0.1,
};
/** A request that the service never carries out is repeated more often than one request in three is lost. */
const retry = { attempts: 12, backoff: 'exponential', delayMs: 5_000, maxDelayMs: 60_000 } as const;

async function runOver(policy: Partial<Policy>): Promise<Run> {
  world = await startWorld({
    sites: SITES,
    rateLimit: 1_000_000,
    faults: untidy,
    seed: 3,
    before: quickSyncs,
  });
  return endedByLeaps(world, await world.fire(aPolicy({ ...policy, retry })));
}

/** How often the journal has an effect on each target that ended with each reason. */
async function effectsByReason(run: Run, operation: OperationId): Promise<Map<string, number[]>> {
  const effects = world.sandbox.journal.effectsOf(operation);
  const counts = new Map<string, Set<number>>();
  for (const { id, reason = 'open' } of await world.targets(run)) {
    const count = effects.filter((resource) => resource === id).length;
    counts.set(reason, (counts.get(reason) ?? new Set()).add(count));
  }
  return new Map([...counts].map(([reason, seen]) => [reason, [...seen].sort()]));
}

/**
 * Checks that the token was sent nowhere else, and that each fault occurred: otherwise nothing was tested.
 */
function expectTried(): void {
  const { journal, followedRedirects } = world.sandbox;
  expect(followedRedirects.filter(({ to, method }) => to === 'other-origin' || method !== 'GET')).toEqual([]);
  const met = new Set(journal.requests.map(({ fault }) => fault));
  for (const fault of ['redirect', 'redirect-away', 'html-400', 'numbers-as-text'] as const)
    expect(met).toContain(fault);
}

describe('numbers as text, redirects and errors in HTML, each in one of ten requests', () => {
  test('leave a sync of sixty sites with the same outcomes as in the service', async () => {
    const run = await runOver({});

    expectTried();
    expect(run.counts).toMatchObject({ planned: SITES, cancelled: 0 });
    const seen = await effectsByReason(run, 'syncSite');
    expect(Object.fromEntries(seen)).toEqual({
      done: [1],
      'task-failed': [1],
      'daily-limit': [0],
      maintenance: [0],
      'not-eligible': [0],
    });
    // The same sites as in a run without faults.
    const reasons = Object.values(await world.reasons(run));
    const count = (reason: string) => reasons.filter((one) => one === reason).length;
    expect(['done', 'task-failed', 'daily-limit', 'maintenance', 'not-eligible'].map(count)).toEqual([
      46, 2, 2, 3, 7,
    ]);
  });
});
