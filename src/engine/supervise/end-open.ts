/** Gives every open target of a run an outcome at once, without waiting for work in progress. */
import type { Run, Target, TargetIn } from '../../run/run.ts';
import { cancelled, ended } from '../act/decide.ts';
import { unknownAfterRollback } from '../act/timed-out.ts';
import type { EngineDeps } from '../deps.ts';
import { endPending } from './end-unstarted.ts';

const PAGE = 200;
/** A target that changed between reading and writing is read again. This many times cannot be chance. */
const MAX_TRIES = 100;

/** Gives an outcome to every open target for which `which` is true. */
export async function endOpen(deps: EngineDeps, run: Run, which: (target: Target) => boolean): Promise<void> {
  const { records, clock } = deps;
  await endPending(deps, run, (target) => endedNow(run, target, clock.now()));
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const states = ['acting', 'following', 'waiting'] as const;
    const pages = await Promise.all(states.map((state) => records.targets.inState(run.id, state, PAGE)));
    const open = pages.flat().filter(which);
    if (open.length === 0) return;
    const at = clock.now();
    await Promise.all(
      open.map((target) =>
        records.targets.move(run, endedNow(run, target, at), { from: [target.state], at }),
      ),
    );
  }
}

/**
 * The end of a target of a cancelled run. A target whose effect may have happened is not recorded as
 * cancelled.
 */
function endedNow(
  { ending = 'cancelled', held }: Pick<Run, 'ending' | 'held'>,
  target: Target,
  now: number,
): TargetIn<'ended'> {
  // Followed work is known to have started, so its effect is not in doubt.
  if (held && target.state !== 'following') return unknownAfterRollback(target, held, now);
  if (target.intent) {
    const detail = `The run was ended before the answer to ${target.intent.operation} was known.`;
    return ended(target, 'failed', 'unknown-effect', detail, now);
  }
  const end = cancelled(target, ending, now);
  if (target.state !== 'following') return end;
  const lost = target.lostAt === undefined ? undefined : target.detail;
  return { ...end, detail: lost ?? 'It was still under way in the service.' };
}
