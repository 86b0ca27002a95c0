/**
 * Works on a run from the command line until it has ended, and shows its progress and result.
 *
 * After the first Ctrl-C, the process takes no new work, records work in progress, and prints how to
 * continue. The second Ctrl-C stops immediately. Nothing is lost either way: every step is recorded in Redis
 * before it is carried out.
 */

import type { Caretaker } from '../app/caretaker.ts';
import type { Clock } from '../clock.ts';
import { serviceAddress } from '../contract/service-address.ts';
import { findActiveProcess } from '../control/commands/list-runs.ts';
import { isFinal } from '../run/moves.ts';
import type { Reasons } from '../run/reasons.ts';
import type { RunReport } from '../run/report.ts';
import { formatStanding } from '../run/rollout-report.ts';
import type { Run, RunStatus, Target } from '../run/run.ts';
import { visibleLine } from '../text.ts';
import { formatRunCommands } from './active-process.ts';
import { Blockers } from './blockers.ts';
import { exit } from './exit.ts';
import { handleSignals } from './interruption.ts';
import { formatFindings } from './output/findings.ts';
import { RolloutLines } from './output/rollout-lines.ts';
import { failureSummary, retryAdvice } from './output/run-advice.ts';
import type { Format, OutputOption } from './output/show.ts';
import {
  clockTime,
  foldedTable,
  formatSpread,
  outOf,
  progressLine,
  resultLines,
  showReport,
  targetTable,
} from './output/show-run.ts';
import type { Terminal } from './output/terminal.ts';

const POLL_INTERVAL_MS = 250;
/** The minimum interval between progress lines when standard error is not a terminal. */
const PROGRESS_INTERVAL_MS = 10_000;

export interface WatchOptions {
  /** The format of the result. */
  output?: Format | undefined;
  /** Whether the result is not printed, because the caller prints it. */
  silent?: boolean;
  /** Whether to show every target at the end, not only those that did not succeed. */
  allTargets?: boolean;
  /** Whether the records are deleted when this process ends, so the run cannot be continued. */
  temporary?: boolean;
  /** Whether a run that cannot be planned is cancelled, instead of waiting until it can be. */
  cancelIfRefused: boolean;
  /** Whether the run was cancelled before. It is followed to its end even if the account refuses access. */
  isCancelled?: boolean;
  /** A message to print once signals are handled. */
  openingMessage?: string;
  /** Whether the account is known to be the sandbox. */
  isSandbox?: boolean;
  /** Whether a person named the targets. If none of them is eligible, the command then fails. */
  targetsNamed?: boolean;
}

/** The exit code for a run that has ended. A skipped run has done nothing, so it is not a success. */
const exitOf = (status: RunStatus): number => (status === 'succeeded' ? exit.ok : exit.notAllWell);

/** Works until the run has ended, prints its result, and returns the exit code. */
export async function watchRun(
  caretaker: Caretaker,
  run: Run,
  terminal: Terminal,
  options: WatchOptions,
): Promise<number> {
  const { records, settings } = caretaker;
  const { baseUrl } = settings.accounts[run.account] ?? {};
  if (baseUrl !== undefined) await records.accounts.needAddress(run.account, serviceAddress(baseUrl));
  const interruption = handleSignals(terminal, {
    continueWith: options.temporary ? undefined : `caretaker runs resume ${run.id}`,
    ping: () => caretaker.records.runs.get(run.id),
  });
  if (options.openingMessage !== undefined) terminal.message(options.openingMessage);
  const working = caretaker.engine.work(caretaker.settings.daemon.concurrency);
  let stopped: Promise<void> | undefined;
  try {
    const last = await watch(caretaker, run, terminal, interruption.signal, options);
    stopped = working.stop();
    await stopped;
    if (!options.temporary) await caretaker.notifier.deliverDue();
    const now = (await caretaker.records.runs.get(run.id)) ?? last;
    const isSandbox = caretaker.link(run.account).client.isSandbox();
    if (isFinal(now.status)) {
      const targets = await targetsOf(caretaker, now);
      const { reasons } = caretaker.registry;
      return await printEnd({ targets, reasons }, now, terminal, { ...options, isSandbox });
    }
    if (interruption.signal.aborted) return await printHowToContinue(caretaker, now, terminal, options);
    return await endStalled(caretaker, last, terminal, options);
  } finally {
    await (stopped ?? working.stop()).finally(interruption.removeHandlers);
  }
}

