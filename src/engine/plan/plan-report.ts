/** The public form of a preview: the JSON of `caretaker plan` and of `GET /api/v1/policies/{policy}/plan`. */
import type { Preview } from './preview.ts';

/** The public form of a preview. */
export function toPlanReport({
  policy,
  job,
  names,
  list,
  filters,
  targets,
  ended,
  unselected,
  excluded,
  spreadMs,
  recording,
  batches,
  approval,
  warnings,
  stoppedBy,
  cost,
}: Preview) {
  return {
    policy,
    job,
    names,
    list,
    filters: filters.map(({ where, ...filter }) => ({ ...filter, where: where ?? null })),
    targets: targets.map(({ id, label, plan, ...first }) => ({
      ...{ id, label, ...(plan === undefined ? {} : { plan }) },
      ...('requests' in first
        ? { requests: first.requests, unknown: first.more ?? null }
        : { requests: null, unknown: first.unknown }),
    })),
    settled: ended,
    unselected,
    excluded,
    spread_seconds: spreadMs === undefined ? null : spreadMs / 1000,
    recording: recording
      ? {
          sites: recording.sites,
          custom_work: recording.customWork ?? null,
          note: recording.note ? 'living' : null,
          requests: recording.requests,
        }
      : null,
    batches: batches ?? null,
    approval: approval
      ? {
          why: approval.why,
          destructive: approval.destructive ?? [],
          by: approval.by,
          expires_seconds: approval.expiresMs / 1000,
          separate: approval.separate ?? false,
          each_batch: approval.eachBatch ?? false,
        }
      : null,
    warnings,
    stopped_by: stoppedBy ?? null,
    cost: {
      planning: cost.planning,
      acting: cost.acting,
      following: cost.following,
      checks: cost.checks ?? 0,
      past_runs: cost.pastRuns,
      at_least_seconds: cost.atLeastMs / 1000,
      takes_seconds: Math.round(cost.takesMs / 1000),
      runs_beside: cost.runsBeside,
      other_clients_per_minute: cost.othersPerMinute ?? null,
    },
  };
}

export type PlanReport = ReturnType<typeof toPlanReport>;

/** Reads the public form back, so that what a server planned is shown as what was planned on this machine. */
export function toPreview({
  filters,
  targets,
  settled,
  spread_seconds: spread,
  recording,
  batches,
  approval,
  stopped_by: stoppedBy,
  cost,
  ...same
}: PlanReport): Preview {
  return {
    ...same,
    filters: filters.map(({ where, ...filter }) => ({ ...filter, ...(where === null ? {} : { where }) })),
    targets: targets.map(({ requests, unknown, ...target }) => ({
      ...target,
      ...(requests === null
        ? { unknown: unknown ?? '' }
        : { requests, ...(unknown === null ? {} : { more: unknown }) }),
    })),
    ended: settled,
    ...(spread === null ? {} : { spreadMs: spread * 1000 }),
    ...(recording
      ? {
          recording: {
            sites: recording.sites,
            requests: recording.requests,
            ...(recording.note === null ? {} : { note: true as const }),
            ...(recording.custom_work === null ? {} : { customWork: recording.custom_work }),
          },
        }
      : {}),
    ...(batches ? { batches } : {}),
    ...(approval
      ? {
          approval: {
            why: approval.why,
            by: approval.by,
            expiresMs: approval.expires_seconds * 1000,
            ...(approval.destructive.length > 0 ? { destructive: approval.destructive } : {}),
            ...(approval.separate ? { separate: true as const } : {}),
            ...(approval.each_batch ? { eachBatch: true as const } : {}),
          },
        }
      : {}),
    ...(stoppedBy === null ? {} : { stoppedBy }),
    cost: {
      planning: cost.planning,
      acting: cost.acting,
      following: cost.following,
      ...(cost.checks === 0 ? {} : { checks: cost.checks }),
      pastRuns: cost.past_runs,
      atLeastMs: cost.at_least_seconds * 1000,
      takesMs: cost.takes_seconds * 1000,
      runsBeside: cost.runs_beside,
      ...(cost.other_clients_per_minute === null ? {} : { othersPerMinute: cost.other_clients_per_minute }),
    },
  };
}
