/** Follows a run that another process works on, here or on a server. */
import { isFinal } from '../run/moves.ts';
import type { Run } from '../run/run.ts';
import { formatRunCommands } from './active-process.ts';
import type { RecordReader } from './client.ts';
import { exit } from './exit.ts';
import { onSignals } from './interruption.ts';
import type { Terminal } from './output/terminal.ts';
import { processOf, readRun, readSummary } from './read-runs.ts';
import {
  isStalled,
  Progress,
  printEnd,
  printInterrupted,
  printStalled,
  showStalled,
  type WatchOptions,
} from './watch-run.ts';

const POLL_INTERVAL_MS = 1_000;
/** Until then a daemon may be starting, or its lease passing to another one. */
const REPORT_IDLE_AFTER_MS = 10_000;

/** Shows progress until the run has ended, `isWaiting` holds, or the process is to end. */
export async function follow(
  client: RecordReader,
  first: Run,
  terminal: Terminal,
  isWaiting: (run: Run) => boolean,
): Promise<{ run: Run; isInterrupted: boolean }> {
  const { clock } = client;
  const stop = new AbortController();
  const removeHandlers = onSignals(terminal.io, (signal) => {
    if (stop.signal.aborted) terminal.io.exit(signal === 'SIGINT' ? exit.interrupted : 143);
    stop.abort();
  });
  const progress = new Progress(terminal, clock);
  let run = first;
  let idleSince: number | undefined;
  let isReported = false;
  try {
    while (!isFinal(run.status) && !isWaiting(run) && !stop.signal.aborted) {
      progress.show(run);
      if (!isReported) {
        const isIdle = (await processOf(client, run)) === undefined;
        idleSince = isIdle ? (idleSince ?? clock.now()) : undefined;
        isReported = idleSince !== undefined && clock.now() - idleSince >= REPORT_IDLE_AFTER_MS;
        if (isReported) printIdle(run, terminal);
      }
      await clock.sleep(POLL_INTERVAL_MS, stop.signal);
      if (!stop.signal.aborted) run = await readSummary(client, first.id);
    }
    progress.end(run);
    return { run, isInterrupted: stop.signal.aborted };
  } finally {
    removeHandlers();
  }
}

function printIdle(run: Run, { message }: Terminal): void {
  message(`No process works on ${run.id}. It continues when a daemon with the role worker runs.`);
  message(formatRunCommands(run));
}

/** The result of a run that has ended. */
export async function printEndOf(
  client: RecordReader,
  { id }: Run,
  terminal: Terminal,
  options: Omit<WatchOptions, 'cancelIfRefused'>,
): Promise<number> {
  const { run, targets, report } = await readRun(client, id);
  const { loadJobs } = await import('../app/load-jobs.ts');
  const { reasons } = await loadJobs();
  return printEnd({ targets, reasons, report }, run, terminal, options);
}

/** Follows a run until it has ended, waits for a person, or Ctrl-C; then shows its result. */
export async function followToEnd(
  client: RecordReader,
  first: Run,
  terminal: Terminal,
  options: Omit<WatchOptions, 'cancelIfRefused'>,
): Promise<number> {
  const isWaiting = (one: Run) => isStalled(one) && !options.isCancelled;
  const { run, isInterrupted } = await follow(client, first, terminal, isWaiting);
  if (isFinal(run.status)) return printEndOf(client, run, terminal, options);
  if (isInterrupted) {
    printInterrupted(run, await processOf(client, run), terminal);
    return exit.interrupted;
  }
  const code = printStalled(run, terminal);
  if (!options.silent) {
    const now = await readRun(client, run.id);
    await showStalled(now, terminal, options);
  }
  return code;
}
