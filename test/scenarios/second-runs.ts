/** A run of a policy, two seconds after another: effects of the earlier one are never taken for those of the later. */
import { expect, test } from 'vitest';
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
  const retry: Policy['retry'] = { attempts: 4, backoff: 'fixed', delayMs: 1_000, maxDelayMs: 1_000 };

  test.each(effects)(
    '%s, two seconds after others, happen once each when the answers are lost, and do not succeed when every request is dropped',
    async (_, operation, policy) => {
      const world = await worldOfTest({ sites: SITES, ...optionsFor(operation) });
      const made = () => world.sandbox.journal.effectsOf(operation).length;
      const fire = async () => endedByLeaps(world, await world.fire(aPolicy({ retry, ...policy })));
      const first = await fire();
      const before = made();
      expect(first.counts.succeeded).toBe(before);
      expect(before).toBeGreaterThan(0);

      await world.clock.sleep(2_000);
      world.sandbox.failNext({ operation, times: before }, 'reset-after');
      expect((await fire()).counts).toMatchObject({ succeeded: before, failed: 0 });
      expect(made()).toBe(2 * before);

      await world.clock.sleep(2_000);
      world.sandbox.failNext({ operation, times: 1_000 }, 'reset-before');
      expect((await fire()).counts).toMatchObject({ succeeded: 0, failed: before });
      expect(made()).toBe(2 * before);
    },
  );
}
