/**
 * The metrics for Prometheus. Labels have values from closed lists and the settings, so that the number of
 * series is bounded: no run, target or policy is a label.
 *
 * Counters count the events of all processes since this process started. Several dashboards on one Redis have
 * the same counts, so scrape one of them and do not add several up.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { outcomes, runStatuses } from '../../run/run.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { DashboardOptions } from '../options.ts';
import type { Reader } from '../queries/reader.ts';
import { type SystemStatus, supervisorLagMs, systemStatusOf } from '../queries/system-status.ts';

export interface Meters {
  contentType: string;
  /** Reads the current values and gives all metrics in Prometheus's text format. */
  text(): Promise<string>;
}

export interface MetersSource
  extends Pick<
    DashboardOptions,
    'queues' | 'policies' | 'reasons' | 'health' | 'accounts' | 'drift' | 'clock'
  > {
  reader: Reader;
  eventBus: EventBus;
}

/** The roles that are counted; an unknown role of a newer version gets no series. */
const roles = ['scheduler', 'worker', 'dashboard'] as const;

export function createMeters(source: MetersSource): Meters {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  countEvents(source.eventBus, [...source.reasons.keys()], registry);
  const status = readOnce(() => systemStatusOf(source));
  addProcess(source, status, registry);
  addRecords(source, registry);
  addAccounts(status, registry);
  return {
    contentType: registry.contentType,
    text: async () => {
      status.forget();
      // prom-client writes `Nan`; the format has `NaN`.
      return (await registry.metrics()).replace(/ Nan$/gm, ' NaN');
    },
  };
}

/** A value that several metrics need, read once for each scrape. */
interface CachedStatus {
  get(): Promise<SystemStatus>;
  forget(): void;
}

function readOnce(read: () => Promise<SystemStatus>): CachedStatus {
  let reading: Promise<SystemStatus> | undefined;
  return {
    get: () => {
      reading ??= read();
      return reading;
    },
    forget: () => {
      reading = undefined;
    },
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
    name: 'caretaker_daemons',
    help: 'Daemons running on this Redis, by role.',
    labelNames: ['role'],
    registers,
    async collect() {
      const { processes } = await status.get();
      for (const role of roles) {
        this.set({ role }, processes.filter((process) => process.roles.includes(role)).length);
      }
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

function addAccounts(status: CachedStatus, registry: Registry): void {
  const gauge = (
    name: string,
    help: string,
    value: (account: SystemStatus['accounts'][number], now: number) => number | undefined,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ['account'],
      registers: [registry],
      async collect() {
        this.reset();
        const { accounts, now } = await status.get();
        for (const account of accounts) {
          const found = value(account, now);
          if (found !== undefined) this.set({ account: account.account }, found);
        }
      },
    });
  gauge(
    'caretaker_budget_limit_requests',
    'Requests that the account has in a minute.',
    ({ limit }) => limit,
  );
  gauge(
    'caretaker_budget_left_requests',
    'Requests left in the current minute of the account, the reserve included.',
    ({ left }) => left,
  );
  gauge(
    'caretaker_budget_used_requests',
    'Requests used in the current minute of the account, by Caretaker and others.',
    ({ limit, left }) => limit - left,
  );
  gauge('caretaker_account_blocked', '1 while the account refuses access, else 0.', ({ blocked }) =>
    blocked ? 1 : 0,
  );
  gauge(
    'caretaker_account_failing_seconds',
    'Seconds for which the service has given no usable answer for the account; 0 while it answers.',
    ({ failingSince }, now) => (failingSince === undefined ? 0 : (now - failingSince) / 1000),
  );
  gauge(
    'caretaker_supervisor_lag_seconds',
    'Seconds since a process last supervised the runs of the account; 0 while it has no active runs.',
    (account, now) => {
      const lag = supervisorLagMs(account, now);
      return lag === undefined ? undefined : lag / 1000;
    },
  );
  new Counter({
    name: 'caretaker_requests_total',
    help: 'Requests that the budget of the account granted, by class; every process counts.',
    labelNames: ['account', 'class'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { account, requests } of (await status.get()).accounts) {
        for (const [name, count] of Object.entries(requests)) this.inc({ account, class: name }, count);
      }
    },
  });
}

function countEvents(eventBus: EventBus, reasonCodes: readonly string[], registry: Registry): void {
  const moves = new Counter({
    name: 'caretaker_run_moves_total',
    help: 'Moves of runs to a status, creation included, since this process started.',
    labelNames: ['status'],
    registers: [registry],
  });
  const ends = new Counter({
    name: 'caretaker_targets_ended_total',
    help: 'Targets that ended, by outcome and reason, since this process started.',
    labelNames: ['outcome', 'reason'],
    registers: [registry],
  });
  eventBus.on((event) => {
    if (event.type === 'run.moved') moves.inc({ status: oneOf(runStatuses, event.status) });
    if (event.type === 'target.ended') {
      ends.inc({ outcome: oneOf(outcomes, event.outcome), reason: oneOf(reasonCodes, event.reason) });
    }
  });
}

/** The value, or `other` for one that only a newer version on this Redis knows: labels stay bounded. */
const oneOf = (list: readonly string[], value: string): string => (list.includes(value) ? value : 'other');
