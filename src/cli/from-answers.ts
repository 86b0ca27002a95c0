/** Reads the public forms of pauses, freezes and kept policies back, so that they are shown in the same words. */
import type { FreezeAnswer } from '../control/answers.ts';
import type { Freeze } from '../records/freeze-store.ts';
import type { Pause } from '../records/policy-store.ts';
import type { PolicyReport } from '../schedule/policy-report.ts';
import { parseDuration } from '../yaml/duration.ts';
import type { ShownKept } from './effective-policies.ts';

export const pauseIn = ({ at, by, reason, until }: NonNullable<PolicyReport['paused']>): Pause => ({
  at: Date.parse(at),
  by,
  ...(reason === null ? {} : { reason }),
  ...(until === null ? {} : { until: Date.parse(until) }),
});

export const freezeIn = ({ id, by, since, until, reason, rule, ...scope }: FreezeAnswer): Freeze => {
  const parts = Object.fromEntries(Object.entries(scope).filter(([, value]) => value !== null));
  return {
    by,
    at: Date.parse(since),
    until: Date.parse(until),
    ...(id === null ? {} : { id, scope: parts }),
    ...(reason === null ? {} : { reason }),
    ...(rule ? { rule: { ...rule, forMs: parseDuration(rule.for) ?? 0 } } : {}),
  };
};

export const keptIn = (
  name: string,
  { file, error, broken_since, read_at }: NonNullable<PolicyReport['kept']>,
): ShownKept => ({
  name,
  file,
  error,
  brokenSince: Date.parse(broken_since),
  readAt: Date.parse(read_at),
});
