import { isFinal } from '../../run/moves.ts';
import { toReport, toSummary } from '../../run/report.ts';
import { type RunStatus, runStatuses, type Target } from '../../run/run.ts';
import { parseDuration } from '../../settings/duration.ts';
import { suggestionFor } from '../../settings/suggest.ts';
import { attend } from '../attend.ts';
import { type GlobalOptions, settingsOf, withCaretaker } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { clockTime, countsLine, endLines, moment, paintStatus, targetTable } from '../show-run.ts';
import { type Terminal, table } from '../terminal.ts';
import { leave, needWorker } from './run.ts';

interface ListOptions extends GlobalOptions {
  policy?: string;
  status?: string;
  since?: string;
  limit: number;
}

/** Lists runs, newest first. */
export async function listRuns(terminal: Terminal, options: ListOptions): Promise<number> {
  const status = statusOf(options.status);
  return withCaretaker(options, settingsOf(options), async ({ records, clock }) => {
    const since = sinceOf(options.since, clock.now());
    const runs = await records.runs.list({
      limit: options.limit,
      ...(options.policy ? { policy: options.policy } : {}),
      ...(status ? { status } : {}),
      ...(since === undefined ? {} : { since }),
    });
    if (options.json) terminal.json(runs.map(toSummary));
    else if (runs.length === 0) terminal.say('No runs yet. "caretaker run <policy>" fires one.');
    else {
      const rows = runs.map((run) => [
        run.id,
        paintStatus(run.status, terminal),
        run.trigger,
        moment(run.createdAt),
        run.finishedAt === undefined ? '' : clockTime(run.finishedAt - run.createdAt),
        countsLine(run, terminal),
      ]);
      terminal.data(table(['run', 'status', 'trigger', 'started', 'took', 'targets'], rows, terminal.paint));
    }
    return exit.ok;
  });
}

/** Shows a run with all its targets. */
export async function showRun(terminal: Terminal, id: string, options: GlobalOptions): Promise<number> {
  return withCaretaker(options, settingsOf(options), async ({ records }) => {
    const run = await records.runs.get(id);
    if (!run) throw new UsageError(`There is no run "${id}". "caretaker runs" lists them.`);
    const targets: Target[] = [];
    for await (const target of records.targets.all(id)) targets.push(target);
    if (options.json) terminal.json(toReport(run, targets));
    else {
      if (targets.length > 0) terminal.data(targetTable(targets, terminal));
      for (const line of endLines(run, terminal)) terminal.data(line);
    }
    return exit.ok;
  });
}

/** Calls a run off, and sees to it that what is in flight comes to its end when nobody else is there to. */
export async function cancelRun(terminal: Terminal, id: string, options: GlobalOptions): Promise<number> {
  return withCaretaker(options, settingsOf(options), async (caretaker) => {
    await caretaker.engine.cancel(id);
    const run = await caretaker.records.runs.get(id);
    if (!run) return exit.ok;
    const here = await caretaker.records.presence.here(caretaker.clock.now());
    if (isFinal(run.status) || here.some(({ roles }) => roles.includes('worker'))) {
      terminal.say(`${id} is called off; nothing more is begun. What is in flight is followed to its end.`);
      return exit.ok;
    }
    terminal.say(`${id} is called off; what is in flight is followed to its end.`);
    await attend(caretaker, run, terminal, { json: options.json, callOffIfRefused: false });
    return exit.ok;
  });
}

/** Fires a new run over the targets that failed. */
export async function retryRun(
  terminal: Terminal,
  id: string,
  options: GlobalOptions & { detach?: boolean },
): Promise<number> {
  return withCaretaker(options, settingsOf(options), async (caretaker) => {
    if (options.detach) await needWorker(caretaker);
    const fired = await caretaker.engine.retry(id);
    if (options.detach) return leave(fired, terminal, options);
    return attend(caretaker, fired, terminal, { json: options.json, callOffIfRefused: true });
  });
}

/** Takes part in the work until a run that was interrupted has ended. */
export async function continueRun(terminal: Terminal, id: string, options: GlobalOptions): Promise<number> {
  return withCaretaker(options, settingsOf(options), async (caretaker) => {
    const run = await caretaker.records.runs.get(id);
    if (!run) throw new UsageError(`There is no run "${id}". "caretaker runs" lists them.`);
    if (!isFinal(run.status)) await caretaker.engine.nudge(id);
    return attend(caretaker, run, terminal, { json: options.json, callOffIfRefused: false });
  });
}

function statusOf(word: string | undefined): RunStatus | undefined {
  if (word === undefined) return undefined;
  const status = runStatuses.find((one) => one === word);
  if (status) return status;
  const hint = suggestionFor(word, runStatuses);
  throw new UsageError(`There is no run status "${word}"${hint ? `: ${hint}` : '.'}`);
}

function sinceOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const ago = parseDuration(text.replace(/\s*ago$/, ''));
  const since = ago === undefined ? Date.parse(text) : now - ago;
  if (Number.isNaN(since))
    throw new UsageError(`--since takes a moment or a duration, such as 2026-11-01 or 7d; not "${text}".`);
  return since;
}
