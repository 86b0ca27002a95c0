/** What a supervisor does for one run, without its lease: as one that was suspended for longer than it holds. */
import type { Caretaker } from '../../src/app/caretaker.ts';
import { Follower } from '../../src/engine/follow/follow.ts';
import { Gates } from '../../src/engine/rollout/gates.ts';
import { maintainRun } from '../../src/engine/supervise/maintain-run.ts';
import type { Run } from '../../src/run/run.ts';
import { partsOf } from './between.ts';

/** One round for one run, its gate included. `seen`: the run as the supervisor read it, if that was before. */
export async function superviseOnce(caretaker: Caretaker, id: string, seen?: Run): Promise<void> {
  const deps = partsOf(caretaker);
  const { signal } = new AbortController();
  const state = {
    follower: new Follower(deps, 'default', signal),
    gates: new Gates(deps, signal),
    probedAt: undefined,
    predictedAt: new Map(),
    replans: new Map(),
  };
  const run = seen ?? (await caretaker.records.runs.get(id));
  if (!run) return;
  await maintainRun(deps, run, [run], state);
  await state.gates.idle();
}
