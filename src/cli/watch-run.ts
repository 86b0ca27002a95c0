/**
 * WatchOptions a run from the command line: this process takes part in the work, shows progress, and sees the
 * end.
 *
 * Ctrl-C once takes no new work, lets what is under way be recorded, and says how to go on; twice stops at
 * once. Either way nothing is lost: everything that matters is in Redis before it is acted upon.
 */

import type { Caretaker } from '../app/caretaker.ts';
import { isFinal } from '../run/moves.ts';
import type { Reasons } from '../run/reasons.ts';
import { toReport } from '../run/report.ts';
import type { Run, RunStatus, Target } from '../run/run.ts';
import { findActiveProcess, formatRunCommands } from './active-process.ts';
import { Blockers } from './blockers.ts';
import { exit } from './exit.ts';
import { handleSignals } from './interruption.ts';
import { formatFindings } from './output/findings.ts';
import { retryAdvice } from './output/run-advice.ts';
import {
  changeLines,
  clockTime,
  endLines,
  foldedTable,
  formatSpread,
  outOf,
  progressLine,
  targetTable,
} from './output/show-run.ts';
import type { Terminal } from './output/terminal.ts';

const POLL_INTERVAL_MS = 250;
/** Where nothing may move, a line is printed so often at most. */
const PROGRESS_INTERVAL_MS = 10_000;

export interface WatchOptions {
  json?: boolean | undefined;
  /** Show every target at the end, not only those that did not succeed. */
  allTargets?: boolean;
  /** The records go away with this process: nothing to come back to. */
  passing?: boolean;
  /** Whether a run that cannot even begin is cancelled: the person who asked for it is told instead. */
  cancelIfRefused: boolean;
  /**
   * The run was cancelled and only comes to its end: an account that refuses us does not keep it from that.
   */
  isCancelled?: boolean;
  /** Set after Ctrl-C: from then on, work in progress is only recorded. */
  opening?: string;
  /** A person named the targets: that none of them could be worked on is not what was asked for. */
  named?: boolean;
}

/**
 * What a run's end means for the command that asked for it; a run that was skipped did nothing of what was
 * asked for.
 */
const exitOf = (status: RunStatus): number => (status === 'succeeded' ? exit.ok : exit.notAllWell);

/** Works until the run has ended, and prints it; gives the exit code. */
export async function watchRun(
  caretaker: Caretaker,
  run: Run,
  terminal: Terminal,
  options: WatchOptions,
): Promise<number> {
  const interruption = handleSignals(terminal, {
    goOn: options.passing ? undefined : `caretaker runs continue ${run.id}`,
    ask: () => caretaker.records.runs.get(run.id),
  });
  if (options.opening !== undefined) terminal.message(options.opening);
  const working = caretaker.engine.work(caretaker.settings.daemon.concurrency);
  let stopped: Promise<void> | undefined;
  try {
    const last = await watch(caretaker, run, terminal, interruption.signal, options);
    stopped = working.stop();
    await stopped;
    const now = (await caretaker.records.runs.get(run.id)) ?? last;
    if (isFinal(now.status)) return await printEnd(caretaker, now, terminal, options);
    if (interruption.signal.aborted) return await printHowToContinue(caretaker, now, terminal, options);
    return await endStalled(caretaker, last, terminal, options);
  } finally {
    await (stopped ?? working.stop()).finally(interruption.over);
  }
}

/**
 * Shows progress until the run has ended, stands still for a reason a person must mend, or `signal` aborts.
 */
async function watch(
  caretaker: Caretaker,
  run: Run,
  terminal: Terminal,
  signal: AbortSignal,
  { isCancelled, cancelIfRefused }: WatchOptions,
): Promise<Run> {
  const { records, clock } = caretaker;
  const blockers = new Blockers(caretaker, terminal, cancelIfRefused);
  let last = run;
  let saidAt = clock.now();
  let said = '';
  let told = false;
  for (;;) {
    const now = await blockers.read(async () => {
      const found = await records.runs.get(run.id);
      if (!found) throw new Error(`the run ${run.id} is gone`);
      await blockers.check(found);
      return found;
    }, signal);
    last = now ?? last;
    if (isFinal(last.status) || (isStalled(last) && !isCancelled) || signal.aborted) {
      terminal.clear();
      return last;
    }
    const spread: string | undefined = told ? undefined : formatSpread(last);
    if (spread) terminal.message(`${last.id} ${spread}.`);
    told ||= spread !== undefined;
    if (terminal.interactive) terminal.show(progressLine(last, clock.now(), terminal));
    else {
      const line = `${last.id} ${last.status}: ${outOf(last, terminal)}`;
      if (line !== said && clock.now() - saidAt >= PROGRESS_INTERVAL_MS) {
        terminal.message(`${line}, ${clockTime(clock.now() - last.createdAt)}`);
        saidAt = clock.now();
        said = line;
      }
    }
    await clock.sleep(POLL_INTERVAL_MS, signal);
  }
}

