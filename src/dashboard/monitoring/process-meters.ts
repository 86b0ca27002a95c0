/**
 * The usual metrics of a Node process, with their usual names. prom-client has more, but measures the event loop a
 * hundred times a second and every garbage collection, which costs more than a daemon with nothing to do.
 */
import { readdirSync } from 'node:fs';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Vitals } from '../../records/presence-store.ts';

export function addNodeProcess(vitals: () => Vitals, registry: Registry): void {
  const registers = [registry];
  const gauge = (name: string, help: string, value: () => number | undefined) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const found = value();
        if (found !== undefined) this.set(found);
      },
    });
  const counter = (name: string, help: string, value: () => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(value());
      },
    });
  const cpu = (of: (usage: NodeJS.CpuUsage) => number) => () => of(process.cpuUsage()) / 1e6;
  counter(
    'process_cpu_user_seconds_total',
    'Total user CPU time spent in seconds.',
    cpu(({ user }) => user),
  );
  counter(
    'process_cpu_system_seconds_total',
    'Total system CPU time spent in seconds.',
    cpu(({ system }) => system),
  );
  counter(
    'process_cpu_seconds_total',
    'Total user and system CPU time spent in seconds.',
    cpu(({ user, system }) => user + system),
  );
  const startedAt = Math.round(Date.now() / 1_000 - process.uptime());
  gauge(
    'process_start_time_seconds',
    'Start time of the process since unix epoch in seconds.',
    () => startedAt,
  );
  gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage().rss);
  gauge('process_open_fds', 'Number of open file descriptors; only on Linux.', openFiles);
  gauge(
    'nodejs_heap_size_total_bytes',
    'Process heap size from Node.js in bytes.',
    () => process.memoryUsage().heapTotal,
  );
  gauge(
    'nodejs_heap_size_used_bytes',
    'Process heap size used from Node.js in bytes.',
    () => process.memoryUsage().heapUsed,
  );
  gauge(
    'nodejs_external_memory_bytes',
    'Node.js external memory size in bytes.',
    () => process.memoryUsage().external,
  );
  gauge(
    'nodejs_active_resources_total',
    'Total number of active resources that keep the event loop alive.',
    () => process.getActiveResourcesInfo().length,
  );
  gauge(
    'nodejs_eventloop_lag_p90_seconds',
    'What 9 of 10 timers of the last minute were at most late by.',
    () => vitals().lagMs / 1_000,
  );
  gauge(
    'nodejs_eventloop_lag_max_seconds',
    'How late the latest timer of the last minute was.',
    () => vitals().maxLagMs / 1_000,
  );
  new Gauge({
    name: 'nodejs_version_info',
    help: 'Node.js version info.',
    labelNames: ['version'],
    registers,
  }).set({ version: process.version }, 1);
}

/** Not known where there is no such folder. */
function openFiles(): number | undefined {
  try {
    // Without the one that reads the folder.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}
