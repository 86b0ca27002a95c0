/** What the search reads from the records. */
import type { Clock } from '../../clock.ts';
import { type OperationId, operationOf, operations } from '../../contract/operations.ts';
import type { TargetIndex } from '../../control/target-index.ts';
import type { Label } from '../../records/label-store.ts';
import type { Records } from '../../records/records.ts';
import type { Run, Target } from '../../run/run.ts';
import { redact } from '../../secrets.ts';

/** A target with the run that worked on it. */
export interface TargetRun {
  run: Run;
  target: Target;
}

export interface SearchReader {
  /** The best matches of targets, all words of which are in their id or label; words in lower case. */
  targetsWith(words: readonly string[], limit: number): Promise<Label[]>;
  /** The newest runs whose id has this text in it. */
  runsWith(part: string, limit: number): Promise<Run[]>;
  /** The targets whose work became the task, snapshot or other item with this id, in about the last ten days. */
  madeAs(accounts: readonly string[], id: string): Promise<TargetRun[]>;
}

/** The operations that make something with an id. */
const making = (Object.keys(operations) as OperationId[]).filter(
  (name) => operationOf(name).effect === 'once',
);

export function openSearchReader(records: Records, clock: Clock, index: TargetIndex): SearchReader {
  const targetRun = async (run: string, target: string): Promise<TargetRun | undefined> => {
    const [found, one] = await Promise.all([records.runs.get(run), records.targets.get(run, target)]);
    return found && one ? { run: found, target: one } : undefined;
  };
  return {
    targetsWith: async (words, limit) => redact(await index.find(words, limit)) as Label[],
    runsWith: async (part, limit) =>
      redact(await records.runs.many(await records.runs.containing(part, limit))) as Run[],
    async madeAs(accounts, id) {
      const now = clock.now();
      const owners = (
        await Promise.all(accounts.map((account) => records.effects.ownersOf(account, making, id, now)))
      ).flat();
      const found = await Promise.all(owners.map(({ run, target }) => targetRun(run, target)));
      return redact(found.filter((one) => one !== undefined)) as TargetRun[];
    },
  };
}
