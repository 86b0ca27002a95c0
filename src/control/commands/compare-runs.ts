/** Compares a run with an earlier one of its policy, target by target. */
import { z } from 'zod';
import { DAY_MS } from '../../dates.ts';
import type { Records } from '../../records/records.ts';
import { RunSummary, toSummary } from '../../run/report.ts';
import { outcomes, type Run, type Target } from '../../run/run.ts';
import { parseDuration } from '../../yaml/duration.ts';
import { defineCommand } from '../command.ts';
import { InvalidRequestError, NotFoundError } from '../errors.ts';
import { runId } from '../fields.ts';
import { runOf, subjectOfRun } from '../runs.ts';

/** How a target differs, the gravest first. */
export const changes = {
  'newly-failed': 'failed, and did not before',
  'failed-again': 'failed, as before',
  recovered: 'succeeded, and failed before',
  'left-out': 'was skipped or cancelled, and failed before',
  slower: 'took more than twice as long',
  added: 'was not in the other run',
  removed: 'was only in the other run',
} as const;
export type Change = keyof typeof changes;
const order = Object.keys(changes) as Change[];

/** A target is slower when it took more than twice as long, and at least so much longer. */
const SLOWER_MS = 10_000;
/** How many targets that differ are listed. */
const MAX_LISTED = 500;
/** For a run some time before: at most this far from that time. */
const MAX_OFF_MS = DAY_MS / 2;
/** How many runs are looked at for it, at once and in all. */
const PAGE = 50;
const MAX_LOOKED = 2_000;

interface Ended {
  outcome: NonNullable<Target['outcome']>;
  reason: string;
  /** From its first dispatch; missing for one that was never dispatched. */
  ms?: number;
}

interface ComparedTarget {
  id: string;
  label: string;
  change: Change;
  now?: Ended;
  before?: Ended;
}

export interface Comparison {
  run: Run;
  other: Run;
  counts: Record<Change | 'same', number>;
  /** The first ones, by change. */
  targets: ComparedTarget[];
}

type Reading = Pick<Records, 'runs' | 'targets'>;

/** The run that is meant. @throws {InvalidRequestError} {NotFoundError} */
async function otherOf({ runs }: Reading, run: Run, wanted: string | undefined): Promise<Run> {
  const { policy, account } = run;
  const beforeMs = wanted === undefined ? 0 : parseDuration(wanted);
  if (beforeMs === undefined) {
    const other = await runs.get(wanted ?? '');
    if (other?.policy === policy && other.account === account && other.id !== run.id) return other;
    throw new InvalidRequestError(
      `"${wanted}" is no other run of ${policy} in the account ${account}, and no duration such as 7d.`,
    );
  }
  const nearest = await nearestTo(runs, run, beforeMs);
  if (nearest) return nearest;
  throw new NotFoundError(
    beforeMs === 0
      ? `There is no earlier run of ${policy} with targets.`
      : `There is no run of ${policy} with targets within 12 h of ${wanted} before this one.`,
  );
}

/** The run with targets that is nearest to some time before; 0: the one before. Retries are left out. */
async function nearestTo(runs: Reading['runs'], run: Run, beforeMs: number): Promise<Run | undefined> {
  const at = run.createdAt - beforeMs;
  const within =
    beforeMs > 0
      ? { since: at - MAX_OFF_MS, until: Math.min(run.createdAt, at + MAX_OFF_MS) }
      : { until: at };
  const off = ({ createdAt }: Run) => Math.abs(createdAt - at);
  const isMeant = ({ account, counts, retryOf }: Run) =>
    account === run.account && counts.planned > 0 && retryOf === undefined;
  let [nearest, after]: (Run | undefined)[] = [];
  for (let looked = 0; looked < MAX_LOOKED; looked += PAGE) {
    const page = await runs.list({ policy: run.policy, ...within, after, limit: PAGE });
    for (const one of page.filter(isMeant)) if (!nearest || off(one) < off(nearest)) nearest = one;
    after = page.at(-1);
    // The others are farther away.
    if (page.length < PAGE || (nearest && (after?.createdAt ?? 0) < at)) break;
  }
  return nearest;
}

const endedOf = ({ outcome, reason = '', startedAt, finishedAt }: Target): Ended | undefined =>
  outcome && {
    outcome,
    reason,
    ...(startedAt === undefined || finishedAt === undefined ? {} : { ms: finishedAt - startedAt }),
  };

