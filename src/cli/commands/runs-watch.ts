import { findActiveProcess } from '../../control/active-process.ts';
import { isFinal } from '../../run/moves.ts';
import type { Run, Target } from '../../run/run.ts';
import { formatRunCommands } from '../active-process.ts';
import { type GlobalOptions, settingsOf, withRecords } from '../context.ts';
import { exit } from '../exit.ts';
import { showReport } from '../output/run-report.ts';
import { isForPeople, type OutputOption } from '../output/show.ts';
import { outOf } from '../output/show-run.ts';
import type { Terminal } from '../output/terminal.ts';
import { runNamed } from '../run-id.ts';
import { untilSignal } from '../signals.ts';
import { Progress, printAwaiting, printEnd, targetsOf } from '../watch-run.ts';

type Opened = Parameters<Parameters<typeof withRecords>[3]>[0];

const POLL_INTERVAL_MS = 500;
/** Until then a daemon may be starting, or its lease passing to another one. */
const REPORT_IDLE_AFTER_MS = 10_000;

/**
 * Follows a run to its end without working on it, and returns the exit code that `run` would: 0 only if it
 * succeeded, 1 if it waits for an approval, 3 if it waits because the account refuses access or because it is held.
 */
export async function watchRunOf(
  terminal: Terminal,
  word: string | undefined,
  options: GlobalOptions,
): Promise<number> {
  return withRecords(terminal, options, settingsOf(terminal, options), async (opened) => {
    const run = await runNamed(opened.records, word ?? 'last');
    const interrupt = new AbortController();
    void untilSignal(terminal.io).then(() => interrupt.abort());
    const last = await untilEnded(opened, run, terminal, interrupt.signal);
    if (isFinal(last.status)) {
      const { loadJobs } = await import('../../app/load-jobs.ts');
      const targets = await targetsOf(opened, last);
      const { reasons } = await loadJobs();
      return printEnd({ targets, reasons }, last, terminal, options);
    }
    if (interrupt.signal.aborted) return printUnchanged(last, terminal);
    // The messages are enough for a person.
    const targets = isForPeople(options) ? [] : await targetsOf(opened, last);
    return showWaiting(last, targets, terminal, options);
  });
}

/** Prints where a run is that is no longer watched. */
export function printUnchanged(run: Run, terminal: Terminal): number {
  terminal.message(`${run.id} is ${run.status}: ${outOf(run, terminal)}. It was not changed.`);
  return exit.interrupted;
}

/** Whether a watched run waits for something outside. */
export const isWaiting = ({ status, held }: Run): boolean =>
  status === 'blocked' || status === 'awaiting-approval' || held !== undefined;

/** Shows a run that waits for something outside. */
export async function showWaiting(
  run: Run,
  targets: readonly Target[],
  terminal: Terminal,
  options: OutputOption,
): Promise<number> {
  const report = { run, targets, text: () => undefined };
  if (run.status === 'awaiting-approval') {
    const code = printAwaiting(run, terminal);
    await showReport(terminal, options, report);
    return code;
  }
  terminal.message(`${terminal.paint('red', 'error')}: ${run.detail ?? `The run is ${run.status}.`}`);
  terminal.message(
    run.held
      ? 'The run waits until it is released or cancelled.'
      : 'The run waits. A daemon continues it when the account accepts requests again.',
  );
  await showReport(terminal, options, report);
  return exit.unreachable;
}

/** Shows progress until the run has ended, waits for a person, or `signal` aborts; returns it as it is then. */
async function untilEnded(opened: Opened, run: Run, terminal: Terminal, signal: AbortSignal): Promise<Run> {
  const { records, clock } = opened;
  const progress = new Progress(terminal, clock);
  let last = run;
  let idleSince: number | undefined;
  let reportedIdle = false;
  for (;;) {
    if (isFinal(last.status) || isWaiting(last) || signal.aborted) {
      progress.end(last);
      return last;
    }
    progress.show(last);
    const isIdle = (await findActiveProcess(opened, last.account)) === undefined;
    idleSince = isIdle ? (idleSince ?? clock.now()) : undefined;
    if (idleSince !== undefined && !reportedIdle && clock.now() - idleSince >= REPORT_IDLE_AFTER_MS) {
      reportedIdle = true;
      terminal.message(
        `No process works on ${last.id}. It continues when a daemon with the role worker runs.`,
      );
      terminal.message(formatRunCommands(last));
    }
    await clock.sleep(POLL_INTERVAL_MS, signal);
    last = (await records.runs.get(run.id)) ?? last;
  }
}
