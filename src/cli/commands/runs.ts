/** Lists and shows runs. */
import { isoMinute, isoTime } from '../../clock.ts';
import { listFreezes, noFreezes } from '../../control/commands/list-freezes.ts';
import { listRunsCommand, listTargets } from '../../control/commands/list-runs.ts';
import { statusFilters } from '../../control/runs.ts';
import { toRun } from '../../run/from-report.ts';
import { isFinal } from '../../run/moves.ts';
import { type RunSummary, type TargetReport, targetColumns } from '../../run/report.ts';
import type { Run, Target } from '../../run/run.ts';
import { stepNamesOf } from '../../run/steps.ts';
import { suggestionFor } from '../../suggest.ts';
import { formatRunCommands, withoutActiveProcess } from '../active-process.ts';
import { type RecordReader, withReader } from '../client.ts';
import type { GlobalOptions } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { freezeIn } from '../from-answers.ts';
import { formatFindings } from '../output/findings.ts';
import { type List, readPages, showList } from '../output/list.ts';
import { printFreezes } from '../output/pause.ts';
import { formatLostWork } from '../output/run-advice.ts';
import { type Format, isForPeople, lineFormats, type OutputOption, show } from '../output/show.ts';
import {
  clockTime,
  countsLine,
  factLines,
  formatEnd,
  paintStatus,
  requestLines,
  resultLines,
  showReport,
  targetTable,
} from '../output/show-run.ts';
import type { Terminal } from '../output/terminal.ts';
import { sinceOf } from '../parse-time.ts';
import { processOf, readRun, runNamed } from '../read-runs.ts';

interface ListOptions extends GlobalOptions {
  policy?: string[];
  status?: string[];
  since?: string;
  limit: number;
}

/** The longest page of a list. */
const PAGE = 1_000;

/** Lists runs, newest first. */
export const listRuns = (terminal: Terminal, options: ListOptions): Promise<number> =>
  withReader('records', terminal, options, async (client) => {
    const status = options.status?.map(statusOf);
    const { policy } = options;
    const since = sinceOf(options.since, client.clock.now());
    const query = { policy, status, ...(since === undefined ? {} : { since: isoTime(since) }) };
    const { rows: runs, next } = await readPages(options.limit, async ({ limit, after }) => {
      const input = { ...query, limit: Math.min(PAGE, limit), after };
      const page = await client.read(listRunsCommand, input, { runs: [], next: null });
      return { rows: page.runs, next: page.next };
    });
    for (const name of policy ?? [])
      if (!runs.some((run) => run.policy === name)) await needPolicyOrRuns(client, name, terminal, options);
    const { freezes } = await client.read(listFreezes, {}, noFreezes);
    printFreezes(freezes.map(freezeIn), terminal);
    const none = formatNone({ policies: policy, statuses: status, since });
    const more = next !== null && 'There are older runs.';
    await showList(terminal, options, list, { rows: runs, none, more });
    if (isForPeople(options))
      await printIdleRuns(
        runs.map((run) => toRun(run)),
        client,
        terminal,
      );
    return exit.ok;
  });

/** @throws {UsageError} for a policy without runs and without a file: it is probably misspelled. */
async function needPolicyOrRuns(
  client: RecordReader,
  name: string,
  terminal: Terminal,
  options: GlobalOptions,
): Promise<void> {
  const { runs } = await client.read(listRunsCommand, { policy: name, limit: 1 }, { runs: [], next: null });
  if (runs.length > 0) return;
  const { needPolicyNamed } = await import('../read-policies.ts');
  await needPolicyNamed(client, name, terminal, options);
}

