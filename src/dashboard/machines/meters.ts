/**
 * What Prometheus reads. Labels take their values from closed lists and from the settings, so that the number of
 * series is bounded: no run, target or policy is a label.
 *
 * What is counted from events counts since this process started, and what every process did: several dashboards on
 * one Redis show the same counts, so take one of them and do not add them up.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { isFinal } from '../../run/moves.ts';
import { reasons } from '../../run/reasons.ts';
import { outcomes, runStatuses } from '../../run/run.ts';
import type { News } from '../live/news.ts';
import type { DashboardOptions } from '../options.ts';
import type { Reader } from '../reading/reader.ts';

export interface Meters {
  contentType: string;
  /** Reads what has to be read, and gives all of it in Prometheus's text format. */
  text(): Promise<string>;
}

export interface MetersSource extends Pick<DashboardOptions, 'queues' | 'policies' | 'health' | 'metrics'> {
  reader: Reader;
  news: News;
}

export function createMeters(source: MetersSource): Meters {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  countEvents(source.news, registry);

  new Gauge({
    name: 'caretaker_up',
    help: '1 when Redis answers and every role of this process is at work.',
    registers,
    async collect() {
      const { redis, waiting } = await source.health();
      this.set(redis === 'up' && waiting.length === 0 ? 1 : 0);
    },
  });
  new Gauge({
    name: 'caretaker_policies',
    help: 'Policies in force.',
    registers,
    collect() {
      this.set(source.policies().length);
    },
  });
  new Gauge({
    name: 'caretaker_policy_files_broken',
    help: 'Policy files with mistakes; what they held before stays in force.',
    registers,
    async collect() {
      this.set((await source.health()).brokenFiles.length);
    },
  });
  new Gauge({
    name: 'caretaker_runs_active',
    help: 'Runs that have not ended, by status.',
    labelNames: ['status'],
    registers,
    async collect() {
      const runs = await source.reader.activeRuns();
      for (const status of runStatuses.filter((one) => !isFinal(one))) {
        this.set({ status }, runs.filter((run) => run.status === status).length);
      }
    },
  });
  new Gauge({
    name: 'caretaker_queue_entries',
    help: 'Entries in the queues, by whether they wait or are being worked on.',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      for (const [queue, { waiting, active }] of Object.entries(await source.queues.counts())) {
        this.set({ queue, state: 'waiting' }, waiting);
        this.set({ queue, state: 'active' }, active);
      }
    },
  });
  if (source.metrics) addGiven(source.metrics, registry);
  return { contentType: registry.contentType, text: () => registry.metrics() };
}

function addGiven(given: NonNullable<DashboardOptions['metrics']>, registry: Registry): void {
  new Gauge({
    name: 'caretaker_budget_requests',
    help: "Requests of an account's present window: how many it has, and how many are left.",
    labelNames: ['account', 'state'],
    registers: [registry],
    async collect() {
      for (const { account, limit, remaining } of await given.budgets()) {
        this.set({ account, state: 'limit' }, limit);
        this.set({ account, state: 'remaining' }, remaining);
      }
    },
  });
  new Gauge({
    name: 'caretaker_contract_deviations',
    help: 'Answers of the service that deviated from its contract, since this process started.',
    registers: [registry],
    collect() {
      this.set(given.drift());
    },
  });
}

function countEvents(news: News, registry: Registry): void {
  const moves = new Counter({
    name: 'caretaker_run_moves_total',
    help: 'Moves of runs to a status, seen since this process started.',
    labelNames: ['status'],
    registers: [registry],
  });
  const ends = new Counter({
    name: 'caretaker_targets_ended_total',
    help: 'Targets that got their outcome, seen since this process started.',
    labelNames: ['outcome', 'reason'],
    registers: [registry],
  });
  news.on((event) => {
    if (event.type === 'run.moved') moves.inc({ status: oneOf(runStatuses, event.status) });
    if (event.type === 'target.ended') {
      ends.inc({ outcome: oneOf(outcomes, event.outcome), reason: oneOf(reasonCodes, event.reason) });
    }
  });
}

const reasonCodes = Object.keys(reasons);

/** The value if the list has it: a newer version on the same Redis may know more, and labels stay bounded. */
const oneOf = (list: readonly string[], value: string): string => (list.includes(value) ? value : 'other');
