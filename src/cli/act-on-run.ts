/** Carries out a command about one run, which another process works on. */
import { findActiveProcess } from '../control/active-process.ts';
import type { AnyCommand } from '../control/command.ts';
import type { Run } from '../run/run.ts';
import { carryOutHere } from './carry-out-here.ts';
import { type GlobalOptions, settingsOf, withCaretaker } from './context.ts';
import { exit } from './exit.ts';
import type { Terminal } from './output/terminal.ts';
import { runNamed } from './run-id.ts';

/** A run after a command about it. */
export interface Acted {
  /** The run that was named. */
  id: string;
  /** The run that the command gives: the same, or one that does the rest of it. */
  run: Run;
  /** The process that works on it, in words. */
  activeProcess: string | undefined;
  /** What continues it when no process works on it. */
  howToContinue: string;
}

/** Carries out the command about the run that `word` names, and prints what became of it. */
export function actOnRun(
  terminal: Terminal,
  { command, input = {} }: { command: AnyCommand; input?: object },
  word: string,
  options: GlobalOptions,
  print: (acted: Acted) => void,
): Promise<number> {
  return withCaretaker(terminal, options, settingsOf(terminal, options), async (caretaker) => {
    const { id, account } = await runNamed(caretaker.records, word);
    const run: Run = await carryOutHere(command, caretaker, { ...input, run: id }, terminal);
    const activeProcess = await findActiveProcess(caretaker, account);
    print({ id, run, activeProcess, howToContinue: `Continue it: caretaker runs continue ${run.id}` });
    return exit.ok;
  });
}
