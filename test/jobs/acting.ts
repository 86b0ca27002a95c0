/** What a person does beside the runs of a job, and what becomes of a run. */
import type { Answer, Input, OperationId } from '../../src/contract/operations.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { Target } from '../../src/run/run.ts';
import { around } from '../support/between.ts';
import type { World } from '../support/caretaker.ts';

/** Calls operations as another user of the account, in the world that a test has at that time. */
export const asPerson =
  (world: () => World) =>
  <Id extends OperationId>(operation: Id, input: Input<Id>): Promise<Answer<Id>> =>
    world().caretaker.link('default').client.call(operation, input, { requestClass: 'person' });

/** Runs a policy to its end, and gives its targets by their ids. */
export async function targetsAfter(
  world: World,
  policy: Policy,
  only?: string[],
): Promise<Record<string, Target>> {
  const run = await world.ended(await world.fire(policy, only));
  return Object.fromEntries((await world.targets(run)).map((target) => [target.id, target]));
}

/** The operations that changed the account, in their order. */
export const effectsIn = ({ sandbox }: World): OperationId[] =>
  sandbox.journal.effects.map(({ operation }) => operation);

/**
 * Lets something happen directly before an operation is sent for the first time, or the `nth`; meanwhile it is not sent,
 * so what happens must not call it.
 */
export function justBefore(
  { caretaker }: World,
  operation: OperationId,
  happen: () => unknown,
  nth = 1,
): void {
  let sent = 0;
  let happened: Promise<unknown> | undefined;
  around(caretaker.link('default').client, 'call', async (send, asked) => {
    if (asked !== operation) return send();
    sent += 1;
    if (sent >= nth) {
      happened ??= Promise.resolve(happen());
      await happened;
    }
    return send();
  });
}
