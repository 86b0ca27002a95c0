/** A second run of a policy, two seconds after the first: effects of the first are never taken for those of the second. */
import { describe, expect, test } from 'vitest';
import type { OperationId } from '../../src/contract/operations.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { aPolicy } from '../support/builders.ts';
import type { WorldOptions } from '../support/caretaker.ts';
import { endedByLeaps } from '../support/leaps.ts';
import { worldOfTest } from '../support/world-of-test.ts';

export const SITES = 4;
/** Their name, the operation that has the effect, and the policy. */
export type Effects = [string, OperationId, Partial<Policy>];

export function describeSecondRuns(
  effects: readonly Effects[],
  optionsFor: (operation: OperationId) => WorldOptions,
): void {
  describe.each(effects)('%s of a second run, two seconds after the first', (_, operation, policy) => {
    const retry: Policy['retry'] = { attempts: 4, backoff: 'fixed', delayMs: 1_000, maxDelayMs: 1_000 };

    /** Two runs, the second of which loses requests or answers: what the first made, what there is after the second. */
    async function runTwice(fault: 'reset-before' | 'reset-after') {
      const world = await worldOfTest({ sites: SITES, ...optionsFor(operation) });
      const made = () => world.sandbox.journal.effectsOf(operation).length;
      const fire = async () => endedByLeaps(world, await world.fire(aPolicy({ retry, ...policy })));
      const first = await fire();
      const before = made();
      expect(first.counts.succeeded).toBe(before);
      expect(before).toBeGreaterThan(0);
      await world.clock.sleep(2_000);
      world.sandbox.failNext({ operation, times: fault === 'reset-before' ? 1_000 : before }, fault);
      const { counts } = await fire();
      return { before, after: made(), counts };
    }

    test('do not succeed when the service drops every request', async () => {
      const { before, after, counts } = await runTwice('reset-before');
      expect(after).toBe(before);
      expect(counts).toMatchObject({ succeeded: 0, failed: before });
    });

    test('happen once each when the answers are lost', async () => {
      const { before, after, counts } = await runTwice('reset-after');
      expect(after).toBe(2 * before);
      expect(counts).toMatchObject({ succeeded: before, failed: 0 });
    });
  });
}
