/**
 * The metrics for Prometheus. Labels have values from closed lists and the settings, so that the number of
 * series is bounded: no run, target or policy is a label.
 *
 * Counters count the events of all processes since this process started. Several dashboards on one Redis have
 * the same counts, so scrape one of them and do not add several up.
 */
import { Counter, Gauge, Registry } from 'prom-client';
import type { Clock } from '../../clock.ts';
import type { DeliveryStore } from '../../records/delivery-store.ts';
import type { MeasurementStore } from '../../records/measurement-store.ts';
import { type PolicyState, pauseAt } from '../../records/policy-store.ts';
import { shownOutcome } from '../../run/moves.ts';
import type { Reasons } from '../../run/reasons.ts';
import { outcomes, runStatuses } from '../../run/run.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { DashboardOptions } from '../options.ts';
import type { Reader } from '../queries/reader.ts';
import { type SystemStatus, systemStatusOf } from '../queries/system-status.ts';
import { addAccounts } from './account-meters.ts';
import { addAttempts, addUndelivered, notified, undelivered } from './delivery-metrics.ts';
import { addHistograms, oneOf } from './histograms.ts';
import { addNodeProcess } from './process-meters.ts';
import { type ReadOnce, readOnce } from './read-once.ts';

export interface Meters {
  contentType: string;
  /** Reads the current values and gives all metrics in Prometheus's text format. */
  text(): Promise<string>;
  close(): Promise<void>;
}

export interface MetersSource
  extends Pick<
    DashboardOptions,
    | 'queues'
    | 'policies'
    | 'registry'
    | 'reasons'
    | 'health'
    | 'vitals'
    | 'accounts'
    | 'drift'
    | 'receivers'
    | 'clock'
  > {
  reader: Reader;
  eventBus: EventBus;
  deliveries: Pick<DeliveryStore, 'open'>;
  measurements: Pick<MeasurementStore, 'listen'>;
}

type CachedStatus = ReadOnce<SystemStatus>;

/** The roles that are counted; an unknown role of a newer version gets no series. */
const roles = ['scheduler', 'worker', 'dashboard'] as const;

/** Listens to the measurements of every process. Call `close` to stop that. */
export async function openMeters(source: MetersSource): Promise<Meters> {
  // Without Redis, what this process knows by itself is still served.
  const [own, fromRedis] = [new Registry(), new Registry()];
  addNodeProcess(source.vitals, own);
  countEvents(source.eventBus, source.reasons, own);
  const receivers = () => notified(source.receivers());
  const observe = addHistograms(source.eventBus, source.registry, receivers, own);
  const countAttempt = addAttempts(receivers, own);
  const stop = await source.measurements.listen((measurement) => {
    observe(measurement);
    countAttempt(measurement);
  });
  const status = readOnce(() => systemStatusOf(source));
  addProcess(source, status, own);
  addDaemons(status, fromRedis);
  addRecords(source, fromRedis);
  const states = readOnce(() => source.reader.policyStates(source.policies()));
  addPolicies(states, source.clock, fromRedis);
  addAccounts(status, fromRedis);
  const open = readOnce(() => undelivered(receivers(), source.deliveries));
  addUndelivered(open, source.clock, fromRedis);
  return {
    contentType: own.contentType,
    text: async () => {
      status.forget();
      states.forget();
      open.forget();
      const { redis } = (await status.get()).health;
      const served = redis === 'up' ? Registry.merge([own, fromRedis]) : own;
      // prom-client writes `Nan`; the format has `NaN`.
      return (await served.metrics()).replace(/ Nan$/gm, ' NaN');
    },
    close: stop,
  };
}

