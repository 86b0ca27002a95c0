/**
 * A complete small system for a test: its own Redis, the sandbox, and a Caretaker that uses both, all real.
 * They share one clock that runs faster, so that a sync of a minute ends in a fraction of a second and no
 * test has to sleep.
 */
import { dirname } from 'node:path';
import { noAccess } from '../../src/access/access.ts';
import { type Caretaker, openCaretaker } from '../../src/app/caretaker.ts';
import type { Clock } from '../../src/clock.ts';
import { systemClock } from '../../src/clock.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { CaretakerEvent } from '../../src/records/events.ts';
import { keys } from '../../src/records/keys.ts';
import { isFinal } from '../../src/run/moves.ts';
import type { Run, Target } from '../../src/run/run.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Settings } from '../../src/settings/settings.ts';
import { NOON } from './held-clock.ts';
import { leapOverIdleTime } from './idle-time.ts';
import { keptLog } from './quiet.ts';
import { startTestRedis, type TestRedis } from './redis.ts';

/** A clock that runs `speed` times as fast as the machine's, from a start time. */
export interface FastClock extends Clock {
  /** Its start time: the same in every test, so that none depends on the day and hour of the test run. */
  readonly from: number;
  readonly speed: number;
  /**
   * From what other processes create the same clock. From then on it passes also while this process gets no time, as
   * theirs do.
   */
  shared(): { from: number; began: number; speed: number };
  /** Moves it forward, in this process only. */
  leap(ms: number): void;
}

/** So often the time that this process had is added up, and this much of it at most. */
const TICK_MS = 5;
const MAX_TICK_MS = 10;
const had = { ms: 0, at: performance.now() };
const hadMs = () => had.ms + Math.min(performance.now() - had.at, MAX_TICK_MS);
setInterval(() => {
  had.ms = hadMs();
  had.at = performance.now();
}, TICK_MS).unref();

/** It waits while this process gets no time: on a busy machine, nothing is late for that reason. */
export function fastClock(speed: number, from = NOON): FastClock {
  const hadBefore = hadMs();
  let began: number | undefined;
  let leapt = 0;
  const passed = () => (began === undefined ? hadMs() - hadBefore : Date.now() - began);
  return {
    from,
    speed,
    shared() {
      began ??= Date.now() - passed();
      return { from: from + leapt, began, speed };
    },
    now: () => Math.round(from + passed() * speed) + leapt,
    async sleep(ms, signal) {
      const end = passed() + ms / speed;
      do await systemClock.sleep(end - passed(), signal);
      while (passed() < end && !signal?.aborted);
    },
    leap(ms) {
      leapt += ms;
    },
  };
}

export interface World {
  sandbox: Sandbox;
  redis: TestRedis;
  clock: FastClock;
  caretaker: Caretaker;
  log: ReturnType<typeof keptLog>;
  /** Another Caretaker on the same Redis and service, as on another machine. */
  another(options?: { work?: boolean }): Promise<Caretaker>;
  /** Resolves at the next event of any run, or after a second. */
  nextEvent(): Promise<void>;
  /** Starts a manual run of a policy. */
  fire(policy: Policy, only?: string[]): Promise<Run>;
  /** The run once it has ended, or once `until` holds. */
  ended(run: Run | string, until?: (run: Run) => boolean): Promise<Run>;
  targets(run: Run | string): Promise<Target[]>;
  /** The reason of each target: `{ 'site-0001': 'done', ... }`. */
  reasons(run: Run | string): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

export interface WorldOptions extends Omit<SandboxOptions, 'clock'> {
  /** The speed of the clock compared with the wall clock; default 60. */
  speedUp?: number;
  budget?: { requestsPerMinute: number; reserve: number; whenRedisIsDown?: 'stop' | 'share' };
  token?: string;
  /** The offset of the Caretaker's clock, which may change; default 0. */
  aheadMs?: () => number;
  /** The offset of the service's clock; default 0. */
  serviceAheadMs?: number;
  policiesDir?: string;
  /** Default: a free port of this machine, without a password. */
  dashboard?: { password: string };
  /** The start time of the clock. Default: noon. */
  from?: number;
  /** Called before the Caretaker is opened. */
  before?: (parts: Pick<World, 'redis' | 'sandbox'>) => Promise<void>;
  /** Called when another release has migrated the records. */
  onOtherVersion?: (error: Error) => void;
  /** Whether the Caretaker starts to work immediately; default yes. */
  work?: boolean;
  /**
   * Whether time in which all work only waits is leapt over while the end of a run is awaited; default yes. Not for a
   * test that counts how often work is looked at, or looks how much is in flight.
   */
  leaps?: boolean;
  /** Whether a Caretaker that works also sends notifications, as a worker of the daemon does; default no. */
  notify?: boolean;
}

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const {
    speedUp = 60,
    budget = { requestsPerMinute: 1_000_000, reserve: 0 },
    work = true,
    leaps = true,
  } = options;
  const clock = fastClock(speedUp, options.from);
  const log = keptLog();
  const redis = await startTestRedis();
  const { onOtherVersion } = options;
  const { serviceAheadMs: clockOffsetMs = 0 } = options;
  const sandbox = await startSandbox({ rateLimit: 0, speed: 1, clockOffsetMs, ...options, clock });
  await options.before?.({ redis, sandbox });
  const settings: Settings = {
    accounts: {
      default: {
        name: 'default',
        baseUrl: sandbox.url,
        token: options.token ?? sandbox.token,
        budget: { whenRedisIsDown: 'stop', ...budget },
        unset: {},
      },
    },
    redis: { kind: 'url', url: redis.socketPath },
    policiesDir: options.policiesDir ?? '/nowhere',
    dataDir: dirname(redis.socketPath),
    daemon: { concurrency: 50 },
    dashboard: { host: '127.0.0.1', port: 0, ...options.dashboard },
    notifications: {},
    calendars: {},
    maintenance: [],
    retention: { runsMs: 90 * 86_400_000 },
    audit: { keptMs: 400 * 86_400_000 },
    access: noAccess,
    warnings: [],
    policyMentions: [],
  };
  const opened: Caretaker[] = [];
  const working: { stop(): Promise<void> }[] = [];
  let awaited = 0;
  const open = async (atWork: boolean) => {
    const caretaker = await openCaretaker({
      settings,
      log,
      clock: options.aheadMs ? { ...clock, now: () => clock.now() + (options.aheadMs?.() ?? 0) } : clock,
      ...(onOtherVersion && { onOtherVersion }),
    });
    opened.push(caretaker);
    leapOverIdleTime(caretaker, clock, () => leaps && awaited > 0);
    if (atWork) working.push(caretaker.engine.work(settings.daemon.concurrency));
    if (atWork && options.notify) working.push(caretaker.notifier.work());
    return caretaker;
  };
  const caretaker = await open(work);
  const idOf = (run: Run | string) => (typeof run === 'string' ? run : run.id);

