/**
 * Compares the number of targets with that of the policy's last runs (`limits.max_change`). A selection that suddenly
 * shrinks or grows is more often a mistake than work: a filter that no longer means anything, a list that changed.
 */
import type { AnyJob } from '../../job/job.ts';
import type { Policy, Threshold } from '../../policy/policy.ts';
import type { Run, Trigger } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import type { PlanDeps } from '../deps.ts';
import { isWhole } from '../job-api.ts';
import { isGrave } from './selection.ts';

/** How many earlier runs are compared, among this many. */
const MAX_COMPARED = 5;

const LOOK_BACK = 50;

/** For work that deletes or mails, unless its policy says otherwise. */
const DEFAULT_CHANGE = { percent: 50 } as const;

/** Without `max_change` in the policy, a difference of so few targets stops no run: small numbers vary. */
const FREE_TARGETS = 10;

/** Runs that no one started: no one has looked at their plan. */
const unattended: ReadonlySet<Trigger> = new Set(['schedule', 'catch-up', 'after']);

export const isUnattended = ({ trigger }: Pick<Run, 'trigger'>): boolean => unattended.has(trigger);

/**
 * A message when a plan with this many targets changes the selection by more than the policy allows: it is compared with
 * the largest and the smallest of the last five whole runs of the same version of the policy. Costs no request.
 */
export async function excessiveChange(
  { records }: Pick<PlanDeps, 'records'>,
  policy: Policy,
  job: AnyJob,
  targets: number,
): Promise<string | undefined> {
  const { maxChange = isGrave(job, policy) ? DEFAULT_CHANGE : 'none' } = policy.limits;
  if (maxChange === 'none') return undefined;
  const earlier = await earlierSizes(records, policy);
  const free = policy.limits.maxChange === undefined ? FREE_TARGETS : 0;
  if (!isExcessive(targets, earlier, maxChange, free)) return undefined;
  const [least, most] = [Math.min(...earlier), Math.max(...earlier)];
  const had = least === most ? String(least) : `${least} to ${most}`;
  const bound = 'percent' in maxChange ? `${maxChange.percent}%` : countOf(maxChange.count, 'target');
  const runs = earlier.length === 1 ? 'the run before had' : `the last ${earlier.length} runs had`;
  return `The plan has ${countOf(targets, 'target')} and ${runs} ${had}, a change of more than ${bound} (limits.max_change).`;
}

/** What a person is to do about it. */
export const startedByPerson = (policy: string): string =>
  `Look at "caretaker plan ${policy}"; if it is right, "caretaker run ${policy}" carries it out.`;

/** Whether a number is further outside those of earlier runs than a bound. */
export function isExcessive(
  targets: number,
  earlier: readonly number[],
  bound: Threshold,
  free: number,
): boolean {
  if (earlier.length === 0) return false;
  const [least, most] = [Math.min(...earlier), Math.max(...earlier)];
  const nearest = Math.min(Math.max(targets, least), most);
  const change = Math.abs(targets - nearest);
  const allowed = 'percent' in bound ? (nearest * bound.percent) / 100 : bound.count;
  return change > Math.max(allowed, free);
}

/** How many targets the last whole runs of this version of the policy had, the newest first. */
async function earlierSizes(records: PlanDeps['records'], policy: Policy): Promise<number[]> {
  const sizes: number[] = [];
  for (const run of await records.runs.ofVersion(policy, { limit: 3 * MAX_COMPARED, among: LOOK_BACK })) {
    if (run.account === policy.account && run.plan && (await isWhole(records, run)))
      sizes.push(run.plan.targets);
    if (sizes.length === MAX_COMPARED) break;
  }
  return sizes;
}
