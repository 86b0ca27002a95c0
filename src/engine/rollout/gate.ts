/**
 * The gate between two batches: whether the targets that are done did well enough for the next batch.
 *
 * Nothing is stored before the answer is complete, so a gate whose process dies is asked again.
 */
import { ExpressionError } from '../../expression/expression.ts';
import { orNotShown } from '../../expression/fields.ts';
import type { CandidateList } from '../../job/candidates.ts';
import { isList } from '../../job/candidates.ts';
import type { AnyJob, Items } from '../../job/job.ts';
import { sourceOf } from '../../job/source.ts';
import type { Policy } from '../../policy/policy.ts';
import { compileWhereOf } from '../../policy/where.ts';
import { coreReasonText } from '../../run/reasons.ts';
import { failuresAllowed, type Gate, type Seen } from '../../run/rollout.ts';
import type { Run, Target } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { type EngineDeps, policyOf, Spending } from '../deps.ts';
import { RolloutError } from '../errors.ts';
import { createIdentify, prepareEvaluating, toolsOf } from '../plan/candidates.ts';
import { Joined } from '../plan/joined.ts';
import { listCandidates, withinParent } from '../plan/listing.ts';
import type { Planning } from '../plan/planning.ts';
import { planningOf } from '../plan/planning-of-run.ts';

/** How many targets of a gate are recorded, those that did not do well first. */
const MAX_SEEN = 500;

/** What a gate saw. */
export interface Asked {
  gate: Gate;
  seen: Seen[];
}

/**
 * Asks the gate after the batches that have begun. Too many failures close it without a request. `healthy` costs one
 * request per 100 items of the list; with ten targets or fewer, one for each.
 *
 * @throws the client's errors.
 */
export async function askGate(deps: EngineDeps, run: Run, signal: AbortSignal): Promise<Asked> {
  const policy = policyOf(run);
  const { rollout } = policy;
  if (!rollout) throw new Error(`The policy ${run.policy} has no rollout.`);
  const done: Target[] = [];
  for await (const target of deps.records.targets.all(run.id))
    if (target.batch !== undefined && (target.outcome === 'succeeded' || target.outcome === 'failed'))
      done.push(target);
  const failed = done.filter(({ outcome }) => outcome === 'failed');
  const at = () => deps.clock.now();
  const facts = { done: done.length, failed: failed.length };
  const seenFailed = failed.map(failedAs);
  const allowed = failuresAllowed(rollout.maxFailed, done.length);
  if (failed.length > allowed) {
    const limit = 'percent' in rollout.maxFailed ? `${rollout.maxFailed.percent}%` : rollout.maxFailed.count;
    const why = `${failed.length} of ${countOf(done.length, 'target')} failed, and rollout.max_failed is ${limit}.`;
    return { gate: { at: at(), is: 'closed', ...facts, why }, seen: seenFailed.slice(0, MAX_SEEN) };
  }
  if (rollout.healthy === undefined) {
    const why = `${failed.length} of ${countOf(done.length, 'target')} failed.`;
    return { gate: { at: at(), is: 'open', ...facts, why }, seen: seenFailed.slice(0, MAX_SEEN) };
  }
  const health = await readHealth(deps, run, policy, rollout.healthy, done, signal);
  const seen = [...done.map((target) => health.get(target.id) ?? missing(target))];
  const bad = seen.filter(({ is }) => is !== 'healthy');
  const why =
    bad.length === 0
      ? `${failed.length} of ${countOf(done.length, 'target')} failed, and all are healthy.`
      : `${bad.length} of ${countOf(done.length, 'target')} ${bad.length === 1 ? 'is' : 'are'} not healthy (rollout.healthy): ${bad[0]?.label}${bad.length > 1 ? ', ...' : ''}.`;
  const others = seenFailed.filter(({ id }) => !bad.some((one) => one.id === id));
  return {
    gate: { at: at(), is: bad.length === 0 ? 'open' : 'closed', ...facts, unhealthy: bad.length, why },
    seen: [
      ...bad,
      ...others,
      ...seen.filter(({ is, id }) => is === 'healthy' && !others.some((one) => one.id === id)),
    ].slice(0, MAX_SEEN),
  };
}

const failedAs = ({ id, label, reason, detail }: Target): Seen => {
  const why = detail ?? (reason === undefined ? undefined : (coreReasonText(reason) ?? reason));
  return { id, label, is: 'failed', ...(why === undefined ? {} : { why }) };
};

const missing = ({ id, label }: Target): Seen => ({
  id,
  label,
  is: 'unknown',
  why: 'The list does not show it.',
});

/** Whether the condition holds for each of these targets, as the service shows them now. */
async function readHealth(
  deps: EngineDeps,
  run: Run,
  policy: Policy,
  healthy: string,
  done: readonly Target[],
  signal: AbortSignal,
): Promise<Map<string, Seen>> {
  const spent = new Spending();
  const known = await planningOf(deps, run, { only: done.map(({ id }) => id), spent, signal });
  if (!known) throw new RolloutError(`There is no job "${run.job}" any more.`);
  const { where: _where, limit: _limit, sort: _sort, ...select } = policy.select;
  // As in a retry, the targets are read whatever the policy selects now.
  const planning: Planning = { ...known, policy: { ...policy, select }, retry: true };
  try {
    return await healthOf(planning, known.job, healthy, new Map(done.map((target) => [target.id, target])));
  } finally {
    await deps.records.runs.countRequests(run.id, spent.take());
  }
}

async function healthOf(
  planning: Planning,
  job: AnyJob,
  healthy: string,
  wanted: ReadonlyMap<string, Target>,
): Promise<Map<string, Seen>> {
  const { select } = planning.policy;
  const condition = compileWhereOf(job, select, healthy);
  const { from, subject, parent: of } = sourceOf(job, select);
  const identify = createIdentify(planning);
  const prepared = job.relate ? (await prepareEvaluating(planning)).prepared : undefined;
  const joined = await Joined.read(planning);
  const tools = toolsOf(planning);
  const found = new Map<string, Seen>();
  for await (const listed of listCandidates(planning, tools)) {
    if (listed.is !== 'candidate') continue;
    const { item, parent } = listed;
    const target = wanted.get(identify(item, parent).id);
    if (!target || found.has(target.id)) continue;
    const now = new Date(await tools.serviceNow());
    const test = (candidate: unknown) =>
      orNotShown(() => {
        const own: Items = { ...(of && parent ? { [of.subject]: parent.item } : {}), [subject]: candidate };
        const related = job.relate?.(candidate as never, prepared as never);
        return condition.test({ ...related, ...own, ...joined.partnersOf(own) }, now);
      });
    found.set(
      target.id,
      await healthFound(target, healthy, async () => {
        const shown = test(item);
        if (typeof shown === 'boolean' || !isList(from)) return shown;
        const within = select.forEach && parent ? withinParent(select.forEach, parent) : {};
        return test(await tools.complete(from as CandidateList, item, within));
      }),
    );
    if (found.size === wanted.size) break;
  }
  return found;
}

async function healthFound(
  { id, label }: Target,
  healthy: string,
  test: () => Promise<boolean | Error>,
): Promise<Seen> {
  try {
    const holds = await test();
    if (holds === true) return { id, label, is: 'healthy' };
    if (holds === false) return { id, label, is: 'unhealthy', why: `Does not hold: ${healthy}` };
    return { id, label, is: 'unknown', why: holds.message };
  } catch (error) {
    if (error instanceof ExpressionError) return { id, label, is: 'unknown', why: error.message };
    throw error;
  }
}
