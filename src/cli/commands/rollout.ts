/** Changes the rollout of a run manually. */
import { resumeRollout as resume, skipPause as skip } from '../../control/commands/change-rollout.ts';
import { type Acted, actOnRun } from '../act-on-run.ts';
import type { GlobalOptions, ReasonOption } from '../context.ts';
import type { Terminal } from '../output/terminal.ts';

type Options = GlobalOptions & ReasonOption;

export const skipPause = (terminal: Terminal, word: string, options: Options): Promise<number> =>
  actOnRun(terminal, { command: skip, input: { reason: options.reason } }, word, options, (acted) =>
    printSkipped(acted, terminal),
  );

export const resumeRun = (terminal: Terminal, word: string, options: Options): Promise<number> =>
  actOnRun(terminal, { command: resume, input: { reason: options.reason } }, word, options, (acted) =>
    printResumed(acted, terminal),
  );

export function printSkipped(acted: Acted, terminal: Terminal): void {
  terminal.message(`The pause of ${acted.id} has ended: its gate is asked next.`);
  printIdle(acted, terminal);
}

export function printResumed(acted: Acted, terminal: Terminal): void {
  const { id, run } = acted;
  terminal.message(
    run.id === id
      ? `${id} continues with its next batch.`
      : `${run.id} works on the targets that were not started in ${id}.`,
  );
  printIdle(acted, terminal);
}

/** Prints what continues a run that no process works on. */
export function printIdle({ activeProcess, howToContinue }: Acted, { message }: Terminal): void {
  if (!activeProcess) message(`No process works on it. ${howToContinue}`);
}
