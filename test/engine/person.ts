/** What people do in the account, or see in it, and what a test waits for before they do. */
import type { Answer, Input, OperationId } from '../../src/contract/operations.ts';
import type { Run } from '../../src/run/run.ts';
import { until, type World } from '../support/caretaker.ts';

export const person = { requestClass: 'person' } as const;

/** Sends a request as a person, from the process of the world. */
export const call = <Id extends OperationId>(
  { caretaker }: World,
  operation: Id,
  input: Input<Id>,
): Promise<Answer<Id>> => caretaker.link('default').client.call(operation, input, person);

/** Creates a tag on these sites, and gives its id. */
export async function tagged(world: World, name: string, site_ids: string[]): Promise<string> {
  const { tag } = await call(world, 'createTag', { body: { tag: { name } } });
  if (site_ids.length > 0) await call(world, 'assignTag', { tag_id: tag.id, body: { site_ids } });
  return tag.id;
}

/** Resolves when so many targets of a run are followed. */
export const untilFollowed = (world: World, { id }: Run, count: number): Promise<void> =>
  until(
    world,
    async () => (await world.caretaker.records.targets.inState(id, 'following', count)).length === count,
  );
