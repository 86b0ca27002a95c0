/** Checks `record` of a policy: its texts, and whether its job has something that can be recorded on a site. */
import type { AnyJob } from '../job/job.ts';
import { haveSite, sourceOf } from '../job/source.ts';
import type { Diagnostic } from '../yaml/diagnostic.ts';
import {
  expressionFault,
  isSourceKnown,
  type PartialSelect,
  type Place,
  selectedOf,
} from './check-select.ts';
import type { PolicyEntry } from './policy-file.ts';
import { textFault } from './record-texts.ts';
import { compileWhereOf } from './where.ts';

/** Everything that is wrong with `record`. */
export function recordFindings(
  { record, select = {} }: { record?: PolicyEntry['record']; select?: PartialSelect },
  job: AnyJob | undefined,
  place: Place,
): Diagnostic[] {
  if (!record) return [];
  const texts = Object.entries(record.custom_work ?? {}).flatMap(([key, source]) => {
    const fault = textFault(source ?? '', key as 'title' | 'description');
    return fault ? [place(['record', 'custom_work', key], fault)] : [];
  });
  const useless = job && uselessness(select, job);
  if (useless === undefined) return texts;
  const remark = { at: 'key', message: useless, suggestion: 'remove "record"' } as const;
  return [place(['record'], remark), ...texts];
}

function uselessness(select: PartialSelect, job: AnyJob): string | undefined {
  if (job.reportsSelection) return `The job ${job.name} changes nothing, so there is nothing to record.`;
  if (!isSourceKnown(select, job)) return undefined;
  const source = sourceOf(job, selectedOf(select));
  if (haveSite(source)) return undefined;
  return `Items of ${source.from} do not belong to a site, so nothing can be recorded.`;
}

// Checks `rollout` of a policy: its conditions, and whether its job has anything to roll out.

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