/** Shows progress until the run has ended, is stalled, or `signal` aborts. */
async function watch(
  caretaker: Caretaker,
  run: Run,
  terminal: Terminal,
  signal: AbortSignal,
  { isCancelled, cancelIfRefused }: WatchOptions,
): Promise<Run> {
  const { records, clock } = caretaker;
  const blockers = new Blockers(caretaker, terminal, cancelIfRefused);
  const progress = new Progress(terminal, clock);
  let last = run;
  for (;;) {
    const now = await blockers.read(async () => {
      const found = await records.runs.get(run.id);
      if (!found) throw new Error(`the run ${run.id} no longer exists`);
      await blockers.check(found);
      return found;
    }, signal);
    last = now ?? last;
    if (isFinal(last.status) || (isStalled(last) && !isCancelled) || signal.aborted) {
      progress.end(last);
      return last;
    }
    progress.show(last);
    await clock.sleep(POLL_INTERVAL_MS, signal);
  }
}

/**
 * Shows the progress of a run: a status line at a terminal, elsewhere a message every ten seconds; and a message for each
 * change of its batches.
 */
export class Progress {
  private printed = '';
  private printedAt: number;
  private spreadShown = false;
  private readonly rollout = new RolloutLines();

  constructor(
    private readonly terminal: Terminal,
    private readonly clock: Pick<Clock, 'now'>,
  ) {
    this.printedAt = clock.now();
  }

  show(run: Run): void {
    const { terminal } = this;
    const now = this.clock.now();
    const spread = this.spreadShown ? undefined : formatSpread(run);
    if (spread !== undefined) terminal.message(`${run.id} ${spread}.`);
    this.spreadShown ||= spread !== undefined;
    this.showRollout(run);
    if (terminal.interactive) {
      terminal.show(progressLine(run, now, terminal));
      return;
    }
    const line = `${run.id} ${run.status}: ${outOf(run, terminal)}`;
    if (line === this.printed || now - this.printedAt < PROGRESS_INTERVAL_MS) return;
    terminal.message(`${line}, ${clockTime(now - run.createdAt)}`);
    this.printedAt = now;
    this.printed = line;
  }

  /** Shows what has changed in the batches until the run ended or came to wait, and removes the status line. */
  end(run: Run): void {
    this.terminal.clear();
    this.showRollout(run);
  }

  private showRollout(run: Run): void {
    for (const line of this.rollout.next(run, this.clock.now())) this.terminal.message(visibleLine(line));
  }
}

/**
 * Whether the run waits for a person: the account refuses access, the run is held, or it could not be planned
 * because the service was unavailable.
 */
export const isStalled = (run: Run): boolean =>
  run.status === 'blocked' ||
  run.status === 'awaiting-approval' ||
  run.held !== undefined ||
  (run.status === 'planning' && run.detail !== undefined);

/** Reads all targets of a run. */
export async function targetsOf({ records }: Pick<Caretaker, 'records'>, { id }: Run): Promise<Target[]> {
  const targets: Target[] = [];
  for await (const target of records.targets.all(id)) targets.push(target);
  return targets;
}

/** Prints the result of a run that has ended, and returns the exit code. */
export async function printEnd(
  { targets, reasons, ...read }: { targets: readonly Target[]; reasons: Reasons; report?: RunReport },
  run: Run,
  terminal: Terminal,
  options: Omit<WatchOptions, 'cancelIfRefused'>,
): Promise<number> {
  const text = () => {
    const folded = printTargets(targets, terminal, options, reasons);
    const findings = formatFindings(targets, terminal, { all: false });
    if (findings !== undefined) terminal.data(findings);
    for (const line of resultLines(run, terminal)) terminal.data(line);
    if (folded && !options.temporary) terminal.message(`Show every target: caretaker runs show ${run.id}`);
    if (options.temporary) return;
    const summary = failureSummary(run, targets);
    if (summary !== undefined) terminal.message(summary);
    if (summary !== undefined && options.isSandbox)
      terminal.message(
        'The account is the sandbox, which makes some work fail on purpose, to show what failures look like.',
      );
    for (const line of retryAdvice(run, targets, reasons)) terminal.message(line);
  };
  if (!options.silent) await showReport(terminal, options, { ...read, run, targets, text });
  if (options.targetsNamed && targets.every(({ reason }) => reason === 'not-eligible')) {
    terminal.message('Nothing was done: none of the targets that you named is eligible.');
    return exit.notAllWell;
  }
  return exitOf(run.status);
}

