/** Finds and reads runs for the command line, here or on a server. */
import type { OpenRecords } from '../app/open-records.ts';
import type { AnyCommand } from '../control/command.ts';
import { findProcess, listRunsCommand, showRun } from '../control/commands/list-runs.ts';
import { stepNamesIn, toRun, toTarget } from '../run/from-report.ts';
import { isFinal } from '../run/moves.ts';
import type { RunReport, RunSummary, TargetReport } from '../run/report.ts';
import { type Run, runStatuses, type Target } from '../run/run.ts';
import type { Client, RecordReader } from './client.ts';
import { exit, UsageError } from './exit.ts';
import type { Terminal } from './output/terminal.ts';

/** The maximum number of ids that are listed when the beginning of an id is ambiguous. */
const MAX_LISTED = 10;
const none = { runs: [] as RunSummary[], next: null };
const notSkipped = runStatuses.filter((status) => status !== 'skipped');

/**
 * The run with this id, the only one whose id begins with it, or the newest one (`last`) that was not skipped: a
 * skipped run did nothing, so the run that was active then is meant.
 *
 * @throws {UsageError} when there is no such run, or when several ids begin with `word`.
 */
export async function runNamed({ read }: RecordReader, word: string): Promise<Run> {
  if (word === 'last') {
    const newest = async (status?: typeof notSkipped) =>
      (await read(listRunsCommand, { status, limit: 1 }, none)).runs[0];
    const run = (await newest(notSkipped)) ?? (await newest());
    if (run) return toRun(run);
    throw new UsageError('There are no runs yet. "caretaker run <policy>" starts one.');
  }
  const { runs } = await read(listRunsCommand, { id: word, limit: MAX_LISTED + 1 }, none);
  const [first] = runs;
  const meant = runs.find(({ run }) => run === word) ?? (runs.length === 1 ? first : undefined);
  if (meant) return toRun(meant);
  if (!first) throw new UsageError(`There is no run "${word}". "caretaker runs" lists them.`);
  const listed = runs.slice(0, MAX_LISTED).map(({ run }) => run);
  const more = runs.length > MAX_LISTED ? '\n  ...' : '';
  throw new UsageError(
    `Several runs start with "${word}". Give a longer id:\n  ${listed.join('\n  ')}${more}`,
  );
}

const noRun = (run: string) => () => {
  throw new UsageError(`There is no run "${run}". "caretaker runs" lists them.`);
};

/** A run without its targets. */
export const readSummary = async ({ read }: RecordReader, run: string): Promise<Run> =>
  toRun(await read(showRun, { run, targets: 'false' }, noRun(run)));

/** A run with its targets, and the public form of both. */
export async function readRun(
  { read }: RecordReader,
  id: string,
): Promise<{ run: Run; targets: Target[]; report: RunReport }> {
  const { targets = [], ...run } = await read(showRun, { run: id }, noRun(id));
  const reports: TargetReport[] = [];
  for await (const target of targets) reports.push(target);
  return {
    run: toRun(run, stepNamesIn(reports)),
    targets: reports.map(toTarget),
    report: { ...run, targets: reports },
  };
}

/** The process that works on a run, in words; undefined when there is none. */
export const processOf = async (
  { read }: RecordReader,
  { id }: Pick<Run, 'id'>,
): Promise<string | undefined> =>
  (await read(findProcess, { run: id }, { process: null })).process ?? undefined;

/** Carries out a command about the run that `word` names, and prints what follows, and what continues it when nothing does. */
export async function actOnRun(
  client: Client<OpenRecords>,
  command: AnyCommand,
  { word, input }: { word: string; input: object },
  terminal: Terminal,
  say: (run: Run) => string,
): Promise<number> {
  const { id } = await runNamed(client, word);
  const answer = (await client.act(command, { ...input, run: id })) as { run: RunSummary };
  const run = toRun(answer.run);
  terminal.message(say(run));
  if (!isFinal(run.status) && !(await processOf(client, run)))
    printIdle({ run, onServer: client.here === undefined }, terminal);
  return exit.ok;
}

/** Prints what continues a run that no process works on. */
export function printIdle({ run, onServer }: { run: Run; onServer: boolean }, { message }: Terminal): void {
  message(
    onServer
      ? 'No process works on it. It continues when a daemon with the role worker is running.'
      : `No process works on it. Continue it: caretaker runs resume ${run.id}`,
  );
}
