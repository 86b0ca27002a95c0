/**
 * Chaos: runs continue while daemons and Redis are killed at random times, against a service that is flaky,
 * and under worse conditions (`conditions.ts`). Each policy runs twice in quick succession. Afterwards the
 * sandbox's journal shows whether each effect happened once, and its state shows whether the records are
 * correct.
 *
 * The seed decides who is killed, when, and which faults occur. It does not decide the timing of the machine,
 * so that a seed reproduces the conditions of a failure rather than its every step.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { noAccess } from '../../src/access/access.ts';
import { type Caretaker, openCaretaker } from '../../src/app/caretaker.ts';
import { systemClock } from '../../src/clock.ts';
import { isFinal } from '../../src/run/moves.ts';
import type { Run } from '../../src/run/run.ts';
import { parseFaults } from '../../src/sandbox/faults/names.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Settings } from '../../src/settings/settings.ts';
import { aPolicy } from '../support/builders.ts';
import { fastClock } from '../support/caretaker.ts';
import { keptLog } from '../support/quiet.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { following, scheduled } from './chain-stories.ts';
import type { Conditions } from './conditions.ts';
import { startCuttingProxy } from './cutting.ts';
import { jumping, jumpsFrom } from './jumps.ts';
import { type Line, openLine } from './line.ts';
import { startSlowReceiver } from './notice-story.ts';
import { olderCommit } from './older.ts';
import { hireStaff } from './people.ts';
import { kill } from './processes.ts';
import { type Daemon, openStations, type Station } from './station.ts';
import { judge, lanes } from './stories.ts';
import { type Scene, type Staff, type Story, targetsOf } from './story.ts';

interface ChaosOptions {
  seed: number;
  /** The number of kills. */
  kills: number;
  conditions: Conditions;
  /** Of the older daemon, under the condition that has one; default the commit before. */
  olderCommit?: string | undefined;
  /** The names of the only stories; default all. */
  stories?: readonly string[] | undefined;
  /** Called with each line of the progress. */
  say: (line: string) => void;
}

export interface ChaosReport {
  /** By victim; `frozen` are the daemons that were suspended for a while instead, `people` the processes of people. */
  kills: Record<Victim | 'frozen' | 'people' | 'failovers' | 'silences', number>;
  /** How many of the kills of daemons were in the middle of a script about their targets. */
  midScript: number;
  /** Connections that the proxy cut. */
  cuts: number;
  runs: number;
  /** Outcomes by reason, over all runs. */
  reasons: Record<string, number>;
  effects: number;
  /** By story: its runs, the kills while they were active, and the errors that were found. */
  stories: Record<string, { runs: number; kills: number; wrong: number }>;
  /** The errors that were found. */
  wrong: string[];
}

interface Telling {
  sandbox: Sandbox;
  caretaker: Caretaker;
  report: ChaosReport;
  /** How long it takes until the lists of the service show what a story prepares. */
  prepareMs: number;
  say: (line: string) => void;
  /** The runs that write to their sites, with the check of it. */
  recording: { run: string; check: NonNullable<Scene['recorded']> }[];
  staff: Staff;
}

type Victim = Daemon | 'redis';

/** Twenty times real time: half a minute of waiting for a lost worker takes a second and a half. */
const SPEED = 20;
/** How often each policy usually runs in quick succession. */
const ROUNDS = 2;
/** The longest pause before a kill, in real milliseconds. */
const PAUSE_MS = 4_000;
/** The longest pause before the restart of what was killed, in real milliseconds. */
const DOWN_MS = 600;
/**
 * The fraction of daemons that are suspended for a while instead, at most for longer than a lock of the queue
 * is held.
 */
const FROZEN = 0.1;
const FROZEN_MS = 18_000;
/** The fraction of kills before which Redis fails over, or falls silent, under these conditions. */
const DISTURBED = 0.4;
/** When a daemon that ended by itself is restarted, in real milliseconds. */
const RESTART_MS = 300;
const USUAL_FAULTS = 'flaky,reset-after:0.05,error-after:0.05';
/** No run may take longer than this, in real time, after the last kill. */
const PATIENCE_MS = 240_000;

