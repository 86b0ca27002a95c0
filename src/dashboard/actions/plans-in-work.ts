/** The plans that people asked for on the page of a policy: work of its own, which takes as long as the service takes. */
import { carryOut } from '../../control/carry-out.ts';
import { planPolicy } from '../../control/commands/plan-policy.ts';
import { CaretakerError } from '../../errors.ts';
import type { Policy } from '../../policy/policy.ts';
import type { actorOf } from '../auth/caller.ts';
import type { DashboardContext } from '../http/context.ts';
import { planToShow } from '../queries/plan-to-show.ts';

/** Begins to plan, unless a person has begun already. Resolves when the plan is stored, or with why it could not be made. */
export async function beginPlan(
  context: DashboardContext,
  policy: Policy,
  actor: ReturnType<typeof actorOf>,
): Promise<number | undefined> {
  const { control, clock, plansInWork, livePages, log } = context;
  const { name } = policy;
  const before = plansInWork.get(name);
  if (before && before.failed === undefined) return undefined;
  const begun = { at: clock.now(), by: actor.principal.name };
  plansInWork.set(name, begun);
  try {
    const preview = await carryOut(planPolicy, control, { policy: name }, actor);
    await control.records.previews.keep(name, planToShow(preview, policy, { ...begun, at: clock.now() }));
    plansInWork.delete(name);
    return preview.targets.length;
  } catch (error) {
    if (!(error instanceof CaretakerError)) log.error({ err: error, policy: name }, 'a plan failed');
    const failed = error instanceof CaretakerError ? error.message : 'the log of the daemon has the error';
    plansInWork.set(name, { ...begun, failed });
    throw error;
  } finally {
    livePages.renew();
  }
}
