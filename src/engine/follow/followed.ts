/** A target whose work in the service is followed, and what a verdict on that work makes of it. Pure. */
import type { End } from '../../job/answer.ts';
import type { Verdict } from '../../job/watch/watch.ts';
import type { Run, Target, TargetIn, Watch } from '../../run/run.ts';
import { concluded, continued, stillUnderWay, taskCancelled } from '../act/decide.ts';

/** A target in flight with the run it belongs to. */
export interface Followed {
  run: Run;
  target: TargetIn<'following'>;
  watch: Watch;
}

/** What was found out about followed work. */
export interface Evaluated {
  one: Followed;
  verdict: Verdict;
}

/** Whether work ended badly, and its list does not say why. */
export const lacksDetail = (verdict: Verdict): boolean =>
  verdict.is === 'failed' && verdict.detail === undefined;

/** The end that a verdict comes to; nothing for work that goes on and may. */
export function endBy(one: Followed, verdict: Verdict, at: number): End | undefined {
  if (verdict.is !== 'running' && verdict.is !== 'unclear') return verdict;
  return isLate(one, at) ? { is: 'failed', reason: 'timeout', detail: stillUnderWay(one.watch) } : undefined;
}

/** What becomes of a target whose followed work has ended. */
export function endOf(target: TargetIn<'following'>, verdict: End, at: number): Target {
  if (target.taskCancel && verdict.reason === 'task-cancelled') return taskCancelled(target, at);
  return target.continues ? continued(target, verdict) : concluded(target, verdict, at);
}

/** Whether work is followed no longer, by the wish of its job; the target's own time limit comes besides. */
export const isLate = ({ watch }: Pick<Followed, 'watch'>, now: number): boolean =>
  watch.until !== undefined && now >= watch.until;

export const isLost = ({ target }: Pick<Followed, 'target'>): boolean => target.lostAt !== undefined;

export function partition<T>(all: readonly T[], goesFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(goesFirst), all.filter((one) => !goesFirst(one))];
}

export const nameOf = ({ run, target }: Followed): string => `${run.id}/${target.id}`;

/** The run that a sweep's requests are counted on: the one with most in flight. */
export function mostConcerned(followed: readonly Followed[]): string {
  const counts = new Map<string, number>();
  for (const { run } of followed) counts.set(run.id, (counts.get(run.id) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
}
