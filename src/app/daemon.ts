/** The long-running process. Its roles: fire policies, work on targets, serve the dashboard. */
import { hostname } from 'node:os';
import { isoMinute } from '../clock.ts';
import type { Dashboard } from '../dashboard/dashboard.ts';
import { CaretakerError, systemCodeOf } from '../errors.ts';
import type { Registry } from '../job/registry.ts';
import { verifiedOperations } from '../job/verify.ts';
import { type ConfigWatch, watchConfig } from '../policy/config-watcher.ts';
import type { Policy } from '../policy/policy.ts';
import { jobOf } from '../policy/policy-job.ts';
import { type PolicyWatcher, watchPolicies } from '../policy/policy-watcher.ts';
import type { Queues } from '../queue/queues.ts';
import type { CaretakerEvent } from '../records/events.ts';
import { effectOf, formatFreeze, formatFrozen } from '../records/freeze-store.ts';
import type { Depth } from '../records/measurement-store.ts';
import { clockJumps } from '../records/reported.ts';
import { identityOnHost } from '../redis/embedded/processes.ts';
import { watchRedis } from '../redis/health.ts';
import { noteMaintenance } from '../schedule/maintenance.ts';
import { openPolicyAgreement, type PolicyAgreement } from '../schedule/policy-agreement.ts';
import { dueAtOf, startScheduler } from '../schedule/scheduler.ts';
import { type Settings, warningsOf } from '../settings/settings.ts';
import { placeOf } from '../yaml/diagnostic.ts';
import { noteCaughtUp, policyChangesTo, settingsChangesTo, signInsTo } from './audit-events.ts';
import { budgetsOf, openBudgetLooks } from './budget-alerts.ts';
import type { Caretaker } from './caretaker.ts';
import { noteBrokenFiles } from './file-alerts.ts';
import { type MovedAccounts, openMovedAccounts } from './moved-accounts.ts';
import { overview } from './overview.ts';
import { lastPoliciesTo, policyVersionsTo } from './policy-versions.ts';
import type { Role } from './roles.ts';
import { openVitals, type VitalsMeter } from './vitals.ts';

export interface Daemon {
  /** The dashboard, when this process serves it. */
  dashboard?: Pick<Dashboard, 'url' | 'signInLink'>;
  /** Starts nothing new, completes active work, and stops the roles. */
  stop(): Promise<void>;
}

/** Another daemon on this Redis uses the port of the dashboard. */
export class DaemonRunsError extends CaretakerError {
  readonly code = 'DAEMON_RUNS';
}

const HEARTBEAT_INTERVAL_MS = 5_000;
const PRUNE_INTERVAL_MS = 3_600_000;
/** A role without a sign of life for this long is not running. */
const ROLE_TIMEOUT_MS = 30_000;

/**
 * Starts the roles in order: the worker before the scheduler, the dashboard last.
 *
 * @throws {DaemonRunsError} {DashboardError} when the dashboard cannot be served.
 */
