/** The work of this process: plans, actions and the supervision of accounts. */
import { Actor } from './act/actor.ts';
import type { EngineDeps } from './deps.ts';
import { Planner } from './plan/planner.ts';
import { Recorder } from './record/recorder.ts';
import { Supervisor } from './supervise/supervisor.ts';

/** How long a stopping process waits for answers to its requests. */
const STOP_TIMEOUT_MS = 7_000;

/** The running work of this process. */
export interface Working {
  /**
   * When the supervisor last completed a tick, in milliseconds since 1970: at most some seconds ago while
   * Redis answers.
   */
  beatAt(): number | undefined;
  /**
   * Takes no new entries, and records the work in progress. Waits some seconds at most for answers of the
   * service. Requests without an answer by then are reconciled by the next worker.
   */
  stop(): Promise<void>;
}

/** Takes entries from the queues and supervises accounts, until stopped. */
export function startWork(deps: EngineDeps, concurrency: number): Working {
  const supervisor = new Supervisor(deps);
  const planner = new Planner(deps);
  const actor = new Actor(deps);
  const recorder = new Recorder(deps);
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
  recorder.start();
  const listening = deps.records.listen((event) => {
    if (event.type === 'run.moved') supervisor.wake();
    if (event.type === 'target.ended') recorder.wake();
  });
  // Without the events, both look for work every few seconds.
  listening.catch((error: unknown) => deps.log.warn({ err: error }, 'the events could not be listened to'));
  return {
    beatAt: () => supervisor.lastTickAt,
    async stop() {
      const stopped = new AbortController();
      const timeout = deps.clock.sleep(STOP_TIMEOUT_MS, stopped.signal).then(() => {
        actor.stopWaiting();
        recorder.stopWaiting();
      });
      await Promise.all([planner.stop(), supervisor.stop(), queues.stop(), recorder.stop()]);
      stopped.abort();
      // Not awaited: Redis may be unavailable.
      void listening.then((stop) => stop()).catch(() => undefined);
      await timeout;
      await actor.whenIdle();
    },
  };
}
