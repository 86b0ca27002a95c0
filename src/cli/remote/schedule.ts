/** The commands about scheduled times, on a server. */
import { isoTime } from '../../clock.ts';
import { toRun } from '../../run/from-report.ts';
import type { RunSummary } from '../../run/report.ts';
import type { BackfillReport } from '../../schedule/backfill.ts';
import type { UpcomingRuns } from '../../schedule/upcoming-runs.ts';
import { formatNoSpan, spansOf } from '../../schedule/wall-time.ts';
import type { Explanation } from '../../schedule/why.ts';
import {
  type BackfillOptions,
  printTimes,
  showBackfill,
  showBackfilled,
  spanOf,
  worstOf,
} from '../commands/backfill.ts';
import { showUpcoming } from '../commands/next.ts';
import { showExplanation } from '../commands/why.ts';
import { exit, UsageError } from '../exit.ts';
import { pauseIn } from '../from-answers.ts';
import { clockOf } from '../io.ts';
import { formatPause } from '../output/pause.ts';
import { isForPeople, type OutputOption } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';
import { readSummary } from './act-on-run.ts';
import { pathOf, policyNamed } from './policies.ts';
import type { Server } from './server.ts';
import { watchRemoteRun } from './watch.ts';

/** Lists the upcoming scheduled runs of the server. */
export async function next(
  terminal: Terminal,
  server: Server,
  names: string[],
  options: OutputOption & { days: number; limit: number },
): Promise<number> {
  for (const name of names) await policyNamed(server, name);
  const { days, limit } = options;
  const found = await server.get<UpcomingRuns>('/schedule', { policy: names, days, limit });
  await showUpcoming(found, terminal, options);
  return exit.ok;
}

/** Explains the scheduled times of a policy of the server. */
export async function why(
  terminal: Terminal,
  server: Server,
  [name = '', when = '']: string[],
  options: OutputOption,
): Promise<number> {
  const { timezone } = await policyNamed(server, name);
  if (!spansOf(when, timezone ?? 'UTC', clockOf(terminal.io).now())) throw new UsageError(formatNoSpan(when));
  await showExplanation(await server.get<Explanation>(pathOf(name, 'why'), { when }), terminal, options);
  return exit.ok;
}

/** Starts runs for past scheduled times on the server, and follows them one after the other. */
export async function backfill(
  terminal: Terminal,
  server: Server,
  [name = '']: string[],
  options: BackfillOptions,
): Promise<number> {
  const { timezone, paused } = await policyNamed(server, name);
  const span = spanOf(timezone ?? 'UTC', options, clockOf(terminal.io).now());
  const range = { from: isoTime(span.from), to: isoTime(span.to), reprocess: options.reprocess };
  const planned = await server.get<BackfillReport>(pathOf(name, 'backfill'), range);
  if (options.dryRun) return showBackfill(planned, span, terminal, options);
  if (paused)
    terminal.message(
      `${name} is ${formatPause(pauseIn(paused))}. The backfill runs anyway, because you requested it.`,
    );
  if (isForPeople(options)) printTimes(planned, terminal, options);
  const { scheduled_times: made } = await server.post<{
    scheduled_times: (Omit<BackfillReport['scheduled_times'][number], 'run'> & { run: RunSummary | null })[];
  }>(pathOf(name, 'backfill'), {
    ...range,
    detach: true,
    ...(options.ignoreFreeze ? { ignore_freeze: true } : {}),
    ...(options.reason === undefined ? {} : { reason: options.reason }),
  });
  const runs = made.flatMap(({ run }) => (run ? [toRun(run)] : []));
  const silent = !isForPeople(options);
  const code = options.detach
    ? exit.ok
    : await worstOf(runs, (run) => watchRemoteRun(server, run, terminal, { silent }));
  const now = new Map(
    (await Promise.all(runs.map(({ id }) => readSummary(server, id)))).map((run) => [run.id, run.status]),
  );
  const times = planned.scheduled_times.map((time) => {
    const id = made.find((one) => one.scheduled_for === time.scheduled_for)?.run?.run ?? null;
    return { ...time, run: id, status: (id === null ? undefined : now.get(id)) ?? null };
  });
  await showBackfilled({ ...planned, scheduled_times: times }, span, terminal, options);
  return code;
}
