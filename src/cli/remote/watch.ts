/** Follows a run on a server until it has ended, with the output of a run on this machine. */
import { loadJobs } from '../../app/load-jobs.ts';
import { stepNamesIn, toRun, toTarget } from '../../run/from-report.ts';
import { isFinal } from '../../run/moves.ts';
import type { RunReport } from '../../run/report.ts';
import type { Run, Target } from '../../run/run.ts';
import { exit } from '../exit.ts';
import { clockOf } from '../io.ts';
import type { Terminal } from '../output/terminal.ts';
import { onSignals } from '../signals.ts';
import {
  isStalled,
  Progress,
  printEnd,
  printInterrupted,
  printStalled,
  showStalled,
  type WatchOptions,
} from '../watch-run.ts';
import { processOf, readSummary, runPathOf } from './act-on-run.ts';
import type { Server } from './server.ts';

const POLL_INTERVAL_MS = 1_000;

/** A run with its targets. */
export async function readRun(server: Server, id: string): Promise<{ run: Run; targets: Target[] }> {
  const report = await server.get<RunReport>(runPathOf(id));
  return { run: toRun(report, stepNamesIn(report.targets)), targets: report.targets.map(toTarget) };
}

/** The result of a run that has ended. */
export async function printRemoteEnd(
  server: Server,
  { id }: Run,
  terminal: Terminal,
  options: Omit<WatchOptions, 'cancelIfRefused'>,
): Promise<number> {
  const { run, targets } = await readRun(server, id);
  const { reasons } = await loadJobs();
  return printEnd({ targets, reasons }, run, terminal, options);
}

/** Shows progress until the run has ended, waits for a person, or Ctrl-C; then its result. */
export async function watchRemoteRun(
  server: Server,
  first: Run,
  terminal: Terminal,
  options: Omit<WatchOptions, 'cancelIfRefused'>,
): Promise<number> {
  const { run, isInterrupted } = await follow(
    server,
    first,
    terminal,
    (one) => isStalled(one) && !options.isCancelled,
  );
  if (isFinal(run.status)) return printRemoteEnd(server, run, terminal, options);
  if (isInterrupted) {
    printInterrupted(run, await processOf(server, run), terminal);
    return exit.interrupted;
  }
  const code = printStalled(run, terminal);
  if (!options.silent) {
    const { run: now, targets } = await readRun(server, run.id);
    await showStalled(now, targets, terminal, options);
  }
  return code;
}

/** Shows progress until the run has ended, `isWaiting` holds, or the process is to end. */
export async function follow(
  server: Server,
  first: Run,
  terminal: Terminal,
  isWaiting: (run: Run) => boolean,
): Promise<{ run: Run; isInterrupted: boolean }> {
  const clock = clockOf(terminal.io);
  const stop = new AbortController();
  const removeHandlers = onSignals(terminal.io, () => stop.abort());
  try {
    const progress = new Progress(terminal, clock);
    let run = first;
    while (!isFinal(run.status) && !isWaiting(run) && !stop.signal.aborted) {
      progress.show(run);
      await clock.sleep(POLL_INTERVAL_MS, stop.signal);
      if (!stop.signal.aborted) run = await readSummary(server, first.id);
    }
    progress.end(run);
    return { run, isInterrupted: stop.signal.aborted };
  } finally {
    removeHandlers();
  }
}
