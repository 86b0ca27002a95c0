import { isFinal } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import { withReader } from '../client.ts';
import type { GlobalOptions } from '../context.ts';
import { exit } from '../exit.ts';
import { follow, printEndOf } from '../follow-run.ts';
import { outOf } from '../output/show-run.ts';
import type { Terminal } from '../output/terminal.ts';
import { readRun, runNamed } from '../read-runs.ts';
import { printAwaiting, showStalled } from '../watch-run.ts';

/**
 * Follows a run to its end without working on it, and returns the exit code that `run` would: 0 only if it
 * succeeded, 1 if it waits for an approval, 3 if it waits because the account refuses access or because it is held.
 */
export const watchRunOf = (
  terminal: Terminal,
  word: string | undefined,
  options: GlobalOptions,
): Promise<number> =>
  withReader('records', terminal, options, async (client) => {
    const first = await runNamed(client, word ?? 'last');
    const { run, isInterrupted } = await follow(client, first, terminal, isWaiting);
    if (isFinal(run.status)) return printEndOf(client, run, terminal, options);
    if (isInterrupted) {
      terminal.message(`${run.id} is ${run.status}: ${outOf(run, terminal)}. It was not changed.`);
      return exit.interrupted;
    }
    const code = printWaiting(run, terminal);
    await showStalled(await readRun(client, run.id), terminal, options);
    return code;
  });

/** Whether a watched run waits for something outside. */
const isWaiting = ({ status, held }: Run): boolean =>
  status === 'blocked' || status === 'awaiting-approval' || held !== undefined;

function printWaiting(run: Run, terminal: Terminal): number {
  if (run.status === 'awaiting-approval') return printAwaiting(run, terminal);
  terminal.message(`${terminal.paint('red', 'error')}: ${run.detail ?? `The run is ${run.status}.`}`);
  terminal.message(
    run.held
      ? 'The run waits until it is released or cancelled.'
      : 'The run waits. A daemon continues it when the account accepts requests again.',
  );
  return exit.unreachable;
}
