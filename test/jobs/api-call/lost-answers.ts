/** An operation with an effect, its answer lost after it was carried out, and before: what becomes of the target. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OperationId, operationIds, operationOf } from '../../../src/contract/operations.ts';
import { probes } from '../../../src/job/reconcile/probes.ts';
import { looksForState } from '../../../src/job/reconcile/wanted-state.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import type { Target } from '../../../src/run/run.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { inputs } from '../../support/operation-inputs.ts';
import { accountOf } from '../every-list.ts';
import { callOf } from './policies.ts';

export const changing = operationIds.filter((id) => operationOf(id).effect !== undefined);

const isTraceless = (id: OperationId) =>
  Object.entries(probes).some(([one, { looksFor }]) => one === id && looksFor.startsWith('Nothing'));
/** What only checks something changes nothing that lasts. */
const isCheck = (id: OperationId) =>
  operationOf(id).effect === 'repeatable' && looksForState(id).looksFor.startsWith('Not looked for');

/** How the target ended, and how often its operation was carried out and requested. */
interface End {
  target?: Target | undefined;
  effects: number;
  requests: number;
}

/**
 * The table: operation x {carried out, not carried out} -> outcome, and how often it is carried out. At the same
 * time, all wait together until what they do not find can be sent again; their inputs must not depend on each other.
 */
export function describeLostAnswers(ids: readonly OperationId[], atTheSameTime = false): void {
  describe.each([
    ['carried out', 'error-after'],
    ['not carried out', 'reset-before'],
  ] as const)('an operation that was %s, and whose answer was lost', (happened, fault) => {
    let world: World;
    const found = new Map<OperationId, End>();

    /** Calls these operations, loses each answer, and stores what became of each. */
    async function lose(...operations: OperationId[]): Promise<void> {
      const calls: { operation: OperationId; policy: Policy }[] = [];
      for (const operation of operations) {
        const { body, ...params } = (await inputs[operation](accountOf(world))) as Record<string, unknown>;
        const call = { operation, params, body, confirm: operation };
        calls.push({
          operation,
          policy: { ...callOf({ from: 'account' }, call), name: operation.toLowerCase() },
        });
      }
      // What was made for the inputs is older than clocks differ.
      world.clock.leap(300_000);
      const { journal } = world.sandbox;
      const count = (id: OperationId) => [journal.effectsOf(id).length, journal.countOf(id)] as const;
      const ending = calls.map(async ({ operation, policy }) => {
        const [effects, requests] = count(operation);
        world.sandbox.failNext({ operation }, fault);
        const [target] = await world.targets(await world.ended(await world.fire(policy)));
        const [allEffects, allRequests] = count(operation);
        found.set(operation, { target, effects: allEffects - effects, requests: allRequests - requests });
      });
      await Promise.all(ending);
    }

    let allAtOnce: Promise<void> | undefined;
    beforeAll(async () => {
      world = await startWorld({ sites: 40, speedUp: 20 });
    });
    afterAll(() => world.stop());

    test.each(ids)('%s', async (operation) => {
      if (atTheSameTime) allAtOnce ??= lose(...ids);
      await (allAtOnce ?? lose(operation));
      const { target, effects, requests } = found.get(operation) as End;

      const isKnown = !isTraceless(operation);
      expect(
        { outcome: target?.outcome, unknown: target?.reason === 'unknown-effect' },
        target?.detail,
      ).toEqual(isKnown ? { outcome: 'succeeded', unknown: false } : { outcome: 'failed', unknown: true });
      if (isCheck(operation)) return;
      const times = isKnown || happened === 'carried out' ? 1 : 0;
      expect(effects, 'effects').toBe(times);
      if (happened === 'carried out') expect(requests, 'requests').toBe(1);
    });
  });
}