/** A generator of numbers from 0 to 1, the same for the same seed (mulberry32, public domain). */
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Executes runs under kills, and checks each against the sandbox. */
export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, kills, conditions, stories, say } = options;
  const { without = [] } = conditions;
  const told = lanes
    .map((lane) => lane.filter(({ name }) => stories?.includes(name) ?? !without.includes(name)))
    .filter((lane) => lane.length > 0);
  const random = numbersFrom(seed);
  const serviceClock = fastClock(SPEED);
  const jumps = conditions.jumps ? jumpsFrom(numbersFrom(seed + 3)) : [];
  const clock = jumping(serviceClock, jumps);
  const older = conditions.older && olderCommit(options.olderCommit ?? 'HEAD~1');
  const redis = await startTestRedis({ appendfsync: 'always' });
  const line = conditions.redis && (await openLine(redis, await startTestRedis({ appendfsync: 'always' })));
  const sandbox = await startSandbox({
    sites: 400,
    seed,
    clock: serviceClock,
    // Practically no limit, with rate headers on every answer.
    rateLimit: 1_000_000,
    faults: parseFaults(`${USUAL_FAULTS},${conditions.faults ?? ''}`),
    ...conditions.service,
  });
  const proxy = conditions.cuts && (await startCuttingProxy(sandbox.url, numbersFrom(seed + 1)));
  const receiver = await startSlowReceiver(numbersFrom(seed + 4));
  const settings = settingsFor(
    line?.path ?? redis.socketPath,
    sandbox,
    proxy?.url ?? sandbox.url,
    receiver.url,
  );
  const caretaker = await openCaretaker({ settings, log: keptLog(), clock });
  const sharedClock = { ...clock.shared(), jumps };
  const stations = conditions.midScript && (await openStations(redis));
  const factsOf = (who: Daemon) => {
    const ofDaemon = stations
      ? { ...settings, redis: { kind: 'url', url: stations.of[who].path } }
      : settings;
    return JSON.stringify({ settings: ofDaemon, clock: sharedClock, policies: scheduled });
  };
  const cast = new Cast(redis, line, stations?.of, factsOf, older?.daemon);
  const report: ChaosReport = {
    kills: { A: 0, B: 0, redis: 0, frozen: 0, people: 0, failovers: 0, silences: 0 },
    midScript: 0,
    cuts: 0,
    runs: 0,
    reasons: {},
    effects: 0,
    stories: {},
    wrong: [],
  };
  const over = new AbortController();
  try {
    await cast.start('A');
    await cast.start('B');
    // From now on each end counts for the policies that follow.
    for (const { name } of following)
      while ((await caretaker.records.policies.state(name)).cursor === undefined)
        await systemClock.sleep(100);
    const killing = killAtRandom(cast, { random, kills, disturbs: conditions.redis }, report, say).finally(
      () => over.abort(),
    );
    const prepareMs = conditions.service?.listLagMs ?? 0;
    const staff = hireStaff({
      facts: { settings, clock: sharedClock },
      clock,
      random: numbersFrom(seed + 2),
      getRun: (id) => insist(() => caretaker.records.runs.get(id)),
      onKill: () => {
        report.kills.people += 1;
      },
      over: over.signal,
      patienceMs: PATIENCE_MS,
    });
    const telling: Telling = { sandbox, caretaker, report, prepareMs, say, recording: [], staff };
    await Promise.all(told.map((lane) => tell(rotated(lane, seed), telling, over.signal)));
    await killing;
    await judgeRecordings(telling);
    for (const story of told.flat()) await judgeEnd(story, telling);
    report.effects = sandbox.journal.effects.length;
    report.cuts = proxy?.cuts() ?? 0;
    report.wrong.push(...wrongRedirects(sandbox));
  } finally {
    await cast.end();
    await caretaker.close();
    proxy?.stop();
    receiver.stop();
    stations?.stop();
    await sandbox.stop();
    await line?.stop();
    await redis.stop();
    older?.stop();
  }
  return report;
}

const wrongRedirects = ({ followedRedirects }: Sandbox): string[] =>
  followedRedirects.flatMap(({ to, method, path }) =>
    // A read may be redirected to another path of the same origin.
    to === 'other-origin' || method !== 'GET' ? [`followed a redirect to ${to}: ${method} ${path}`] : [],
  );

/** The first story depends on the seed: the kills may be over before the last story begins. */
const rotated = (stories: readonly Story[], seed: number): readonly Story[] => {
  const first = seed % stories.length;
  return [...stories.slice(first), ...stories.slice(0, first)];
};

/** Runs stories one after the other until the kills are over, each of them at least once. */
async function tell(stories: readonly Story[], telling: Telling, over: AbortSignal): Promise<void> {
  const { sandbox, caretaker, prepareMs } = telling;
  for (let at = 0; !over.aborted || at < stories.length; at += 1) {
    const story = stories[at % stories.length];
    if (!story) return;
    const scene = story.begin(sandbox, at, caretaker.clock.now());
    await caretaker.clock.sleep(prepareMs);
    const { rounds = ROUNDS } = scene;
    for (let round = 0; round < rounds; round += 1) {
      if (!(await play(story, scene, round, telling, over))) return;
      const waitMs = scene.after?.(round, caretaker.clock.now()) ?? 0;
      if (round + 1 < rounds) await caretaker.clock.sleep(waitMs);
    }
  }
}

