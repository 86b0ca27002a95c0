/** Cancels, retries and continues runs. */
import { isFinal } from '../../run/moves.ts';
import { countOf } from '../../text.ts';
import { findActiveProcess, needWorker } from '../active-process.ts';
import { type GlobalOptions, settingsOf, withCaretaker } from '../context.ts';
import { exit } from '../exit.ts';
import { showReport } from '../output/run-report.ts';
import { endLines } from '../output/show-run.ts';
import type { Terminal } from '../output/terminal.ts';
import { runNamed } from '../run-id.ts';
import { targetsOf, watchRun } from '../watch-run.ts';
import { watchOrDetach } from './run.ts';

type Opened = Parameters<Parameters<typeof withCaretaker>[2]>[0];

/** Cancels a run. If no other process works on it, follows work in flight to its end. */
export async function cancelRun(
  terminal: Terminal,
  word: string,
  options: GlobalOptions & { force?: boolean; leaveTasks?: boolean },
): Promise<number> {
  return withCaretaker(options, settingsOf(options), async (caretaker) => {
    const { id, account, status } = await runNamed(caretaker.records, word);
    if (options.force) return forceEnd(caretaker, id, terminal, options);
    // Read before cancelling: once the run has ended, there may be no active process.
    const activeProcess = await findActiveProcess(caretaker, account);
    await caretaker.engine.cancel(id, { tasks: !options.leaveTasks });
    const run = await caretaker.records.runs.get(id);
    if (!run || isFinal(run.status)) {
      terminal.message(`${id} is cancelled. No work was in progress.`);
      return exit.ok;
    }
    const rest =
      status === 'blocked'
        ? 'The account refuses access, so tasks in the service cannot be followed to their end. This is recorded.'
        : options.leaveTasks
          ? 'Work in flight is followed to its end.'
          : 'Its tasks in the service are cancelled; other work in flight is followed to its end.';
    terminal.message(`${id} is cancelled: no new work is started. ${rest}`);
    if (activeProcess) {
      terminal.message(
        `${activeProcess[0]?.toUpperCase()}${activeProcess.slice(1)} completes the cancellation.`,
      );
      return exit.ok;
    }
    const code = await watchRun(caretaker, run, terminal, {
      output: options.output,
      cancelIfRefused: false,
      isCancelled: true,
      openingMessage: `No other process works on it, so this command completes the cancellation. To end it without waiting: caretaker runs cancel ${id} --force`,
    });
    const ended = await caretaker.records.runs.get(id);
    return ended && isFinal(ended.status) ? exit.ok : code;
  });
}

async function forceEnd(
  caretaker: Opened,
  id: string,
  terminal: Terminal,
  options: GlobalOptions,
): Promise<number> {
  const run = await caretaker.engine.forceEnd(id);
  const targets = await targetsOf(caretaker, run);
  const text = () => {
    for (const line of endLines(run, terminal)) terminal.data(line);
  };
  await showReport(terminal, options, { run, targets, text });
  const unknown = targets.filter(({ reason }) => reason === 'unknown-effect').length;
  const inProgress = targets.filter(
    ({ outcome, detail }) => outcome === 'cancelled' && detail !== undefined,
  ).length;
  if (inProgress > 0)
    terminal.message(`${countOf(inProgress, 'target')} may still be in progress in the service.`);
  if (unknown > 0)
    terminal.message(`It is unknown whether ${countOf(unknown, 'target')} changed (unknown-effect).`);
  return exit.ok;
}

/** Starts a new run with the targets that failed. */
export async function retryRun(
  terminal: Terminal,
  word: string,
  options: GlobalOptions & { detach?: boolean; ignoreFreeze?: true },
): Promise<number> {
  return withCaretaker(options, settingsOf(options), async (caretaker) => {
    const { id } = await runNamed(caretaker.records, word);
    if (options.detach) await needWorker(caretaker);
    const freezeOption = options.ignoreFreeze ? { ignoreFreeze: true as const } : {};
    return watchOrDetach(caretaker, await caretaker.engine.retry(id, freezeOption), terminal, options);
  });
}

/** Releases a held run, so that it continues. */
export async function releaseRun(terminal: Terminal, word: string, options: GlobalOptions): Promise<number> {
  return withCaretaker(options, settingsOf(options), async (caretaker) => {
    const { id, account } = await runNamed(caretaker.records, word);
    await caretaker.engine.release(id);
    const activeProcess = await findActiveProcess(caretaker, account);
    terminal.message(
      activeProcess
        ? `${id} is released; ${activeProcess} continues it.`
        : `${id} is released, but no process works on it. Continue it: caretaker runs continue ${id}`,
    );
    return exit.ok;
  });
}

/**
 * Works on an interrupted run until it has ended.
 *
 * @throws {RunError} when it has already ended.
 */
export async function continueRun(terminal: Terminal, word: string, options: GlobalOptions): Promise<number> {
  return withCaretaker(options, settingsOf(options), async (caretaker) => {
    const run = await runNamed(caretaker.records, word);
    await caretaker.engine.nudge(run.id);
    const isCancelled = run.ending === 'cancelled';
    return watchRun(caretaker, run, terminal, {
      output: options.output,
      cancelIfRefused: false,
      isCancelled,
    });
  });
}
