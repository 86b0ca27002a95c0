/** A plan as the page of a policy shows it. */
import type { Preview } from '../../engine/plan/preview.ts';
import type { Policy } from '../../policy/policy.ts';
import type { StoredPreview } from '../../records/preview-store.ts';

/** What is stored of a plan that `by` made at `at`. */
export function planToShow(
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
