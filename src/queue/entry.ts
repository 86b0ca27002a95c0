/** What an entry holds, what it is called, and what its handler reports of it. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { redact, scrub, scrubOnce } from '../secrets.ts';

/**
 * Plan a run, or act on targets of it that were dispatched together; `fence` identifies the dispatch of a target. Or
 * attempt a delivery to a receiver, which is due since then.
 */
export const Entry = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('plan'), run: z.string() }),
  z.object({
    kind: z.literal('act'),
    run: z.string(),
    targets: z.array(z.object({ id: z.string(), fence: z.number() })),
  }),
  z.object({
    kind: z.literal('deliver'),
    delivery: z.string(),
    since: z.number(),
    to: z.string(),
  }),
]);
export type Entry = z.output<typeof Entry>;

/** The result of an entry, for people who look at the queue. Nothing depends on it. */
export interface Report {
  result: Readonly<Record<string, string | number | undefined>>;
  /** A sentence each. */
  log: readonly string[];
}

/** What is stored of a report, without secrets: one value with the end of the entry, which costs no other command. */
export const storableReport = ({ result, log }: Report): object =>
  redact({ ...result, log }, scrubOnce) as object;

/** What people see in a list: the policy, which run ids begin with, and the target. */
export function nameOf(entry: Entry): string {
  if (entry.kind === 'deliver') return scrub(`delivery ${entry.delivery}`);
  const policy = entry.run.split('.', 1)[0] ?? entry.run;
  if (entry.kind === 'plan') return scrub(`${policy}: plan`);
  const [first, ...others] = entry.targets;
  return scrub(`${policy}: ${first?.id}${others.length === 0 ? '' : ` and ${others.length} more`}`);
}

/**
 * Equal entries have equal keys. Not their ids: an entry that was kept after its end would prevent the same work
 * from being added again.
 */
export function keyOf(entry: Entry): string {
  if (entry.kind === 'plan') return `plan.${entry.run}`;
  if (entry.kind === 'deliver') return `deliver.${entry.delivery}.${entry.since}`;
  const targets = JSON.stringify(entry.targets.map(({ id, fence }) => [id, fence]));
  return `act.${entry.run}.${createHash('sha1').update(targets).digest('hex')}`;
}
