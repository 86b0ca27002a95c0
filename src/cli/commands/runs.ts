import { isoMinute } from '../../clock.ts';
import { findActiveProcess } from '../../control/active-process.ts';
import { isFinal } from '../../run/moves.ts';
import { type RunSummary, toSummary } from '../../run/report.ts';
import { type Run, type RunStatus, runStatuses, type Target } from '../../run/run.ts';
import { stepNamesOf } from '../../run/steps.ts';
import { suggestionFor } from '../../suggest.ts';
import { formatRunCommands, withoutActiveProcess } from '../active-process.ts';
import { type GlobalOptions, hasRecords, policyNamed, settingsOf, withRecords } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { clockOf } from '../io.ts';
import { formatFindings } from '../output/findings.ts';
import { printFreezes } from '../output/pause.ts';
import { requestLines } from '../output/request-lines.ts';
import { formatLostWork } from '../output/run-advice.ts';
import { showReport } from '../output/run-report.ts';
import { isForPeople, type OutputOption, show } from '../output/show.ts';
import {
  clockTime,
  countsLine,
  factLines,
  formatEnd,
  paintStatus,
  resultLines,
  targetTable,
} from '../output/show-run.ts';
import { type Terminal, table } from '../output/terminal.ts';
import { sinceOf } from '../parse-since.ts';
import { runNamed } from '../run-id.ts';

interface ListOptions extends GlobalOptions {
  policy?: string[];
  status?: string[];
  since?: string;
  limit: number;
}

/** Finds the process that works on a run, if there is one. */
type ProcessOf = Parameters<typeof withoutActiveProcess>[1];

const listColumns = [
  ...['run', 'policy', 'job', 'status', 'detail', 'trigger', 'scheduled_for', 'after_run', 'started_at'],
  ...['finished_at', 'requests', 'counts.planned', 'counts.succeeded', 'counts.failed', 'counts.skipped'],
  ...['counts.cancelled', 'findings.open', 'findings.new', 'findings.resolved'],
];

/** Lists runs, newest first. */
export async function listRuns(terminal: Terminal, options: ListOptions): Promise<number> {
  const statuses = options.status?.map(statusOf);
  const settings = settingsOf(terminal, options);
  const { policy: policies } = options;
  if (!hasRecords(settings)) {
    // A command that only reads does not start the embedded Redis.
    for (const policy of policies ?? []) await policyNamed(policy, settings, terminal);
    const none = formatNone({
      policies,
      statuses,
      since: sinceOf(options.since, clockOf(terminal.io).now()),
    });
    await show(terminal, options, { value: [], columns: listColumns, text: () => terminal.message(none) });
    return exit.ok;
  }
  return withRecords(terminal, options, settings, async (opened) => {
    const { records, clock } = opened;
    const since = sinceOf(options.since, clock.now());
    const list = (query: ReturnType<typeof queriesOf>[number]) =>
      records.runs.list({ limit: options.limit + 1, ...query, ...(since === undefined ? {} : { since }) });
    const lists = await Promise.all(queriesOf(policies, statuses).map(list));
    const found = newestFirst(lists.flat(), ({ createdAt }) => createdAt);
    const runs = found.slice(0, options.limit);
    for (const policy of policies ?? []) {
      const isKnown = runs.some((run) => run.policy === policy);
      // A policy without runs and without a file is probably misspelled.
      if (!isKnown && (await records.runs.list({ policy, limit: 1 })).length === 0)
        await policyNamed(policy, settings, terminal);
    }
    printFreezes(await records.freeze.active(clock.now()), terminal);
    const none = formatNone({ policies, statuses, since });
    const listed = {
      runs,
      value: runs.map((run) => toSummary(run, clock.now())),
      none,
      hasOlder: found.length > runs.length,
    };
    return showList(terminal, options, listed, ({ account }) => findActiveProcess(opened, account));
  });
}

/** One query for each combination: the indexes know one policy and one status. */
export const queriesOf = (
  policies: readonly string[] | undefined,
  statuses: readonly RunStatus[] | undefined,
): { policy?: string; status?: RunStatus }[] =>
  (policies ?? [undefined]).flatMap((policy) =>
    (statuses ?? [undefined]).map((status) => ({ ...(policy && { policy }), ...(status && { status }) })),
  );

/** Each once: a run may have changed its status between two queries. */
export const newestFirst = <T extends { id: string } | { run: string }>(
  runs: readonly T[],
  timeOf: (run: T) => number,
): T[] => {
  const idOf = (run: T) => ('id' in run ? run.id : run.run);
  return [...new Map(runs.map((run) => [idOf(run), run])).values()].sort((a, b) => timeOf(b) - timeOf(a));
};

/** Shows a list of runs. `value`: the same in their public form; `none`: the message when there are none. */
export async function showList(
  terminal: Terminal,
  options: OutputOption,
  listed: { runs: readonly Run[]; value: readonly RunSummary[]; none: string; hasOlder: boolean },
  processOf: ProcessOf,
): Promise<number> {
  const { runs, value, none, hasOlder } = listed;
  const text = () => (runs.length > 0 ? terminal.data(runTable(runs, terminal)) : terminal.message(none));
  await show(terminal, options, { value, columns: listColumns, text });
  if (isForPeople(options)) await printIdleRuns(runs, processOf, terminal);
  if (hasOlder) terminal.message(`There are older runs. Use --limit to show more than ${runs.length}.`);
  return exit.ok;
}

