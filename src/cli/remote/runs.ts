/** The commands about runs, on a server. */
import { loadJobs } from '../../app/load-jobs.ts';
import { isoTime } from '../../clock.ts';
import { type PlanReport, toPreview } from '../../engine/plan/plan-report.ts';
import { toRun } from '../../run/from-report.ts';
import { isFinal } from '../../run/moves.ts';
import type { RunSummary, TargetReport } from '../../run/report.ts';
import type { Run } from '../../run/run.ts';
import { checkTargets, showSkipped, showStarted } from '../commands/run.ts';
import {
  formatNone,
  newestFirst,
  queriesOf,
  type ShowOptions,
  showList,
  showTarget,
  showTargets,
  statusOf,
} from '../commands/runs.ts';
import { printCancelled, printReleased, showForceEnded } from '../commands/runs-act.ts';
import { requireLineFormat, showLines } from '../commands/runs-export.ts';
import { isWaiting, printUnchanged, showWaiting } from '../commands/runs-watch.ts';
import type { ReasonOption } from '../context.ts';
import { exit } from '../exit.ts';
import { pauseIn } from '../from-answers.ts';
import { clockOf } from '../io.ts';
import { formatPause, printFreezes } from '../output/pause.ts';
import type { Format, OutputOption } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';
import { sinceOf } from '../parse-since.ts';
import { actOnRun, processOf, runNamed, runPathOf } from './act-on-run.ts';
import { plan } from './plan.ts';
import { policyNamed, readFreezes } from './policies.ts';
import type { Server } from './server.ts';
import { follow, printRemoteEnd, readRun, watchRemoteRun } from './watch.ts';

interface StartOptions extends OutputOption, ReasonOption {
  detach?: boolean;
  ignoreFreeze?: true;
}

/** Starts a run on the server, whose daemon does the work, and follows it to its end. */
export async function run(
  terminal: Terminal,
  server: Server,
  [name = '']: string[],
  options: StartOptions & { dryRun?: boolean; target?: string[] },
): Promise<number> {
  if (options.dryRun) return plan(terminal, server, [name], options);
  const { paused, job } = await policyNamed(server, name);
  if (paused)
    terminal.message(`${name} is ${formatPause(pauseIn(paused))}. It runs anyway, because you requested it.`);
  const path = `/policies/${encodeURIComponent(name)}`;
  const { target } = options;
  if (target)
    await checkTargets(
      { name, job: (await loadJobs()).get(job) },
      target,
      async () => toPreview(await server.get<PlanReport>(`${path}/plan`, { target })),
      terminal,
    );
  return start(terminal, server, `${path}/run`, {
    ...options,
    ...(target ? { body: { targets: target } } : {}),
    targetsNamed: target !== undefined,
  });
}

/** Starts a run by a command, and follows it unless the work is left to the daemon. */
export async function start(
  terminal: Terminal,
  server: Server,
  path: string,
  { body = {}, targetsNamed = false, ...options }: StartOptions & { body?: object; targetsNamed?: boolean },
): Promise<number> {
  const { run: summary } = await server.post<{ run: RunSummary }>(path, {
    ...body,
    ...(options.ignoreFreeze ? { ignore_freeze: true } : {}),
    ...(options.reason === undefined ? {} : { reason: options.reason }),
    detach: true,
  });
  const started = toRun(summary);
  if (started.status === 'skipped')
    return showSkipped(started, await activeRunOf(server, started), terminal, options);
  if (options.detach) return showStarted(started, terminal, options);
  return watchRemoteRun(server, started, terminal, { output: options.output, targetsNamed });
}

/** The active run of the policy of a skipped one, with the process that works on it. */
async function activeRunOf(server: Server, { policy }: Run) {
  const { runs } = await server.get<{ runs: RunSummary[] }>('/runs', { policy, limit: 100 });
  const active = runs.find(({ status }) => !isFinal(status));
  return active && { run: toRun(active), activeProcess: await processOf(server, toRun(active)) };
}

const MAX_LISTED = 1_000;

/** Lists runs, newest first. */
export async function listRuns(
  terminal: Terminal,
  server: Server,
  _args: string[],
  options: OutputOption & { policy?: string[]; status?: string[]; since?: string; limit: number },
): Promise<number> {
  const statuses = options.status?.map(statusOf);
  const { policy: policies } = options;
  const since = sinceOf(options.since, clockOf(terminal.io).now());
  const lists = await Promise.all(
    queriesOf(policies, statuses).map((query) =>
      server.get<{ runs: RunSummary[] }>('/runs', {
        ...query,
        since: since === undefined ? undefined : isoTime(since),
        limit: Math.min(options.limit + 1, MAX_LISTED),
      }),
    ),
  );
  const found = newestFirst(
    lists.flatMap((one) => one.runs),
    (one) => Date.parse(one.created_at),
  );
  const runs = found.slice(0, options.limit);
  // A policy without runs and without a file is probably misspelled.
  for (const policy of policies ?? [])
    if (!runs.some((one) => one.policy === policy)) await policyOrRuns(server, policy);
  printFreezes(await readFreezes(server), terminal);
  const none = formatNone({ policies, statuses, since });
  const listed = {
    runs: runs.map((one) => toRun(one)),
    value: runs,
    none,
    hasOlder: found.length > runs.length,
  };
  return showList(terminal, options, listed, (one) => processOf(server, one));
}

