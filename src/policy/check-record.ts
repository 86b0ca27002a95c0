/** Checks `record` of a policy: its texts, and whether its job has something that can be recorded on a site. */
import type { AnyJob } from '../job/job.ts';
import { haveSite } from '../job/site-of-item.ts';
import { sourceOf } from '../job/source.ts';
import type { Diagnostic } from '../yaml/diagnostic.ts';
import { isSourceKnown, type PartialSelect, type Place, selectedOf } from './check-select.ts';
import type { PolicyEntry } from './policy-file.ts';
import { textFault } from './record-texts.ts';

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
