/**
 * Looks again at targets of a run that has its plan: a run that waited for people, or for its next batch. They were
 * stored with the facts that the plan rests on.
 */
import { createHash } from 'node:crypto';
import type { Run } from '../../run/run.ts';
import { canonicalJson } from '../../text.ts';
import { concluded } from '../act/decide.ts';
import { type EngineDeps, Spending } from '../deps.ts';
import { planningOf } from './planning-of-run.ts';
import { recheck } from './recheck.ts';

/** How many targets are read at once. */
const HASHED_AT_ONCE = 500;

/**
 * Looks again at targets that are not started, and ends those that have changed (`changed-since-plan`) or that a
 * freeze holds. Gives the ids of those that ended. To be called before they may be dispatched.
 *
 * Costs one request per 100 candidates of the policy, and what the job's preparation costs; counted for the run.
 *
 * @throws the client's errors. Nothing is ended then, or only some of the targets; the call may be repeated.
 */
export async function recheckTargets(
  deps: EngineDeps,
  run: Run,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<string[]> {
  const { records, clock } = deps;
  const { decidedAt } = run;
  const spent = new Spending();
  const planning = await planningOf(deps, run, { only: ids, spent, signal });
  if (!planning || !decidedAt || ids.length === 0) return [];
  const ended: string[] = [];
  try {
    const before = (some: readonly string[]) => records.planned.ofRun(run.id, some);
    for await (const { now: found } of recheck({ ...planning, only: ids }, decidedAt, before)) {
      if (found.is === 'target') continue;
      const [target] = await records.targets.many(run.id, [found.id]);
      if (target?.state !== 'pending') continue;
      const at = clock.now();
      if (await records.targets.move(run, concluded(target, found.end, at), { from: ['pending'], at }))
        ended.push(found.id);
    }
  } finally {
    await records.runs.countRequests(run.id, spent.take());
  }
  return ended;
}

/**
 * A hash over the plan of a run: its policy, its names, and each target with its state and the facts it rests on.
 * Who agrees to a plan agrees to this. Reads the targets page by page; costs no request.
 */
export async function planHashOf({ records }: Pick<EngineDeps, 'records'>, run: Run): Promise<string> {
  const hash = createHash('sha256').update(canonicalJson([run.policyJson, run.names ?? []]));
  for (let from = 0; ; from += HASHED_AT_ONCE) {
    const page = await records.targets.slice(run.id, from, HASHED_AT_ONCE);
    const ids = page.map(({ id }) => id);
    const planned = await records.planned.ofRun(run.id, ids);
    for (const { id, state, outcome, reason } of page) {
      // How a target ends meanwhile is no part of its plan.
      const known = planned.get(id) ?? { outcome, reason, state };
      hash.update(canonicalJson([id, known]));
    }
    if (page.length < HASHED_AT_ONCE) return hash.digest('hex');
  }
}