function addProcess(source: MetersSource, status: CachedStatus, registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: 'caretaker_up',
    help: '1 when Redis answers, takes writes and has no paused queue, and every role of this process is running, else 0.',
    registers,
    async collect() {
      const { redis, waiting, troubles } = (await status.get()).health;
      const stands = waiting.length > 0 || troubles.some(({ stops }) => stops);
      this.set(redis === 'up' && !stands ? 1 : 0);
    },
  });
  new Gauge({
    name: 'caretaker_redis_up',
    help: '1 when Redis answers, else 0; then only what this process knows by itself is served.',
    registers,
    async collect() {
      this.set((await status.get()).health.redis === 'up' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'caretaker_policies',
    help: 'Active policies.',
    registers,
    collect() {
      this.set(source.policies().length);
    },
  });
  new Gauge({
    name: 'caretaker_policy_files_broken',
    help: 'Policy files with errors; their previous version stays active.',
    registers,
    async collect() {
      this.set((await status.get()).health.brokenFiles.length);
    },
  });
  new Counter({
    name: 'caretaker_contract_deviations_total',
    help: 'Answers of the service that deviated from its contract, since this process started.',
    registers,
    collect() {
      this.reset();
      this.inc(source.drift());
    },
  });
}

function addDaemons(status: CachedStatus, registry: Registry): void {
  new Gauge({
    name: 'caretaker_daemons',
    help: 'Daemons running on this Redis, by role.',
    labelNames: ['role'],
    registers: [registry],
    async collect() {
      const { processes } = await status.get();
      for (const role of roles) {
        this.set({ role }, processes.filter((process) => process.roles.includes(role)).length);
      }
    },
  });
}

function addPolicies(states: ReadOnce<Map<string, PolicyState>>, clock: Clock, registry: Registry): void {
  const count = async (holds: (state: PolicyState) => boolean) =>
    [...(await states.get()).values()].filter(holds).length;
  new Gauge({
    name: 'caretaker_policies_failing',
    help: 'Active policies whose last run failed.',
    registers: [registry],
    async collect() {
      this.set(await count(({ failures }) => failures > 0));
    },
  });
  new Gauge({
    name: 'caretaker_policies_paused',
    help: 'Active policies that are paused, by people or after failures.',
    registers: [registry],
    async collect() {
      const now = clock.now();
      this.set(await count((state) => pauseAt(state, now) !== undefined));
    },
  });
}

function addRecords(source: MetersSource, registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: 'caretaker_runs',
    help: 'Runs in the records, by status; retention deletes ended ones.',
    labelNames: ['status'],
    registers,
    async collect() {
      for (const [status, count] of await source.reader.runsByStatus()) this.set({ status }, count);
    },
  });
  new Gauge({
    name: 'caretaker_queue_entries',
    help: 'Entries in the queues, waiting or active.',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      for (const [queue, { waiting, active }] of Object.entries(await source.queues.counts())) {
        this.set({ queue, state: 'waiting' }, waiting);
        this.set({ queue, state: 'active' }, active);
      }
    },
  });
}

function countEvents(eventBus: EventBus, reasons: Reasons, registry: Registry): void {
  const moves = new Counter({
    name: 'caretaker_run_moves_total',
    help: 'Moves of runs to a status, creation included, since this process started.',
    labelNames: ['status'],
    registers: [registry],
  });
  const ends = new Counter({
    name: 'caretaker_targets_ended_total',
    help: 'Targets that ended, by outcome and reason, since this process started. A check that found something is `found`, not `failed`.',
    labelNames: ['outcome', 'reason'],
    registers: [registry],
  });
  // A series that begins at 1 shows no increase, so those that alerts look at begin at 0.
  for (const status of runStatuses) moves.inc({ status }, 0);
  const reasonCodes = [...reasons.keys()];
  for (const reason of reasonCodes) ends.inc({ outcome: shownOutcome(reasons, 'failed', reason), reason }, 0);
  eventBus.on((event) => {
    if (event.type === 'run.moved') moves.inc({ status: oneOf(runStatuses, event.status) });
    if (event.type === 'target.ended') {
      const reason = oneOf(reasonCodes, event.reason);
      const outcome = oneOf(outcomes, event.outcome);
      ends.inc({ outcome: outcome === 'failed' ? shownOutcome(reasons, outcome, reason) : outcome, reason });
    }
  });
}