/**
 * The account refuses us, a person has to release it, or the service was not there when the plan was to be
 * made.
 */
const isStalled = (run: Run): boolean =>
  run.status === 'blocked' ||
  run.held !== undefined ||
  (run.status === 'planning' && run.detail !== undefined);

/** What became of each target of a run. */
export async function targetsOf({ records }: Caretaker, { id }: Run): Promise<Target[]> {
  const targets: Target[] = [];
  for await (const target of records.targets.all(id)) targets.push(target);
  return targets;
}

async function printEnd(
  caretaker: Caretaker,
  run: Run,
  terminal: Terminal,
  options: WatchOptions,
): Promise<number> {
  const targets = await targetsOf(caretaker, run);
  if (options.json) terminal.json(toReport(run, targets));
  else {
    const folded = printTargets(targets, terminal, options, caretaker.registry.reasons);
    const findings = formatFindings(targets, terminal, { all: false });
    if (findings !== undefined) terminal.data(findings);
    for (const line of [...endLines(run, terminal), ...changeLines(run, terminal)]) terminal.data(line);
    if (folded && !options.passing)
      terminal.message(`What became of each target: caretaker runs show ${run.id}`);
    if (!options.passing)
      for (const line of retryAdvice(run, targets, caretaker.registry.reasons)) terminal.message(line);
  }
  if (options.named && targets.every(({ reason }) => reason === 'not-eligible')) {
    terminal.message('Nothing was done: none of the targets you named could be worked on.');
    return exit.notAllWell;
  }
  return exitOf(run.status);
}

/** Prints what a person is to see of targets; gives whether many were told in one row. */
function printTargets(
  targets: readonly Target[],
  terminal: Terminal,
  { allTargets }: Pick<WatchOptions, 'allTargets'>,
  reasons: Reasons,
): boolean {
  const shown = targets.filter((target) => allTargets || isShown(target, reasons));
  if (shown.length === 0) return false;
  const { text, folded } = allTargets
    ? { text: targetTable(shown, terminal), folded: false }
    : foldedTable(shown, terminal);
  terminal.data(text);
  return folded;
}

/**
 * Whether a person is shown how a target ended: not when it succeeded or needed nothing, unless its reason is
 * notable or its end is itself a finding.
 */
const isShown = ({ outcome, reason = '', detail, findings = [] }: Target, reasons: Reasons): boolean =>
  (outcome !== 'succeeded' && reason !== 'already-done') ||
  reasons.get(reason)?.notable === true ||
  findings.some(({ message: says }) => says === detail);

async function printHowToContinue(
  caretaker: Caretaker,
  run: Run,
  terminal: Terminal,
  { passing }: WatchOptions,
): Promise<number> {
  if (passing) {
    terminal.message(`${run.id} was ${run.status}: ${outOf(run, terminal)}.`);
    return exit.interrupted;
  }
  const other = await findActiveProcess(caretaker, run.account);
  terminal.message(`${run.id} is ${run.status}: ${outOf(run, terminal)}. Nothing is lost.`);
  if (other) terminal.message(`It continues without this command: ${other} works on it.`);
  else {
    if (run.ending) terminal.message('It is cancelled, and no process works on it any more.');
    terminal.message(formatRunCommands(run));
  }
  return exit.interrupted;
}

async function endStalled(
  caretaker: Caretaker,
  run: Run,
  terminal: Terminal,
  options: WatchOptions,
): Promise<number> {
  terminal.message(`${terminal.paint('red', 'error')}: ${run.detail ?? `The run is ${run.status}.`}`);
  if (run.held) terminal.message('The run waits until a person decides.');
  else if (options.cancelIfRefused && !run.planComplete) {
    await caretaker.engine.cancel(run.id);
    terminal.message('Nothing was started; the run was cancelled.');
  } else terminal.message(`The run waits. When the cause is fixed: caretaker runs continue ${run.id}`);
  if (options.json) {
    const now = (await caretaker.records.runs.get(run.id)) ?? run;
    terminal.json(toReport(now, await targetsOf(caretaker, now)));
  }
  return exit.unreachable;
}