/** Prints the targets that need attention. Returns whether some of them share one row. */
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
 * Whether the result of a target is shown. A target that succeeded or needed no action is shown only if its
 * reason is notable or its detail is a finding.
 */
const isShown = ({ outcome, reason = '', detail, findings = [] }: Target, reasons: Reasons): boolean =>
  (outcome !== 'succeeded' && reason !== 'already-done') ||
  reasons.get(reason)?.notable === true ||
  findings.some(({ message }) => message === detail);

async function printHowToContinue(
  caretaker: Caretaker,
  run: Run,
  terminal: Terminal,
  { temporary }: WatchOptions,
): Promise<number> {
  if (temporary) {
    terminal.message(`${run.id} was ${run.status}: ${outOf(run, terminal)}.`);
    return exit.interrupted;
  }
  printInterrupted(run, await findActiveProcess(caretaker, run.account), terminal);
  return exit.interrupted;
}

/** Prints that a run waits for an approval, and the commands that decide. */
export function printAwaiting(run: Run, terminal: Terminal): number {
  const standing = formatStanding(run);
  if (standing !== undefined) terminal.message(visibleLine(standing));
  terminal.message(formatRunCommands(run));
  return exit.notAllWell;
}

/** Prints where a run is that is no longer followed, and how it continues. */
export function printInterrupted(run: Run, activeProcess: string | undefined, terminal: Terminal): void {
  terminal.message(`${run.id} is ${run.status}: ${outOf(run, terminal)}. Nothing is lost.`);
  if (activeProcess) {
    terminal.message(`The run continues: ${activeProcess} works on it.`);
    return;
  }
  if (run.ending) terminal.message('The run is cancelled, but no process works on it.');
  terminal.message(formatRunCommands(run));
}

async function endStalled(
  caretaker: Caretaker,
  run: Run,
  terminal: Terminal,
  options: WatchOptions,
): Promise<number> {
  const waitsForPerson = run.status === 'awaiting-approval' || run.held !== undefined;
  const isCancelled = options.cancelIfRefused && !run.planComplete && !waitsForPerson;
  const code = printStalled(
    run,
    terminal,
    isCancelled ? 'Nothing was started. The run was cancelled.' : undefined,
  );
  if (isCancelled)
    await caretaker.engine.cancel(run.id, {
      why: `Nothing was started. ${run.detail ?? 'The run could not be planned.'}`,
    });
  if (!options.silent) {
    const now = (await caretaker.records.runs.get(run.id)) ?? run;
    await showStalled({ run: now, targets: await targetsOf(caretaker, now) }, terminal, options);
  }
  return code;
}

/** Prints what a run waits for that needs a person, and what continues it. Returns the exit code. */
export function printStalled(run: Run, terminal: Terminal, next?: string): number {
  const { paint, message } = terminal;
  if (run.status === 'awaiting-approval') return printAwaiting(run, terminal);
  message(`${paint('red', 'error')}: ${run.detail ?? `The run is ${run.status}.`}`);
  if (run.held) message('The run waits until it is released or cancelled.');
  else message(next ?? `The run waits. Continue it when the cause is fixed: caretaker runs resume ${run.id}`);
  return exit.unreachable;
}

/** The run for programs; the messages about what it waits for are enough for a person. */
export const showStalled = (
  read: { run: Run; targets: readonly Target[]; report?: RunReport },
  terminal: Terminal,
  options: OutputOption,
) => showReport(terminal, options, { ...read, text: () => undefined });