/** Undefined: as before. One that has not ended is not compared. */
function changeOf(now: Ended | undefined, before: Ended | undefined): Change | undefined {
  if (!now) return before && 'removed';
  if (now.outcome === 'failed') return before?.outcome === 'failed' ? 'failed-again' : 'newly-failed';
  if (!before) return 'added';
  if (before.outcome === 'failed') return now.outcome === 'succeeded' ? 'recovered' : 'left-out';
  const [ms, msBefore] = [now.ms ?? 0, before.ms ?? Number.POSITIVE_INFINITY];
  const isSlower = ms > 2 * msBefore && ms - msBefore >= SLOWER_MS;
  return isSlower && now.outcome === 'succeeded' && before.outcome === 'succeeded' ? 'slower' : undefined;
}

async function compare(
  { targets }: Reading,
  run: Run,
  other: Run,
): Promise<Omit<Comparison, 'run' | 'other'>> {
  const known = new Map<string, { label: string; before: Ended | undefined }>();
  for await (const target of targets.all(other.id))
    known.set(target.id, { label: target.label, before: endedOf(target) });
  const counts = Object.fromEntries([...order, 'same'].map((one) => [one, 0])) as Comparison['counts'];
  const found = new Map<Change, ComparedTarget[]>(order.map((one) => [one, []]));
  const note = (id: string, label: string, now: Ended | undefined, before: Ended | undefined) => {
    const change = changeOf(now, before);
    counts[change ?? 'same'] += 1;
    const listed = change && found.get(change);
    if (listed && listed.length < MAX_LISTED)
      listed.push({ id, label, change, ...(now ? { now } : {}), ...(before ? { before } : {}) });
  };
  for await (const target of targets.all(run.id)) {
    const now = endedOf(target);
    if (now) note(target.id, target.label, now, known.get(target.id)?.before);
    known.delete(target.id);
  }
  for (const [id, { label, before }] of known) if (before) note(id, label, undefined, before);
  return { counts, targets: [...found.values()].flat().slice(0, MAX_LISTED) };
}

const EndedAnswer = z
  .object({ outcome: z.enum(outcomes), reason: z.string(), ms: z.number().nullable() })
  .nullable();
/** A target that differs, as the answer has it. */
export interface TargetDifference {
  id: string;
  label: string;
  change: Change;
  now: EndedReport | null;
  before: EndedReport | null;
}
type EndedReport = z.output<typeof EndedAnswer> & object;

const toEnded = (ended: Ended | undefined) => (ended ? { ...ended, ms: ended.ms ?? null } : null);

export const compareRuns = defineCommand()({
  name: 'runs.compare',
  summary:
    'Compares a run with an earlier one of its policy: which targets newly failed, recovered, failed again or took longer.',
  role: 'viewer',
  reads: true,
  path: '/runs/{run}/compare',
  input: z.strictObject({
    run: runId,
    with: z
      .string()
      .min(1)
      .max(300)
      .optional()
      .describe(
        'The id of the other run of the policy, or a duration: 7d is the run a week before. Default: the run before.',
      ),
  }),
  subject: subjectOfRun,
  async carryOut({ run: id, with: wanted }, deps): Promise<Comparison & { at: number }> {
    const run = await runOf(deps, id);
    const other = await otherOf(deps.records, run, wanted);
    return { run, other, at: deps.clock.now(), ...(await compare(deps.records, run, other)) };
  },
  answer: z.object({
    run: RunSummary,
    other: RunSummary,
    counts: z
      .object(Object.fromEntries([...order, 'same'].map((one) => [one, z.int()])))
      .describe('How many targets differ in which way. A target that has not ended is not compared.'),
    targets: z
      .array(
        z.object({
          id: z.string(),
          label: z.string(),
          change: z.enum(order),
          now: EndedAnswer.describe('How it ended in the run; null: it is not in it.'),
          before: EndedAnswer.describe('How it ended in the other run.'),
        }),
      )
      .describe(`The targets that differ, the gravest first, at most ${MAX_LISTED}.`),
  }),
  toAnswer: ({ run, other, counts, targets, at }) => ({
    run: toSummary(run, at),
    other: toSummary(other, at),
    counts,
    targets: targets.map(({ now, before, ...one }) => ({
      ...one,
      now: toEnded(now),
      before: toEnded(before),
    })),
  }),
});

/** `2 newly failed, 1 recovered, and 37 as before`. */
export function formatComparison(counts: Comparison['counts']): string {
  const parts = order.flatMap((one) => (counts[one] ? [`${counts[one]} ${one.replace('-', ' ')}`] : []));
  return [...parts, `${counts.same} as before`].join(', ');
}