  const targets = async (run: Run | string) => {
    const all: Target[] = [];
    for await (const target of caretaker.records.targets.all(idOf(run))) all.push(target);
    return all;
  };

  const world: World = {
    sandbox,
    redis,
    clock,
    caretaker,
    log,
    another: ({ work: atWork = true } = {}) => open(atWork),
    async nextEvent() {
      let hear = () => {};
      const heard = new Promise<void>((resolve) => {
        hear = resolve;
      });
      const stop = await caretaker.records.listen(() => hear());
      await Promise.race([heard, systemClock.sleep(1_000)]);
      await stop();
    },
    fire: (policy, only) =>
      caretaker.engine.fire(policy, {
        trigger: 'manual',
        scheduledFor: clock.now(),
        ...(only ? { only } : {}),
      }),
    async ended(run, until = ({ status }) => isFinal(status)) {
      awaited += 1;
      const done = new AbortController();
      return Promise.race([
        awaitRun(caretaker, idOf(run), until),
        hang(world, idOf(run), done.signal),
      ]).finally(() => {
        done.abort();
        awaited -= 1;
      });
    },
    targets,
    async reasons(run) {
      return Object.fromEntries((await targets(run)).map(({ id, reason, state }) => [id, reason ?? state]));
    },
    async stop() {
      await Promise.all(working.map((one) => one.stop()));
      await Promise.all(opened.map((one) => one.close()));
      await sandbox.stop();
      await redis.stop();
    },
  };
  return world;
}

/** So long without any event of any run, a run hangs. A test that times out would not say what it waited for. */
const HANGS_MS = 100_000;

/** What a run waits for: of a test that hangs once in a hundred runs, nothing else is known. */
async function stateOf({ caretaker, clock, log, targets }: World, id: string): Promise<string> {
  const { records, redis } = caretaker;
  const [run, all] = [await records.runs.get(id), await targets(id)];
  const open = all.filter(({ state }) => state !== 'ended');
  const indexes = ['pending', 'acting', 'following', 'waiting', 'deadlines', 'parked'] as const;
  const keysOf = await Promise.all(
    indexes.map(async (name) => [name, await redis.store.type(keys[name](id))] as const),
  );
  const seen = JSON.stringify({ now: clock.now(), run, open, keysOf }, null, 1);
  return [seen, ...log.lines.slice(-30)].join('\n');
}

/** Rejects when a run hangs, with what it waits for. */
async function hang(world: World, id: string, signal: AbortSignal): Promise<never> {
  let heardAt = Date.now();
  const hear = () => {
    heardAt = Date.now();
  };
  // While Redis is away, nothing is heard.
  const stop = await world.caretaker.records.listen(hear).catch(() => async () => {});
  while (!signal.aborted && Date.now() - heardAt < HANGS_MS)
    await systemClock.sleep(heardAt + HANGS_MS - Date.now(), signal);
  await stop();
  if (signal.aborted) throw new Error('It has ended.');
  const silence = systemClock.sleep(5_000).then(() => 'Redis does not answer.');
  const state = await Promise.race([stateOf(world, id), silence]);
  throw new Error(
    `A run of a test has not ended, and no run has had an event for ${HANGS_MS / 1_000} s. ${state}`,
  );
}

/**
 * Resolves with the run as soon as `until` holds after one of its events.
 *
 * @throws when the run has ended otherwise.
 */
async function awaitRun(caretaker: Caretaker, id: string, until: (run: Run) => boolean): Promise<Run> {
  const { records } = caretaker;
  let hear: (event: CaretakerEvent) => void = () => undefined;
  const stop = await records.listen((event) => hear(event));
  try {
    for (;;) {
      const heard = new Promise<void>((resolve) => {
        hear = (event) => {
          if ('run' in event && event.run === id) resolve();
        };
      });
      const run = await records.runs.get(id);
      if (run && until(run)) return run;
      if (run && isFinal(run.status))
        throw new Error(`What was awaited did not come: ${run.id} is ${run.status}.`);
      // An event can be lost with a broken connection, so the record is also read every second.
      await Promise.race([heard, systemClock.sleep(1_000)]);
    }
  } finally {
    await stop();
  }
}

/** Resolves when a condition holds for which there is no event. */
export async function until({ clock }: World, holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await clock.sleep(500);
}
