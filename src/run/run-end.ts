/** When a run ends, or for what it waits: the one answer of every page, command and address that shows a run. */
import { isoMinute } from '../clock.ts';
import { endedCount, isFinal } from './moves.ts';
import type { Run } from './run.ts';

export interface RunEnd {
  /** When it is expected to end. */
  at?: number;
  /** Why that is not known, with "it" before it: `waits for an approval`. */
  waits?: string;
}

/** A process that works on runs says so every second: after so long without, none does. */
const UNATTENDED_MS = 30_000;

/** Undefined for a run that has ended. `attendedAt`: when a process last worked on the runs of its account, if known. */
export function runEndOf(run: Run, now: number, attendedAt = now): RunEnd | undefined {
  if (isFinal(run.status)) return undefined;
  const waits = waitOf(run);
  if (waits !== undefined) return { waits };
  if (now - attendedAt > UNATTENDED_MS)
    return { waits: `makes no progress: no process has worked on it since ${isoMinute(attendedAt)}` };
  const at = endAtPace(run, now);
  return at === undefined
    ? { waits: 'has no known end yet: none of its targets has ended' }
    : { at: rounded(at, now) };
}

/** For whom or what a run waits; undefined while it works on its targets, and when it has ended. */
export function waitOf({ status, held, planComplete, rollout, ending }: Run): string | undefined {
  if (isFinal(status)) return undefined;
  if (held) return 'is held until a person releases it';
  if (status === 'queued') return 'waits for its turn, or for a worker to plan it';
  if (status === 'awaiting-approval') return 'waits for an approval';
  if (status === 'blocked') return 'waits until its account can be used again';
  if (status === 'planning' || !planComplete) return 'lists its targets; nothing has been sent yet';
  if (ending) return 'ends when the work in flight has ended';
  if (rollout?.is === 'closed') return 'waits for a person, because the gate of its rollout is closed';
  if (rollout?.is === 'asking') return 'waits for a person to approve its next batch';
  if (rollout?.is === 'pausing')
    return `pauses between two batches${rollout.until === undefined ? '' : ` until ${isoMinute(rollout.until)}`}`;
  return undefined;
}

/** The targets that the run works on, and how many of them have not ended. */
export function workOf({ counts, plan }: Run): { targets: number; left: number } {
  const left = counts.planned - endedCount(counts);
  return { targets: Math.max(plan?.targets ?? counts.planned, left), left };
}

/** When the run ends if it goes on as until now; undefined until a target that it works on has ended. */
export function endAtPace(run: Run, now: number): number | undefined {
  const { targets, left } = workOf(run);
  const done = targets - left;
  if (done === 0 && left > 0) return undefined;
  const pace = now + (left * (now - (run.startedAt ?? run.createdAt))) / Math.max(1, done);
  const spreadEnd = run.spread && left > 0 ? run.spread.from + run.spread.ms : 0;
  return Math.min(Math.max(pace, spreadEnd), Math.max(now, run.windowEndsAt ?? Number.POSITIVE_INFINITY));
}

/** An estimate is rounded, so that it does not change each time that a page is made. */
function rounded(at: number, now: number): number {
  const left = at - now;
  const step = left < 3_600_000 ? 60_000 : left < 86_400_000 ? 600_000 : 3_600_000;
  return Math.ceil(at / step) * step;
}
