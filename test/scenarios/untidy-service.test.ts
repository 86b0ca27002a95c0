/** A service that violates its specification in many ways at once: each outcome agrees with its journal. */
import { describe, expect, test } from 'vitest';
import type { OperationId } from '../../src/contract/operations.ts';
import type { Run } from '../../src/run/run.ts';
import type { World } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';
import { runUntidily } from './untidy-service.ts';

const SITES = 60;

/** How often the journal has an effect on each target that ended with each reason. */
async function effectsByReason(
  world: World,
  run: Run,
  operation: OperationId,
): Promise<Map<string, number[]>> {
  const effects = world.sandbox.journal.effectsOf(operation);
  const counts = new Map<string, Set<number>>();
  for (const { id, reason = 'open' } of await world.targets(run)) {
    const count = effects.filter((resource) => resource === id).length;
    counts.set(reason, (counts.get(reason) ?? new Set()).add(count));
  }
  return new Map([...counts].map(([reason, seen]) => [reason, [...seen].sort()]));
}

describe('numbers as text, redirects and errors in HTML, each in one of ten requests', () => {
  test('leave a sync of sixty sites with the same outcomes as in the service', async () => {
    const { world, run } = await runUntidily({ sites: SITES, before: quickSyncs }, {});

    expect(run.counts).toMatchObject({ planned: SITES, cancelled: 0 });
    const seen = await effectsByReason(world, run, 'syncSite');
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