export function formatNone({
  policies,
  statuses,
  since,
}: {
  policies: readonly string[] | undefined;
  statuses: readonly string[] | undefined;
  since: unknown;
}): string {
  if (!policies && !statuses && since === undefined)
    return 'No runs yet. "caretaker run <policy>" starts one.';
  const kind = statuses ? `${orList(statuses)} runs` : 'runs';
  const from = typeof since === 'number' ? ` since ${isoMinute(since)}` : '';
  return `No ${kind}${policies ? ` of ${orList(policies)}` : ''}${from}.`;
}

const orList = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

function runTable(runs: readonly Run[], terminal: Terminal): string {
  const rows = runs.map((run) => [
    run.id,
    paintStatus(run.status, terminal),
    run.trigger,
    isoMinute(run.createdAt),
    run.finishedAt === undefined ? '' : clockTime(run.finishedAt - run.createdAt),
    [countsLine(run, terminal), formatEnd(run, clockOf(terminal.io).now())].filter(Boolean).join('; '),
  ]);
  return table(['run', 'status', 'trigger', 'started', 'took', 'targets'], rows, terminal.paint, {
    columns: terminal.dataColumns,
    // The id is never cut, because other commands need it. It also contains the scheduled time.
    shrink: [
      { column: 2, min: 0 },
      { column: 4, min: 0 },
      { column: 3, min: 0 },
      { column: 5, min: 8 },
      { column: 5, min: 0 },
    ],
  });
}

/** Prints which of the runs no process works on, if any. */
async function printIdleRuns(
  runs: readonly Run[],
  processOf: ProcessOf,
  { message }: Terminal,
): Promise<void> {
  const idle = await withoutActiveProcess(runs, processOf);
  const [only] = idle;
  if (!only) return;
  message(
    `No process works on ${idle.map((run) => run.id).join(', ')}, because no daemon with the role worker is running.`,
  );
  message(idle.length === 1 ? formatRunCommands(only) : 'Continue one: caretaker runs continue <run>');
}

export interface ShowOptions {
  failed?: true;
  target?: string;
}

/** Shows a target of a run, with the requests that were sent for it. */
export async function showTarget(
  run: Run,
  target: Target | undefined,
  terminal: Terminal,
  options: OutputOption & ShowOptions,
): Promise<number> {
  if (!target) throw new UsageError(`The run ${run.id} has no target "${options.target}".`);
  const text = () => {
    terminal.data(targetTable([target], terminal, stepNamesOf(run)));
    const findings = formatFindings([target], terminal, { all: true });
    if (findings !== undefined) terminal.data(findings);
    for (const line of requestLines(target, terminal)) terminal.data(line);
  };
  await showReport(terminal, options, { run, targets: [target], text });
  return exit.ok;
}

/** Shows a run with all its targets. */
export async function showRun(
  terminal: Terminal,
  word: string,
  options: GlobalOptions & ShowOptions,
): Promise<number> {
  return withRecords(terminal, options, settingsOf(terminal, options), async (opened) => {
    const { records } = opened;
    const run = await runNamed(records, word);
    if (options.target !== undefined)
      return showTarget(run, await records.targets.get(run.id, options.target), terminal, options);
    const targets: Target[] = [];
    for await (const target of records.targets.all(run.id))
      if (!options.failed || target.outcome === 'failed') targets.push(target);
    return showTargets(terminal, options, { run, targets }, async () => ({
      activeProcess: await findActiveProcess(opened, run.account),
      now: opened.clock.now(),
    }));
  });
}

/** Shows a run with these targets, and what it waits for when it has not ended. */
export async function showTargets(
  terminal: Terminal,
  options: OutputOption & { failed?: true },
  { run, targets }: { run: Run; targets: readonly Target[] },
  work: () => Promise<{ activeProcess: string | undefined; now: number }>,
): Promise<number> {
  const text = () => {
    if (options.failed && targets.length === 0) terminal.message('No target failed.');
    printRun(run, targets, terminal);
  };
  await showReport(terminal, options, { run, targets, text });
  if (!isFinal(run.status) && isForPeople(options)) {
    const { activeProcess, now } = await work();
    printUnended(run, targets, activeProcess, now, terminal);
  }
  return exit.ok;
}

/** Prints what a run waits for that has not ended, and which process works on it. */
export function printUnended(
  run: Run,
  targets: readonly Target[],
  activeProcess: string | undefined,
  now: number,
  { message }: Terminal,
): void {
  const end = formatEnd(run, now);
  if (end) message(`It ${end}.`);
  const lost = formatLostWork(targets, now);
  if (lost) message(lost);
  if (activeProcess) {
    message(`The run has not ended: ${activeProcess} works on it.`);
    return;
  }
  message(
    'The run has not ended, and no process works on it, because no daemon with the role worker is running.',
  );
  message(formatRunCommands(run));
}

export function printRun(run: Run, targets: readonly Target[], terminal: Terminal): void {
  if (targets.length > 0) terminal.data(targetTable(targets, terminal, stepNamesOf(run)));
  const findings = formatFindings(targets, terminal, { all: true });
  if (findings !== undefined) terminal.data(findings);
  for (const line of [...resultLines(run, terminal), ...factLines(run)]) terminal.data(line);
}

export function statusOf(word: string): RunStatus {
  const status = runStatuses.find((one) => one === word);
  if (status) return status;
  const hint = suggestionFor(word, runStatuses);
  throw new UsageError(`There is no run status "${word}"${hint ? `: ${hint}` : '.'}`);
}
