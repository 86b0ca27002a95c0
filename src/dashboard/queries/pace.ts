/** How fast the targets of a run end. */
import { endedCount, isFinal } from '../../run/moves.ts';
import type { Reason } from '../../run/reasons.ts';
import type { Outcome, Run, Target } from '../../run/run.ts';
import type { Reader } from './reader.ts';

/** The end of a target. */
export interface End {
  at: number;
  outcome: Outcome;
  reason?: Reason | undefined;
  /** Whether it was worked on; others ended when the run was planned, or were never started. */
  worked: boolean;
}

/** The ends are read for runs of at most this many targets: some ten round trips. */
export const MAX_ENDS = 2_000;
const CHUNK = 500;
const WINDOW_MS = 10 * 60_000;

/** When each target ended; undefined for a run that is too large for that. */
export async function readEnds(reader: Pick<Reader, 'targets'>, run: Run): Promise<End[] | undefined> {
  if (run.counts.planned > MAX_ENDS) return undefined;
  const ends: End[] = [];
  for (let from = 0; from < run.counts.planned; from += CHUNK) {
    const { targets } = await reader.targets(run.id, { from, limit: CHUNK });
    ends.push(...targets.flatMap(endOf));
    if (targets.length < CHUNK) break;
  }
  return ends;
}

const endOf = ({ outcome, reason, finishedAt, startedAt }: Target): End[] =>
  outcome && finishedAt !== undefined
    ? [{ at: finishedAt, outcome, reason, worked: startedAt !== undefined }]
    : [];

export interface Pace {
  /** Targets a minute; missing when none has ended. */
  perMinute?: number;
  /** What it is measured over. */
  overMs?: number;
}

/** The pace of a run. `ends`: see `readEnds`; without them it is the average since the run started. */
export function paceOf(
  { counts, startedAt, finishedAt, status }: Run,
  ends: readonly End[] | undefined,
  now: number,
): Pace {
  if (startedAt === undefined) return {};
  const elapsed = Math.max(1, (finishedAt ?? now) - startedAt);
  const overMs = ends === undefined || isFinal(status) ? elapsed : Math.min(WINDOW_MS, elapsed);
  const count =
    ends?.filter(({ at, worked }) => worked && (overMs === elapsed || at > now - overMs)).length ??
    endedCount(counts);
  return count === 0 ? {} : { perMinute: (count * 60_000) / overMs, overMs };
}