function formatNone({
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

const list: List<RunSummary> = {
  table: {
    run: ({ run }) => run,
    status: ({ status }, terminal) => paintStatus(status, terminal),
    trigger: ({ trigger }) => trigger,
    started: ({ created_at }) => isoMinute(created_at),
    took: ({ created_at, finished_at: end }) => end && clockTime(Date.parse(end) - Date.parse(created_at)),
    targets: (run, terminal) => [countsLine(run, terminal), formatEnd(run)].filter(Boolean).join('; '),
  },
  // The id is never cut, because other commands need it. It also contains the scheduled time.
  shrink: ['trigger: 0', 'took: 0', 'started: 0', 'targets: 8', 'targets: 0'],
  csv: [
    'run policy job status detail trigger scheduled_for after_run started_at finished_at requests',
    'counts.planned counts.succeeded counts.failed counts.skipped counts.cancelled findings.open',
    'findings.new findings.resolved',
  ],
};

/** Prints which of the runs no process works on, if any. */
async function printIdleRuns(
  runs: readonly Run[],
  client: RecordReader,
  { message }: Terminal,
): Promise<void> {
  const idle = await withoutActiveProcess(runs, (run) => processOf(client, run));
  const [only] = idle;
  if (!only) return;
  message(
    `No process works on ${idle.map((run) => run.id).join(', ')}, because no daemon with the role worker is running.`,
  );
  message(idle.length === 1 ? formatRunCommands(only) : 'Continue one: caretaker runs resume <run>');
}

interface ShowOptions {
  failed?: true;
  target?: string;
}

/** Shows a run with all its targets, with those that failed, or with one and the requests that were sent for it. */
export const showRun = (
  terminal: Terminal,
  word: string,
  options: GlobalOptions & ShowOptions,
): Promise<number> =>
  withReader('records', terminal, options, async (client) => {
    const { id } = await runNamed(client, word);
    const read = await readRun(client, id);
    const { target: named, failed } = options;
    if (named !== undefined)
      return showTarget(
        onlyThose(read, (target) => target.id === named),
        named,
        terminal,
        options,
      );
    const { run, targets, report } = failed ? onlyThose(read, ({ outcome }) => outcome === 'failed') : read;
    const text = () => {
      if (options.failed && targets.length === 0) terminal.message('No target failed.');
      printRun(run, targets, terminal);
    };
    await showReport(terminal, options, { run, targets, report, text });
    if (!isFinal(run.status) && isForPeople(options))
      printUnended(read, await processOf(client, run), client.clock.now(), terminal);
    return exit.ok;
  });

type Read = Awaited<ReturnType<typeof readRun>>;

const onlyThose = (
  { run, targets, report }: Read,
  isWanted: (target: Pick<Target, 'id' | 'outcome'>) => boolean,
): Read => ({
  run,
  targets: targets.filter(isWanted),
  report: {
    ...report,
    targets: report.targets.filter(({ id, outcome }) => isWanted({ id, ...(outcome && { outcome }) })),
  },
});

async function showTarget(
  { run, targets, report }: Read,
  id: string,
  terminal: Terminal,
  options: OutputOption,
): Promise<number> {
  const [target] = targets;
  if (!target) throw new UsageError(`The run ${run.id} has no target "${id}".`);
  const text = () => {
    terminal.data(targetTable([target], terminal, stepNamesOf(run)));
    const findings = formatFindings([target], terminal, { all: true });
    if (findings !== undefined) terminal.data(findings);
    for (const line of requestLines(target, terminal)) terminal.data(line);
  };
  await showReport(terminal, options, { run, targets, report, text });
  return exit.ok;
}

/** Prints what a run waits for that has not ended, and which process works on it. */
function printUnended(
  { run, targets, report }: Read,
  activeProcess: string | undefined,
  now: number,
  { message }: Terminal,
): void {
  const end = formatEnd(report);
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

function printRun(run: Run, targets: readonly Target[], terminal: Terminal): void {
  if (targets.length > 0) terminal.data(targetTable(targets, terminal, stepNamesOf(run)));
  const findings = formatFindings(targets, terminal, { all: true });
  if (findings !== undefined) terminal.data(findings);
  for (const line of [...resultLines(run, terminal), ...factLines(run)]) terminal.data(line);
}

function statusOf(word: string): (typeof statusFilters)[number] {
  const status = statusFilters.find((one) => one === word);
  if (status) return status;
  const hint = suggestionFor(word, statusFilters);
  throw new UsageError(`There is no run status "${word}"${hint ? `: ${hint}` : '.'}`);
}

/** Prints the targets of a run, one per line. Reads and writes page by page, however many there are. */
export async function exportRun(
  terminal: Terminal,
  word: string,
  options: GlobalOptions & { output: Format },
): Promise<number> {
  const { output } = options;
  if (!lineFormats.some((one) => one === output))
    throw new UsageError(
      `An export has one target per line: --output csv or jsonl, not ${output}. "caretaker runs show ${word} --output ${output}" shows the run.`,
    );
  return withReader('records', terminal, options, async (client) => {
    const { id } = await runNamed(client, word);
    const rows = targetsOf(client, id);
    await show(terminal, options, { value: undefined, text: () => undefined, rows, columns: targetColumns });
    return exit.ok;
  });
}

async function* targetsOf({ read }: RecordReader, run: string): AsyncGenerator<object> {
  const none = { targets: [] as TargetReport[], next: null };
  for (let after: string | null = '0'; after !== null; ) {
    const page: { targets: TargetReport[]; next: string | null } = await read(
      listTargets,
      { run, after, limit: PAGE },
      none,
    );
    for (const target of page.targets) yield { run, ...target };
    after = page.next;
  }
}
