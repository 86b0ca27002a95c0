/** How fast the targets of a run end, when the run is over if it goes on like that, and why that is not known. */
import { endedCount, isFinal } from '../../run/moves.ts';
import type { Outcome, Run, Target } from '../../run/run.ts';
import type { Reader } from './reader.ts';

/** The end of a target. */
export interface End {
  at: number;
  outcome: Outcome;
  /** Whether it was worked on; others ended when the run was planned, or were never started. */
  worked: boolean;
}

/** The ends are read for runs of at most so many targets: some ten round trips. */
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

const endOf = ({ outcome, finishedAt, startedAt }: Target): End[] =>
  outcome && finishedAt !== undefined ? [{ at: finishedAt, outcome, worked: startedAt !== undefined }] : [];

export interface Pace {
  /** Targets a minute; undefined when it is not known. */
  perMinute?: number;
  /** What it is measured over. */
  overMs?: number;
  endsAt?: number;
  /** Why it is not known when the run ends: a sentence. */
  unknown?: string;
}

/** The pace of a run. `ends`: see `readEnds`; without them it is the average since the run started. */
export function paceOf(run: Run, ends: readonly End[] | undefined, now: number): Pace {
  const { counts, startedAt, finishedAt, spread } = run;
  if (startedAt === undefined) return isFinal(run.status) ? {} : { unknown: whyUnknown(run) ?? NOT_STARTED };
  const elapsed = Math.max(1, (finishedAt ?? now) - startedAt);
  const worked = ends?.filter((end) => end.worked).length ?? endedCount(counts);
  if (isFinal(run.status)) return rate(worked, elapsed);
  const overMs = ends === undefined ? elapsed : Math.min(WINDOW_MS, elapsed);
  const recent =
    ends === undefined
      ? endedCount(counts)
      : ends.filter(({ at, worked }) => worked && at > now - overMs).length;
  const unknown = whyUnknown(run);
  if (unknown !== undefined) return { unknown };
  if (recent === 0) return { unknown: 'No target has ended in the last minutes, so the end is not known.' };
  const open = counts.planned - endedCount(counts);
  const endsAt = now + (overMs / recent) * open;
  const untilSpread = spread === undefined ? 0 : spread.from + spread.ms;
  return { ...rate(recent, overMs), endsAt: Math.max(endsAt, open > 0 ? untilSpread : 0) };
}

const NOT_STARTED = 'It has not started, so the end is not known.';
const rate = (count: number, overMs: number): Pick<Pace, 'perMinute' | 'overMs'> =>
  count === 0 ? {} : { perMinute: (count * 60_000) / overMs, overMs };

/** What the run waits for, where no pace tells when that is over. */
function whyUnknown({ status, held, planComplete, rollout }: Run): string | undefined {
  if (held) return 'It is held until a person releases it, so the end is not known.';
  if (status === 'awaiting-approval') return 'It waits for an approval, so the end is not known.';
  if (status === 'blocked') return 'It is blocked, so the end is not known.';
  if (!planComplete) return 'Its targets are still being listed, so the end is not known.';
  if (rollout && ['asking', 'closed'].includes(rollout.is))
    return 'Its rollout waits for a person, so the end is not known.';
  if (rollout?.is === 'pausing') return 'It pauses between two batches, so the end is not known.';
  return undefined;
}
