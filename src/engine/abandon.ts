/** Ending a run without waiting for anything: what is open gets its outcome as far as one can tell, now. */
import type { Run, Target } from '../run/run.ts';
import { carryOutEnding } from './call-off.ts';
import { calledOff, ended } from './decide.ts';
import { endPending } from './drain.ts';
import { finishIfDone } from './finish.ts';
import type { Parts } from './parts.ts';

const PAGE = 200;
/** A target that moved on between reading and writing is read again; so often it does not happen by chance. */
const MOST_TRIES = 100;

/**
 * Ends a run at once, whoever is at work on it: each open target gets its outcome, and with that nobody can send or write
 * anything for it any more. What is under way in the service goes on there, and nobody learns what becomes of it.
 */
export async function abandonRun(parts: Parts, run: Run, detail: string): Promise<void> {
  await parts.records.runs.end(run, 'cancelled', detail);
  const called = (await parts.records.runs.get(run.id)) ?? run;
  await carryOutEnding(parts, called);
  await endOpen(parts, called, () => true);
  await finishIfDone(parts, run.id);
  await parts.queues.drop(run.id);
}

/** Gives an outcome to every target that has none and that `which` holds for. */
export async function endOpen(parts: Parts, run: Run, which: (target: Target) => boolean): Promise<void> {
  const { records, clock } = parts;
  const ending = run.ending ?? 'cancelled';
  await endPending(parts, run, (target) => calledOff(target, ending, clock.now()));
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const states = ['acting', 'following', 'waiting'] as const;
    const pages = await Promise.all(states.map((state) => records.targets.inState(run.id, state, PAGE)));
    const open = pages.flat().filter(which);
    if (open.length === 0) return;
    const at = clock.now();
    await Promise.all(
      open.map((target) =>
        records.targets.settle(run, cutOff(target, ending, at), { from: [target.state], at }),
      ),
    );
  }
}

/** A target of a run that was called off, as it stands: what may have happened is not called cancelled. */
export function cutOff(target: Target, ending: NonNullable<Run['ending']>, now: number): Target {
  if (target.intent) {
    const detail = `The run was ended before the answer to ${target.intent.operation} was known.`;
    return ended(target, 'failed', 'unknown-effect', detail, now);
  }
  const end = calledOff(target, ending, now);
  if (target.state !== 'following') return end;
  const lost = target.lostAt === undefined ? undefined : target.detail;
  return { ...end, detail: lost ?? 'It was still under way in the service.' };
}