/** One run, from its start to its check; `false` when it has not ended long after the last kill. */
async function play(
  { name, operations }: Story,
  { only, ...scene }: Scene,
  round: number,
  { sandbox, caretaker, report, say, recording, staff }: Telling,
  over: AbortSignal,
): Promise<boolean> {
  const { clock, engine, records } = caretaker;
  const policy = typeof scene.policy === 'function' ? scene.policy(round) : scene.policy;
  const before = sandbox.journal.effects.length;
  const killsBefore = killsOf(report);
  const fired = await insist(() =>
    engine.fire(
      aPolicy({
        name,
        timeout: { targetMs: 3_600_000, runMs: 7_200_000 },
        limits: { concurrency: 20, maxTargets: 1_000, maxPercent: 100 },
        ...policy,
      }),
      { trigger: 'manual', scheduledFor: clock.now(), ...(only ? { only } : {}) },
    ),
  );
  const people = scene.people?.(fired.id, round, staff);
  const run = await ended(() => records.runs.get(fired.id), over);
  const wrongOfPeople = (await people) ?? [];
  const targets = await insist(() => targetsOf(caretaker, fired.id));
  report.runs += 1;
  const own = ofStory(report, name);
  own.runs += 1;
  own.kills += killsOf(report) - killsBefore;
  if (scene.recorded) recording.push({ run: fired.id, check: scene.recorded });
  const allEffects = sandbox.journal.effects;
  const effects = allEffects.slice(before).filter(({ operation }) => operations.includes(operation));
  for (const { reason = 'none' } of targets) report.reasons[reason] = (report.reasons[reason] ?? 0) + 1;
  const wrong = run
    ? judge(scene, { run, targets, effects, allEffects, round, sandbox })
    : ['has not ended long after the last kill'];
  wrong.push(...wrongOfPeople);
  own.wrong += wrong.length;
  report.wrong.push(...wrong.map((says) => `${fired.id} (round ${round + 1}): ${says}`));
  const { status = 'not ended', counts = {}, detail = '' } = run ?? {};
  say(`${name}, round ${round + 1}: ${status}, ${JSON.stringify(counts)} ${detail}`);
  for (const { id, reason, detail: why } of targets)
    if (reason === 'internal') say(`  ${id} is internal: ${why}`);
  for (const one of wrong) say(`  WRONG: ${one}`);
  return run !== undefined;
}

/** All kills so far. */
const killsOf = ({ kills }: ChaosReport): number =>
  Object.values(kills).reduce((sum, count) => sum + count, 0);

function ofStory({ stories }: ChaosReport, name: string): ChaosReport['stories'][string] {
  stories[name] ??= { runs: 0, kills: 0, wrong: 0 };
  return stories[name];
}

/** Waits until everything is written to the sites, then checks it. */
async function judgeRecordings({ sandbox, caretaker, report, say, recording }: Telling): Promise<void> {
  const { records } = caretaker;
  const begun = Date.now();
  while ((await insist(() => records.outbox.accounts())).length > 0) {
    if (Date.now() - begun > PATIENCE_MS) {
      report.wrong.push(`not recorded: ${JSON.stringify(await records.outbox.state('default'))}`);
      return;
    }
    await systemClock.sleep(500);
  }
  for (const { run: id, check } of recording) {
    const run = await records.runs.get(id);
    const wrong = run ? [...check(run, await targetsOf(caretaker, id), sandbox)] : ['is gone'];
    if (run) ofStory(report, run.policy).wrong += wrong.length;
    report.wrong.push(...wrong.map((says) => `${id} (recorded): ${says}`));
    for (const one of wrong) say(`  WRONG: ${id} ${one}`);
  }
  say(`recorded ${recording.length} runs`);
}

/** Waits until a story has ended, then checks it. */
async function judgeEnd({ name, atEnd }: Story, { sandbox, caretaker, report, say }: Telling): Promise<void> {
  const begun = Date.now();
  while (atEnd) {
    const { waitingFor, wrong } = await insist(() => atEnd(caretaker, sandbox));
    const late = Date.now() - begun > PATIENCE_MS;
    if (waitingFor !== undefined && !late) {
      await systemClock.sleep(500);
      continue;
    }
    const all = waitingFor === undefined ? wrong : [...wrong, `still waits for ${waitingFor}`];
    ofStory(report, name).wrong += all.length;
    report.wrong.push(...all.map((says) => `${name} (at the end): ${says}`));
    for (const one of all) say(`  WRONG: ${name} ${one}`);
    return;
  }
}

