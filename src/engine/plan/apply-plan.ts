/** Starts the run that applies a saved plan. */
import { type Clock, isoMinute } from '../../clock.ts';
import { CaretakerError } from '../../errors.ts';
import type { Registry } from '../../job/registry.ts';
import type { Policy } from '../../policy/policy.ts';
import { jobOf } from '../../policy/policy-job.ts';
import { isFinal } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import type { EngineDeps } from '../deps.ts';
import { type Firing, fire } from '../fire.ts';
import { policyIn, type SavedPlan, SavedPlanError } from './saved-plan.ts';

/** The plan was applied before: a plan makes one run. */
export class AlreadyAppliedError extends CaretakerError {
  readonly code = 'ALREADY_APPLIED';
  constructor(readonly run: Run) {
    super(
      isFinal(run.status)
        ? `This plan was applied already: by the run ${run.id}, which ended ${run.status}. "caretaker runs show ${run.id}" shows it. To change more, plan again.`
        : `This plan was applied already, and its run ${run.id} is not over: it is ${run.status}. "caretaker runs resume ${run.id}" continues it.`,
    );
  }
}

/**
 * Creates the run of a saved plan. The same plan makes one run, however often and by however many processes it is
 * applied: the id of the run is made of the plan's hash.
 *
 * @throws {AlreadyAppliedError} {SavedPlanError} {FrozenError}; nothing is started then.
 */
export async function applyPlan(
  deps: EngineDeps,
  saved: SavedPlan,
  firing: Pick<Firing, 'startedBy' | 'ignoreFreeze'>,
  cancel: (run: Run) => Promise<void>,
): Promise<Run> {
  const { records, clock } = deps;
  const policy = await needApplicable(deps, saved);
  // Before the run: its planner finds them, whenever it starts. Without a run, they are forgotten after some weeks.
  await records.planned.save(saved.hash, targetsOf(saved));
  return fire(
    deps,
    policy,
    {
      ...firing,
      trigger: 'manual',
      scheduledFor: clock.now(),
      only: saved.targets.map((target) => target.id),
      applies: {
        run: runIdOf(saved),
        planHash: saved.hash,
        decidedAt: { at: Date.parse(saved.planned_at), serviceAt: Date.parse(saved.planned_at_service) },
        names: saved.names,
      },
    },
    cancel,
  );
}

/**
 * Checks whether a plan can be applied now, as far as our records and its file show. Gives its policy.
 *
 * @throws {AlreadyAppliedError} {SavedPlanError}
 */
export async function needApplicable(
  {
    records,
    clock,
    registry,
  }: Pick<EngineDeps, 'records'> & { clock: Pick<Clock, 'now'>; registry: Pick<Registry, 'get'> },
  saved: SavedPlan,
): Promise<Policy> {
  const policy = policyIn(saved, 'The plan');
  const now = clock.now();
  const before = await records.runs.get(runIdOf(saved));
  if (before) throw new AlreadyAppliedError(before);
  if (now > Date.parse(saved.expires_at))
    throw new SavedPlanError(
      `This plan has expired: it was made at ${isoMinute(saved.planned_at)} and could be applied until ${isoMinute(saved.expires_at)}. Plan again.`,
    );
  if (saved.targets.length === 0)
    throw new SavedPlanError('This plan has no targets: there is nothing to apply.');
  if (!jobOf(registry, policy))
    throw new SavedPlanError(`There is no job "${policy.job}" any more. Plan again.`);
  const overlap = policy.schedule?.overlap ?? 'skip';
  const [active] = await records.runs.active(policy.account, { policy: policy.name });
  if (active && overlap === 'skip')
    throw new SavedPlanError(
      `The plan was not applied: the run ${active.id} of the policy ${policy.name} is still ${active.status}. Apply the plan when it has ended.`,
    );
  return policy;
}

/** The policy, the time of the plan, and its hash: `core-updates.20261120T160000Z-plan-3f9a0c11d2e4`. */
export const runIdOf = ({ policy, planned_at, hash }: SavedPlan): string =>
  `${policy.name}.${planned_at.replace(/[-:]|\.\d+/g, '')}-plan-${hash.slice(0, 12)}`;

const targetsOf = ({ targets }: SavedPlan) =>
  new Map(
    targets.map(({ id, label, state, preconditions: facts, requests }) => [
      id,
      { label, ...(state === undefined ? {} : { jobState: state }), facts, requests },
    ]),
  );
