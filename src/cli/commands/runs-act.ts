/** Cancels, retries and resumes runs. */
import type { Caretaker } from '../../app/caretaker.ts';
import { cancelRun as cancel, forceEndRun, retryRun as retry } from '../../control/commands/change-run.ts';
import { type Resumption, resumeRun as resumption } from '../../control/commands/resume-run.ts';
import { defined } from '../../defined.ts';
import { toRun } from '../../run/from-report.ts';
import { isFinal } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { type Client, withClient } from '../client.ts';
import type { GlobalOptions, ReasonOption } from '../context.ts';
import { exit } from '../exit.ts';
import { followToEnd } from '../follow-run.ts';
import type { OutputOption } from '../output/show.ts';
import { endLines, showReport } from '../output/show-run.ts';
import type { Terminal } from '../output/terminal.ts';
import { printIdle, processOf, readRun, readSummary, runNamed } from '../read-runs.ts';
import { watchRun } from '../watch-run.ts';
import { start } from './run.ts';

/** Cancels a run. If no other process works on it, follows work in flight to its end. */
export const cancelRun = (
  terminal: Terminal,
  word: string,
  options: GlobalOptions & ReasonOption & { force?: boolean; leaveTasks?: boolean },
): Promise<number> =>
  withClient('caretaker', terminal, options, async (client) => {
    const { here } = client;
    const { reason, leaveTasks: leave_tasks } = options;
    const before = await runNamed(client, word);
    const { id } = before;
    if (options.force) {
      await client.act(forceEndRun, { run: id, reason });
      return showForceEnded(client, id, terminal, options);
    }
    // Read before cancelling: once the run has ended, there may be no active process.
    const activeProcess = await processOf(client, before);
    const answer = await client.act(cancel, { run: id, leave_tasks, reason });
    const run = toRun(answer.run);
    if (isFinal(run.status)) {
      terminal.message(`${id} is cancelled. No work was in progress.`);
      return exit.ok;
    }
    printCancelled({ id, wasBlocked: before.status === 'blocked', activeProcess }, terminal, options);
    if (activeProcess || !here) return exit.ok;
    const code = await watchRun(here, run, terminal, {
      output: options.output,
      cancelIfRefused: false,
      isCancelled: true,
      openingMessage: `No other process works on it, so this command completes the cancellation. To end it without waiting: caretaker runs cancel ${id} --force`,
    });
    return isFinal((await readSummary(client, id)).status) ? exit.ok : code;
  });

/** What becomes of a run that is cancelled while work is in progress, and who completes that. */
function printCancelled(
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

/** Shows a run that was force-ended, and what is not known about its targets. */
async function showForceEnded(
  client: Client<Caretaker>,
  id: string,
  terminal: Terminal,
  options: OutputOption,
): Promise<number> {
  const { run, targets, report } = await readRun(client, id);
  const text = () => {
    for (const line of endLines(run, terminal)) terminal.data(line);
  };
  await showReport(terminal, options, { run, targets, report, text });
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

/** Starts a new run with targets that failed. */
export const retryRun = (
  terminal: Terminal,
  word: string,
  options: GlobalOptions &
    ReasonOption & { detach?: boolean; ignoreFreeze?: true; withReason?: string[]; target?: string[] },
): Promise<number> =>
  withClient('caretaker', terminal, options, async (client) => {
    const { id } = await runNamed(client, word);
    const { withReason: with_reason, target } = options;
    return start(client, retry, { run: id, ...defined({ with_reason, target }) }, { terminal, options });
  });

interface ResumeOptions {
  ignoreGate?: true;
  release?: true;
}

/**
 * Resumes a run that waits. One that was interrupted, blocked or is not planned yet is worked on, or followed on a
 * server, to its end; whatever else it waited for, the process that works on its account goes on with it.
 *
 * @throws {RunError} when it has already ended.
 */
export const resumeRun = (
  terminal: Terminal,
  word: string,
  options: GlobalOptions & ReasonOption & ResumeOptions,
): Promise<number> =>
  withClient('caretaker', terminal, options, async (client) =>
    resume(client, await runNamed(client, word), terminal, options),
  );

/** The same with a run that was read. */
export async function resume(
  client: Client<Caretaker>,
  { id }: Run,
  terminal: Terminal,
  { output, reason, release, ignoreGate: ignore_gate }: OutputOption & ReasonOption & ResumeOptions,
): Promise<number> {
  const answer = await client.start(resumption, { run: id, ignore_gate, release, reason });
  const run = toRun(answer.run);
  if (answer.did === 'continued') {
    const isCancelled = run.ending === 'cancelled';
    return client.here
      ? watchRun(client.here, run, terminal, { output, cancelIfRefused: false, isCancelled })
      : followToEnd(client, run, terminal, { output, isCancelled });
  }
  terminal.message(said[answer.did](id, run.id));
  if (!(await processOf(client, run))) printIdle({ run, onServer: client.here === undefined }, terminal);
  return exit.ok;
}

const said: Record<Exclude<Resumption, 'continued'>, (id: string, now: string) => string> = {
  released: (id) => `${id} is released.`,
  'pause-skipped': (id) => `The pause of ${id} has ended: its gate is asked next.`,
  'gate-passed': (id) => `${id} continues with its next batch.`,
  'rest-started': (id, now) => `${now} works on the targets that were not started in ${id}.`,
};