export async function startDaemon(options: {
  caretaker: Caretaker;
  roles: readonly Role[];
  /** The source of the settings, watched for changes. Default: none. */
  config?: ConfigWatch;
}): Promise<Daemon> {
  const { caretaker, roles: given } = options;
  const { settings, registry, clock, log, records, engine } = caretaker;
  const { audit } = caretaker;
  const fires = given.includes('scheduler');
  const noteChanges = policyChangesTo(audit);
  const keepVersions = policyVersionsTo(caretaker);
  const onChange = (before: readonly Policy[], now: readonly Policy[]) => {
    void noteChanges(before, now);
    void keepVersions(now);
    if (fires)
      void keepLast().catch((error: unknown) =>
        log.warn({ err: error }, 'the active policies could not be stored; this is tried again'),
      );
  };
  const watcher = watchPolicies({
    ...{ settings: () => caretaker.settings, registry, clock, log, onChange },
    last: await records.lastPolicies.all(),
  });
  void keepVersions(watcher.policies());
  const noteSettings = settingsChangesTo(audit, settings);
  const moved = openMovedAccounts({ records, settings, clock, log });
  const agreement = openPolicyAgreement({
    watcher: { policies: () => moved.without(watcher.policies()), changedAt: watcher.changedAt },
    fires,
    owner: caretaker.owner,
    records,
    clock,
    log,
  });
  const keepAll = lastPoliciesTo(records, watcher, agreement);
  // What a process with another service has read says nothing about the policies of the right one.
  const keepLast = async () => (moved.found().length > 0 ? undefined : keepAll());
  const vitals = openVitals();
  const jumps: string[] = [];
  const state = {
    jumps,
    caretaker,
    given,
    watcher,
    moved,
    agreement,
    keepLast,
    vitals,
    startedAt: clock.now(),
  };
  const beats = new Map<Role, () => number | undefined>();
  const waiting = () => given.filter((role) => isStopped(beats.get(role)?.(), role, clock.now()));
  const warned = new Set<string>();
  const warn = (read: Settings) => {
    const policies = watcher.policies().map(({ name }) => name);
    for (const finding of warningsOf(read, policies)) {
      const text = `${placeOf(finding)}: ${finding.message}`;
      if (!warned.has(text)) log.warn(text);
      warned.add(text);
    }
  };
  const take = (read: Settings) => {
    caretaker.take(read);
    watcher.look();
    noteSettings(read);
    warn(read);
  };
  warn(settings);
  const watch = watchRedis({ store: caretaker.redis.store, queues: caretaker.queues, clock, log });
  const stops: (() => Promise<void>)[] = [
    async () => vitals.close(),
    () => watcher.close(),
    () => watch.close(),
  ];
  const stop = async () => {
    for (const end of stops.reverse()) {
      await end().catch((error: unknown) => log.warn({ err: error }, 'a part of the daemon failed to stop'));
    }
  };
  try {
    if (given.includes('worker')) {
      stops.push(logRunStarts(caretaker));
      const working = engine.work(settings.daemon.concurrency);
      beats.set('worker', () => working.beatAt());
      stops.push(() => working.stop());
      const notifying = caretaker.notifier.work(() => waiting().length === 0);
      stops.push(() => notifying.stop());
    }
    if (fires) {
      // Before anything fires, the daemons have to know each other's policies.
      await moved.look();
      await showPresence(state);
      // If the start fails after this, as on a used port, no one is told that this process runs.
      stops.push(() => records.presence.withdraw(caretaker.owner));
      await agreement.look();
      const scheduler = startScheduler({
        policies: agreement.active,
        known: watcher.policies,
        group: () => `${moved.digest}:${agreement.digestOfActive()}`,
        waitsUntil: waitsUntil(registry, watcher),
        fire: async (policy, firing) => {
          const at = clock.now();
          const run = await engine.fire(policy, firing);
          // A run that existed before was noted by the process that created it.
          const isNew = run.createdAt >= at;
          if (firing.trigger === 'catch-up' && isNew) noteCaughtUp(audit, run);
          if (isNew)
            records.measurements.note(
              'scheduleLateness',
              [firing.trigger],
              run.createdAt - dueAtOf(policy, firing),
            );
          return run;
        },
        records,
        clock,
        log,
      });
      beats.set('scheduler', () => scheduler.beatAt());
      stops.push(() => scheduler.stop());
    }
    if (options.config) {
      const { config } = options;
      stops.push(watchConfig(config, { started: settings, take, clock, log }));
    }
    if (!given.includes('dashboard')) {
      stops.push(heartbeat(state));
      return { stop };
    }
    // A third of the modules of a daemon: one without a dashboard does not need them, and the work of any other has begun.
    const { startDashboard } = await import('../dashboard/dashboard.ts');
    const dashboard = await startDashboard({
      ...settings.dashboard,
      ...overview(caretaker, watcher, {
        roles: given,
        waiting,
        differences: agreement.differences,
        moved: moved.found,
        troubles: () => [...watch.troubles(), ...jumps.map((message) => ({ stops: false, message }))],
        facts: watch.facts,
        vitals: vitals.read,
        redisSilentMs: watch.silentMs,
      }),
      records,
      queues: caretaker.queues,
      audit,
      onSignIn: signInsTo(audit, clock.now),
      clock,
      log,
    }).catch(async (error: unknown) => {
      throw (await runningAlready(error, caretaker)) ?? error;
    });
    stops.push(() => dashboard.close());
    stops.push(heartbeat({ ...state, dashboardPort: Number(new URL(dashboard.url).port) }));
    return { dashboard, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Whether a role is not running. The dashboard is, since it is asking. */
const isStopped = (beatAt: number | undefined, role: Role, now: number): boolean =>
  role !== 'dashboard' && (beatAt === undefined || now - beatAt > ROLE_TIMEOUT_MS);

/** The error for a port that is used by another daemon on this Redis; nothing when another program uses it. */
async function runningAlready(error: unknown, caretaker: Caretaker): Promise<DaemonRunsError | undefined> {
  if (systemCodeOf(error) !== 'EADDRINUSE') return undefined;
  const { settings, records, clock } = caretaker;
  const { port } = settings.dashboard;
  const processes = await records.presence.running(clock.now());
  const other = processes.find((one) => one.host === hostname() && one.dashboardPort === port);
  if (!other) return undefined;
  const started = `process ${other.pid}, since ${isoMinute(other.startedAt)}`;
  return new DaemonRunsError(
    `A daemon runs here already (${started}) and serves the dashboard on port ${port}. To share its work, start this one with --roles scheduler,worker; for a second dashboard, add --port.`,
    { cause: error },
  );
}

interface DaemonState {
  /** Those of the clock of Redis, as of the latest round. */
  jumps: string[];
  caretaker: Caretaker;
  given: readonly Role[];
  watcher: PolicyWatcher;
  moved: MovedAccounts;
  agreement: PolicyAgreement;
  keepLast: () => Promise<void>;
  vitals: VitalsMeter;
  startedAt: number;
  dashboardPort?: number;
}

/** Records that this process is running, with which roles and policies. */
async function showPresence({
  caretaker,
  given,
  watcher,
  agreement,
  vitals,
  startedAt,
  dashboardPort,
}: DaemonState): Promise<void> {
  return caretaker.records.presence.announce({
    id: caretaker.owner,
    pid: process.pid,
    host: hostname(),
    identity: await identityOnHost(),
    roles: [...given],
    startedAt,
    seenAt: caretaker.clock.now(),
    ...(dashboardPort === undefined ? {} : { dashboardPort }),
    keeps: [...watcher.kept()],
    policies: agreement.digest(),
    vitals: vitals.read(),
  });
}

/** How many entries of each queue wait or are active. */
async function depthOf(queues: Queues): Promise<Depth> {
  const counts = Object.entries(await queues.counts());
  return Object.fromEntries(counts.map(([queue, { waiting, active }]) => [queue, waiting + active]));
}

/** Repeats at an interval: records presence and the depth of the queues, logs freezes, compares policies, deletes old runs. */
function heartbeat(state: DaemonState): () => Promise<void> {
  const { caretaker, given, watcher, moved, agreement, keepLast } = state;
  const { records, clock, log, owner } = caretaker;
  const stopping = new AbortController();
  const { policies } = watcher;
  const budgets = openBudgetLooks({ records, clock, policies, budgets: budgetsOf(caretaker) });
  let prunedAt = Number.NEGATIVE_INFINITY;
  let frozen: string[] = [];
  const round = async () => {
    const seenAt = clock.now();
    if (given.includes('scheduler'))
      await noteMaintenance(records, caretaker.settings.maintenance, clock, { drops: true });
    const freezes = (await records.freeze.active(seenAt)).map(
      (freeze) => `${formatFrozen(freeze)} is ${formatFreeze(freeze)}: ${effectOf(freeze)}`,
    );
    for (const freeze of freezes) if (!frozen.includes(freeze)) log.warn(freeze);
    if (freezes.length === 0 && frozen.length > 0) log.info('no longer frozen: policies fire again');
    frozen = freezes;
    await moved.look();
    await showPresence(state);
    state.jumps.splice(0, Number.POSITIVE_INFINITY, ...(await clockJumps(records.alerts, seenAt)));
    await records.depths.note(seenAt, () => depthOf(caretaker.queues));
    await noteBrokenFiles(records, watcher, seenAt);
    await agreement.look();
    if (given.includes('scheduler')) await keepLast();
    if (given.includes('scheduler') && seenAt - prunedAt >= PRUNE_INTERVAL_MS) {
      prunedAt = seenAt;
      const before = seenAt - caretaker.settings.retention.runsMs;
      await records.ledger.prune(before);
      const removed = await records.runs.prune(before);
      if (removed > 0) log.info({ runs: removed }, 'old runs deleted (retention)');
    }
    if (given.includes('scheduler')) await budgets.look();
  };
  const rounds = (async () => {
    while (!stopping.signal.aborted) {
      await round().catch((error: unknown) =>
        log.warn({ err: error }, 'housekeeping failed; it is tried again'),
      );
      await clock.sleep(HEARTBEAT_INTERVAL_MS, stopping.signal);
    }
  })();
  return async () => {
    stopping.abort();
    await rounds;
    await records.presence.withdraw(owner);
  };
}

/** Logs until stopped. Events that are missed while Redis is away are not logged. */
function logRunStarts({ records, log }: Caretaker): () => Promise<void> {
  const logStart = async (event: CaretakerEvent) => {
    if (event.type !== 'run.moved' || event.status !== 'planning') return;
    const run = await records.runs.get(event.run);
    // A run that was blocked while planning is planned again. It started before.
    if (run?.startedAt === event.at) log.info({ run: run.id, trigger: run.trigger }, 'a run starts');
  };
  const warn = (error: unknown) => log.warn({ err: error }, 'the start of a run could not be logged');
  const listening = records.listen((event) => void logStart(event).catch(warn));
  listening.catch(warn);
  return async () => (await listening)();
}

/** From a change until a run on schedule begins; the files are looked at every few seconds. */
const WAIT_MS = 60_000;

/** Until when the runs on schedule of a policy wait. */
export const waitsUntil =
  (registry: Pick<Registry, 'get'>, { changedAt }: Pick<PolicyWatcher, 'changedAt'>) =>
  (policy: Policy): number =>
    canDestroy(registry, policy) ? changedAt(policy.name) + WAIT_MS : 0;

/** Whether its job has changes that are verified directly before they are made: deletions, mails, migrations. */
function canDestroy(registry: Pick<Registry, 'get'>, policy: Policy): boolean {
  const job = jobOf(registry, policy);
  return job === undefined || verifiedOperations(job, policy.options).length > 0;
}
