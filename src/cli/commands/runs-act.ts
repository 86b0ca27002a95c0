/** Cancels, retries and continues runs. */

import { findActiveProcess } from '../../control/active-process.ts';
import { carryOut } from '../../control/carry-out.ts';
import {
  cancelRun as cancel,
  forceEndRun,
  continueRun as nudge,
  releaseRun as release,
  retryRun as retry,
} from '../../control/commands/change-run.ts';
import { isFinal } from '../../run/moves.ts';
import type { Run, Target } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { type Acted, actOnRun } from '../act-on-run.ts';
import { needWorker } from '../active-process.ts';
import { carryOutHere } from '../carry-out-here.ts';
import { type GlobalOptions, type ReasonOption, settingsOf, withCaretaker } from '../context.ts';
import { exit } from '../exit.ts';
import { localActor } from '../local-actor.ts';
import { showReport } from '../output/run-report.ts';
import type { OutputOption } from '../output/show.ts';
import { endLines } from '../output/show-run.ts';
import type { Terminal } from '../output/terminal.ts';
import { runNamed } from '../run-id.ts';
import { targetsOf, watchRun } from '../watch-run.ts';
import { watchOrDetach } from './run.ts';

type Opened = Parameters<Parameters<typeof withCaretaker>[3]>[0];

/** Cancels a run. If no other process works on it, follows work in flight to its end. */
export async function cancelRun(
  terminal: Terminal,
  word: string,
  options: GlobalOptions & ReasonOption & { force?: boolean; leaveTasks?: boolean },
): Promise<number> {
  return withCaretaker(terminal, options, settingsOf(terminal, options), async (caretaker) => {
    const { id, account, status } = await runNamed(caretaker.records, word);
    if (options.force) return forceEnd(caretaker, id, terminal, options);
    // Read before cancelling: once the run has ended, there may be no active process.
    const activeProcess = await findActiveProcess(caretaker, account);
    await carryOutHere(
      cancel,
      caretaker,
      { run: id, leave_tasks: options.leaveTasks, reason: options.reason },
      terminal,
    );
    const run = await caretaker.records.runs.get(id);
    if (!run || isFinal(run.status)) {
      terminal.message(`${id} is cancelled. No work was in progress.`);
      return exit.ok;
    }
    printCancelled({ id, wasBlocked: status === 'blocked', activeProcess }, terminal, options);
    if (activeProcess) return exit.ok;
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

/** What becomes of a run that is cancelled while work is in progress, and who completes that. */
export function printCancelled(
  { id, wasBlocked, activeProcess }: { id: string; wasBlocked: boolean; activeProcess: string | undefined },
  { message }: Terminal,
  { leaveTasks }: { leaveTasks?: boolean },
): void {
  const rest = wasBlocked
    ? 'The account refuses access, so tasks in the service cannot be followed to their end. This is recorded.'
    : leaveTasks
      ? 'Work in flight is followed to its end.'
      : 'Its tasks in the service are cancelled; other work in flight is followed to its end.';
  message(`${id} is cancelled: no new work is started. ${rest}`);
  if (activeProcess)
    message(`${activeProcess[0]?.toUpperCase()}${activeProcess.slice(1)} completes the cancellation.`);
}

async function forceEnd(
  caretaker: Opened,
  id: string,
  terminal: Terminal,
  options: GlobalOptions & ReasonOption,
): Promise<number> {
  const run = await carryOutHere(forceEndRun, caretaker, { run: id, reason: options.reason }, terminal);
  return showForceEnded(run, await targetsOf(caretaker, run), terminal, options);
}

/** Shows a run that was force-ended, and what is not known about its targets. */
export async function showForceEnded(
  run: Run,
  targets: readonly Target[],
  terminal: Terminal,
  options: OutputOption,
): Promise<number> {
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
  options: GlobalOptions & ReasonOption & { detach?: boolean; ignoreFreeze?: true },
): Promise<number> {
  return withCaretaker(terminal, options, settingsOf(terminal, options), async (caretaker) => {
    const { id } = await runNamed(caretaker.records, word);
    if (options.detach) await needWorker(caretaker);
    const input = { run: id, ignore_freeze: options.ignoreFreeze, reason: options.reason };
    const fired = await carryOut(retry, caretaker, input, localActor());
    return watchOrDetach(caretaker, fired, terminal, options);
  });
}

/** Releases a held run, so that it continues. */
export const releaseRun = (
  terminal: Terminal,
  word: string,
  options: GlobalOptions & ReasonOption,
): Promise<number> =>
  actOnRun(terminal, { command: release, input: { reason: options.reason } }, word, options, (acted) =>
    printReleased(acted, terminal),
  );

export function printReleased({ id, activeProcess, howToContinue }: Acted, { message }: Terminal): void {
  message(
    activeProcess
      ? `${id} is released; ${activeProcess} continues it.`
      : `${id} is released, but no process works on it. ${howToContinue}`,
  );
}

/**
 * Works on an interrupted run until it has ended.
 *
 * @throws {RunError} when it has already ended.
 */
export async function continueRun(terminal: Terminal, word: string, options: GlobalOptions): Promise<number> {
  return withCaretaker(terminal, options, settingsOf(terminal, options), async (caretaker) => {
    const run = await runNamed(caretaker.records, word);
    return continueHere(caretaker, run, terminal, options);
  });
}

/** The same on a Caretaker that is open. */
export async function continueHere(
  caretaker: Opened,
  run: Run,
  terminal: Terminal,
  { output }: OutputOption,
): Promise<number> {
  await carryOut(nudge, caretaker, { run: run.id }, localActor());
  const isCancelled = run.ending === 'cancelled';
  return watchRun(caretaker, run, terminal, { output, cancelIfRefused: false, isCancelled });
}
