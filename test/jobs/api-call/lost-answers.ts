/** An operation with an effect, its answer lost after it was carried out, and before: what becomes of the target. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OperationId, operationIds, operationOf } from '../../../src/contract/operations.ts';
import { probes } from '../../../src/job/reconcile/probes.ts';
import { looksForState } from '../../../src/job/reconcile/wanted-state.ts';
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

/** The table: operation x {carried out, not carried out} -> outcome, and how often it is carried out. */
export function describeLostAnswers(ids: readonly OperationId[]): void {
  describe.each([
    ['carried out', 'error-after'],
    ['not carried out', 'reset-before'],
  ] as const)('an operation that was %s, and whose answer was lost', (happened, fault) => {
    let world: World;
    beforeAll(async () => {
      world = await startWorld({ sites: 40, speedUp: 20 });
    });
    afterAll(() => world.stop());

    test.each(ids)('%s', async (operation) => {
      const { body, ...params } = (await inputs[operation](accountOf(world))) as Record<string, unknown>;
      // What was made for the input is older than clocks differ.
      world.clock.leap(300_000);
      const { journal } = world.sandbox;
      const before = { effects: journal.effectsOf(operation).length, requests: journal.countOf(operation) };
      world.sandbox.failNext({ operation }, fault);
      const policy = callOf({ from: 'account' }, { operation, params, body, confirm: operation });

      const [target] = await world.targets(await world.ended(await world.fire(policy)));

      const isKnown = !isTraceless(operation);
      expect(
        { outcome: target?.outcome, unknown: target?.reason === 'unknown-effect' },
        target?.detail,
      ).toEqual(isKnown ? { outcome: 'succeeded', unknown: false } : { outcome: 'failed', unknown: true });
      if (isCheck(operation)) return;
      const times = isKnown || happened === 'carried out' ? 1 : 0;
      expect(journal.effectsOf(operation).length - before.effects, 'effects').toBe(times);
      if (happened === 'carried out')
        expect(journal.countOf(operation) - before.requests, 'requests').toBe(1);
    });
  });
}
