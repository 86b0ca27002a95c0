/** The plans that people asked for on the page of a policy: work of its own, which takes as long as the service takes. */
import { carryOut } from '../../control/carry-out.ts';
import { planPolicy } from '../../control/commands/plan-policy.ts';
import type { Preview } from '../../engine/plan/preview.ts';
import { CaretakerError } from '../../errors.ts';
import type { Policy } from '../../policy/policy.ts';
import type { StoredPreview } from '../../records/preview-store.ts';
import type { actorOf } from '../auth/caller.ts';
import type { DashboardContext } from '../http/context.ts';

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

/** What is stored of a plan that `by` made at `at`. */
function planToShow(
  preview: Preview,
  { hash }: Pick<Policy, 'hash'>,
  { at, by }: { at: number; by: string },
): StoredPreview {
  const { list, targets, ended, excluded, batches = [], approval, warnings, stoppedBy, spreadMs } = preview;
  const { planning, acting, following, pastRuns, atLeastMs, takesMs, runsBeside } = preview.cost;
  return {
    ...{ at, by, hash, list },
    counts: { targets: targets.length, settled: ended.length, excluded: excluded.length },
    targets: targets.map(({ id, label, plan, ...requests }) => ({
      id,
      label,
      does: plan ?? doesOf(requests),
    })),
    settled: ended.map(({ id, label, outcome, why }) => ({ id, label, outcome, why })),
    excluded: excluded.map(({ id, label, why }) => ({ id, label, why })),
    reasons: reasonsOf(excluded),
    batches: batches.map(({ takes, targets: count }) => ({ takes, targets: count })),
    ...(approval
      ? {
          approval: {
            why: approval.why,
            by: [...approval.by],
            expiresMs: approval.expiresMs,
            separate: approval.separate ?? false,
            eachBatch: approval.eachBatch ?? false,
          },
        }
      : {}),
    warnings,
    ...(stoppedBy === undefined ? {} : { stoppedBy }),
    ...(spreadMs === undefined ? {} : { spreadMs }),
    ...(preview.recording
      ? { recording: { sites: preview.recording.sites, requests: preview.recording.requests } }
      : {}),
    cost: { planning, acting, following, pastRuns, atLeastMs, takesMs, runsBeside },
  };
}

type Requested = { requests: readonly { operation: string }[]; more?: string } | { unknown: string };

/** `createSiteNote, syncSite`: the operations in their order. */
function doesOf(requested: Requested): string {
  if ('unknown' in requested) return `Not known: ${requested.unknown}`;
  const operations = requested.requests.map(({ operation }) => operation).join(', ');
  const { more } = requested;
  if (more !== undefined) return `${operations}; then not known: ${more}`;
  return operations === '' ? 'No request' : operations;
}

/** The most frequent first. */
function reasonsOf(excluded: readonly { why: string }[]): StoredPreview['reasons'] {
  const counts = new Map<string, number>();
  for (const { why } of excluded) counts.set(why, (counts.get(why) ?? 0) + 1);
  return [...counts].map(([why, count]) => ({ why, count })).sort((a, b) => b.count - a.count);
}
