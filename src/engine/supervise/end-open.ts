/** Giving every open target of a run its outcome, as it stands, without waiting for anything. */
import type { Run, Target, TargetIn } from '../../run/run.ts';
import { cancelled, ended, inDoubt } from '../act/decide.ts';
import type { EngineDeps } from '../deps.ts';
import { endPending } from './end-unstarted.ts';

const PAGE = 200;
/**
 * A target that moved on between reading and writing is read again; so often it does not happen by chance.
 */
const MAX_TRIES = 100;

/** Gives an outcome to every target that has none and that `which` holds for. */
export async function endOpen(deps: EngineDeps, run: Run, which: (target: Target) => boolean): Promise<void> {
  const { records, clock } = deps;
  await endPending(deps, run, (target) => cutOff(run, target, clock.now()));
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const states = ['acting', 'following', 'waiting'] as const;
    const pages = await Promise.all(states.map((state) => records.targets.inState(run.id, state, PAGE)));
    const open = pages.flat().filter(which);
    if (open.length === 0) return;
    const at = clock.now();
    await Promise.all(
      open.map((target) => records.targets.move(run, cutOff(run, target, at), { from: [target.state], at })),
    );
  }
}

/** A target of a run that was cancelled, as it stands: what may have happened is not called cancelled. */
function cutOff(
  { ending = 'cancelled', held }: Pick<Run, 'ending' | 'held'>,
  target: Target,
  now: number,
): TargetIn<'ended'> {
  // What is followed was begun before, and nobody has to guess at it.
  if (held && target.state !== 'following') return inDoubt(target, held, now);
  if (target.intent) {
    const detail = `The run was ended before the answer to ${target.intent.operation} was known.`;
    return ended(target, 'failed', 'unknown-effect', detail, now);
  }
  const end = cancelled(target, ending, now);
  if (target.state !== 'following') return end;
  const lost = target.lostAt === undefined ? undefined : target.detail;
  return { ...end, detail: lost ?? 'It was still under way in the service.' };
}