/** @throws {UsageError} when the server has neither the policy nor runs of it. */
async function policyOrRuns(server: Server, policy: string): Promise<void> {
  const { runs } = await server.get<{ runs: RunSummary[] }>('/runs', { policy, limit: 1 });
  if (runs.length === 0) await policyNamed(server, policy);
}

/** Shows a run with all its targets. */
export async function showRun(
  terminal: Terminal,
  server: Server,
  [word = '']: string[],
  options: OutputOption & ShowOptions,
): Promise<number> {
  const { run, targets: all } = await readRun(server, (await runNamed(server, word)).id);
  if (options.target !== undefined)
    return showTarget(
      run,
      all.find(({ id }) => id === options.target),
      terminal,
      options,
    );
  const targets = options.failed ? all.filter(({ outcome }) => outcome === 'failed') : all;
  return showTargets(terminal, options, { run, targets }, async () => ({
    activeProcess: await processOf(server, run),
    now: clockOf(terminal.io).now(),
  }));
}

const PAGE = 1_000;

/** Prints the targets of a run, one per line. Reads and writes page by page. */
export async function exportRun(
  terminal: Terminal,
  server: Server,
  [word = '']: string[],
  { output }: { output: Format },
): Promise<number> {
  requireLineFormat(word, output);
  const { id } = await runNamed(server, word);
  async function* rows() {
    for (let from: number | null = 0; from !== null; ) {
      const page: { targets: TargetReport[]; next: number | null } = await server.get(
        `${runPathOf(id)}/targets`,
        { from, limit: PAGE },
      );
      for (const target of page.targets) yield { run: id, ...target };
      from = page.next;
    }
  }
  await showLines(rows(), terminal, output);
  return exit.ok;
}

/** Follows a run to its end; starts and changes nothing. */
export async function watchRun(
  terminal: Terminal,
  server: Server,
  [word = 'last']: string[],
  options: OutputOption,
): Promise<number> {
  const first = await runNamed(server, word);
  const { run, isInterrupted } = await follow(server, first, terminal, isWaiting);
  if (isFinal(run.status)) return printRemoteEnd(server, run, terminal, options);
  if (isInterrupted) return printUnchanged(run, terminal);
  const { targets } = await readRun(server, run.id);
  return showWaiting(run, targets, terminal, options);
}

/** Cancels a run; the daemon of the server completes the cancellation. */
export async function cancelRun(
  terminal: Terminal,
  server: Server,
  [word = '']: string[],
  options: OutputOption & ReasonOption & { force?: boolean; leaveTasks?: boolean },
): Promise<number> {
  const { id, status } = await runNamed(server, word);
  const reason = options.reason === undefined ? {} : { reason: options.reason };
  if (options.force) {
    await server.post(`${runPathOf(id)}/force-end`, reason);
    const { run, targets } = await readRun(server, id);
    return showForceEnded(run, targets, terminal, options);
  }
  // Read before cancelling: once the run has ended, there may be no active process.
  const activeProcess = await processOf(server, { id });
  const { run: summary } = await server.post<{ run: RunSummary }>(`${runPathOf(id)}/cancel`, {
    ...reason,
    ...(options.leaveTasks ? { leave_tasks: true } : {}),
  });
  if (isFinal(summary.status)) terminal.message(`${id} is cancelled. No work was in progress.`);
  else printCancelled({ id, wasBlocked: status === 'blocked', activeProcess }, terminal, options);
  return exit.ok;
}

/** Starts a new run with the targets that failed, and follows it. */
export async function retryRun(
  terminal: Terminal,
  server: Server,
  [word = '']: string[],
  options: StartOptions,
): Promise<number> {
  const { id } = await runNamed(server, word);
  return start(terminal, server, `${runPathOf(id)}/retry`, options);
}

/** Continues a held run. */
export const releaseRun = (
  terminal: Terminal,
  server: Server,
  [word = '']: string[],
  { reason }: ReasonOption,
): Promise<number> =>
  actOnRun(server, { command: 'release', input: { reason } }, word, (acted) =>
    printReleased(acted, terminal),
  );

/** Tries a blocked run at once, and follows it. */
export async function continueRun(
  terminal: Terminal,
  server: Server,
  [word = '']: string[],
  options: OutputOption,
): Promise<number> {
  const { id } = await runNamed(server, word);
  const { run: summary } = await server.post<{ run: RunSummary }>(`${runPathOf(id)}/continue`);
  const isCancelled = summary.ending === 'cancelled';
  return watchRemoteRun(server, toRun(summary), terminal, { output: options.output, isCancelled });
}
