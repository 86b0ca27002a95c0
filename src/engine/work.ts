/** The part that this process takes in the work: plans, actions, and the supervision of accounts. */
import { Actor } from './act/actor.ts';
import type { EngineDeps } from './deps.ts';
import { Planner } from './plan/planner.ts';
import { Supervisor } from './supervise/supervisor.ts';

/** How long a process that stops waits for the answers to what it has sent. */
const STOP_TIMEOUT_MS = 7_000;

/** Work under way in this process. */
export interface Working {
  /** When it was last seen to go on, in milliseconds since 1970: some seconds ago while Redis answers. */
  beatAt(): number | undefined;
  /**
   * Takes nothing new, and records what is under way. A service that does not answer is waited for a few
   * seconds: what was asked of it by then is found out by whoever goes on.
   */
  stop(): Promise<void>;
}

/** Takes entries from the queues and supervises accounts, until stopped. */
export function startWork(deps: EngineDeps, concurrency: number): Working {
  const supervisor = new Supervisor(deps);
  const planner = new Planner(deps);
  const actor = new Actor(deps);
  const queues = deps.queues.work(
    {
      plan(entry) {
        supervisor.noteStarted(entry.run);
        return planner.begin(entry);
      },
      act: (entry) => actor.act(entry),
    },
    concurrency,
  );
  supervisor.start();
  return {
    beatAt: () => supervisor.lastTickAt,
    async stop() {
      const over = new AbortController();
      const timeout = deps.clock.sleep(STOP_TIMEOUT_MS, over.signal).then(() => actor.leave());
      await Promise.all([planner.stop(), supervisor.stop(), queues.stop()]);
      over.abort();
      await timeout;
      await actor.rest();
    },
  };
}