/** The processes that are killed and started again. */
class Cast {
  private readonly daemons = new Map<Victim, ChildProcess>();
  private over = false;

  constructor(
    private readonly redis: TestRedis,
    readonly line: Line | undefined,
    readonly stations: Record<Daemon, Station> | undefined,
    private readonly factsOf: (who: Daemon) => string,
    /** The program of the older daemon. */
    private readonly older: string | undefined,
  ) {}

  async start(who: Victim): Promise<void> {
    if (who === 'redis') return (this.line ?? this.redis).restart();
    const own = fileURLToPath(new URL('./daemon.mjs', import.meta.url));
    const file = who === 'B' ? (this.older ?? own) : own;
    const child = spawn(process.execPath, [file, this.factsOf(who)], { stdio: 'ignore' });
    this.daemons.set(who, child);
    // A daemon that cannot reach Redis at its start reports that and exits. A process manager restarts it.
    child.on('exit', (code) => {
      if (code !== null && !this.over) setTimeout(() => void this.start(who), RESTART_MS);
    });
  }

  signal(who: Victim, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.daemons.get(who)?.kill(signal);
  }

  /** Waits for the next script about a daemon's targets, at most this long. False when there was none, or none is seen. */
  async reachesScript(who: Victim, random: () => number, mostMs: number): Promise<boolean> {
    const station = who === 'redis' ? undefined : this.stations?.[who];
    return station ? station.atNextScript(random() < 0.5 ? 'before' : 'after', mostMs) : false;
  }

  async kill(who: Victim): Promise<void> {
    if (who === 'redis') return (this.line ?? this.redis).kill();
    await kill(this.daemons.get(who));
  }

  async end(): Promise<void> {
    this.over = true;
    await this.kill('A');
    await this.kill('B');
  }
}

async function killAtRandom(
  cast: Cast,
  { random, kills, disturbs }: { random: () => number; kills: number; disturbs: Conditions['redis'] },
  report: ChaosReport,
  say: (line: string) => void,
): Promise<void> {
  for (let done = 0; done < kills; done += 1) {
    await systemClock.sleep(random() * PAUSE_MS);
    if (disturbs === 'failover' && random() < DISTURBED && (await cast.line?.failOver()))
      report.kills.failovers += 1;
    if (disturbs === 'silence' && random() < DISTURBED) {
      cast.line?.silence(random);
      report.kills.silences += 1;
    }
    const victim = (['A', 'B', 'redis'] as const)[Math.floor(random() * 3)] ?? 'A';
    if (victim !== 'redis' && random() < FROZEN) {
      cast.signal(victim, 'SIGSTOP');
      report.kills.frozen += 1;
      await systemClock.sleep(random() * FROZEN_MS);
      cast.signal(victim, 'SIGCONT');
      continue;
    }
    if (await cast.reachesScript(victim, random, PAUSE_MS)) report.midScript += 1;
    await cast.kill(victim);
    report.kills[victim] += 1;
    await systemClock.sleep(random() * DOWN_MS);
    await cast.start(victim);
    if ((done + 1) % 20 === 0) say(`${done + 1} kills`);
  }
}

/** Redis may be down at any time here. */
async function insist<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await systemClock.sleep(100);
    }
  }
}

/** The run once it has ended; undefined when it has not ended long after the last kill. */
async function ended(get: () => Promise<Run | undefined>, over: AbortSignal): Promise<Run | undefined> {
  let calmSince: number | undefined;
  for (;;) {
    const run = await insist(get);
    if (run && isFinal(run.status)) return run;
    if (over.aborted) calmSince ??= Date.now();
    if (calmSince !== undefined && Date.now() - calmSince > PATIENCE_MS) return undefined;
    await systemClock.sleep(100);
  }
}

const settingsFor = (redis: string, sandbox: Sandbox, baseUrl: string, receiver: string): Settings => ({
  accounts: {
    default: {
      name: 'default',
      baseUrl,
      token: sandbox.token,
      budget: { requestsPerMinute: 1_000_000, reserve: 0, whenRedisIsDown: 'stop' },
      unset: {},
    },
  },
  redis: { kind: 'url', url: redis },
  policiesDir: '/nowhere',
  dataDir: dirname(redis),
  daemon: { concurrency: 20 },
  dashboard: { host: '127.0.0.1', port: 0 },
  notifications: { ops: { name: 'ops', webhook: { url: receiver }, group_wait: 0 } },
  calendars: {},
  maintenance: [],
  retention: { runsMs: 90 * 86_400_000 },
  audit: { keptMs: 400 * 86_400_000 },
  access: noAccess,
  warnings: [],
  policyMentions: [],
});
