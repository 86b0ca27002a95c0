/** Checks `rollout` of a policy: its conditions, and whether its job has anything to roll out. */
import type { AnyJob } from '../job/job.ts';
import type { Diagnostic } from '../yaml/diagnostic.ts';
import {
  expressionFault,
  isSourceKnown,
  type PartialSelect,
  type Place,
  selectedOf,
} from './check-select.ts';
import type { PolicyEntry } from './policy-file.ts';
import { compileWhereOf } from './where.ts';

/** Everything that is wrong with `rollout`. */
export function rolloutFindings(
  { rollout, select = {} }: { rollout?: PolicyEntry['rollout']; select?: PartialSelect },
  job: AnyJob | undefined,
  place: Place,
): Diagnostic[] {
  if (!rollout || !job) return [];
  if (job.takesLists || job.reportsSelection) {
    const message = `The job ${job.name} changes nothing in the account, so there is nothing to roll out.`;
    return [place(['rollout'], { at: 'key', message, suggestion: 'remove "rollout"' })];
  }
  if (!isSourceKnown(select, job)) return [];
  const fault = (source: string | undefined, path: (string | number)[]): Diagnostic[] => {
    const found =
      source === undefined
        ? undefined
        : expressionFault(() => compileWhereOf(job, selectedOf(select), source));
    return found ? [place(['rollout', ...path], found)] : [];
  };
  return [
    ...(rollout.batches ?? []).flatMap((batch, i) =>
      batch && 'where' in batch ? fault(batch.where, ['batches', i, 'where']) : [],
    ),
    ...fault(rollout.healthy, ['healthy']),
  ];
}
