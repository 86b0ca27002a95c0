/** Changes the rollout of a run manually. */
import type { AnyCommand } from '../../control/command.ts';
import { resumeRollout, skipPause as skip } from '../../control/commands/change-rollout.ts';
import { withClient } from '../client.ts';
import type { GlobalOptions, ReasonOption } from '../context.ts';
import type { Terminal } from '../output/terminal.ts';
import { type Acted, actOnRun } from '../read-runs.ts';

type Options = GlobalOptions & ReasonOption;

/** A command about the rollout of a run; `say` gives the sentence about what follows. */
const changeWith =
  (command: AnyCommand, say: (acted: Acted) => string) =>
  (terminal: Terminal, word: string, options: Options): Promise<number> =>
    withClient('caretaker', terminal, options, (client) =>
      actOnRun(client, command, { word, input: { reason: options.reason } }, (acted) => {
        terminal.message(say(acted));
        printIdle(acted, terminal);
      }),
    );

export const skipPause = changeWith(
  skip,
  ({ id }) => `The pause of ${id} has ended: its gate is asked next.`,
);

export const resumeRun = changeWith(resumeRollout, ({ id, run }) =>
  run.id === id
    ? `${id} continues with its next batch.`
    : `${run.id} works on the targets that were not started in ${id}.`,
);

/** Prints what continues a run that no process works on. */
export function printIdle({ activeProcess, howToContinue }: Acted, { message }: Terminal): void {
  if (!activeProcess) message(`No process works on it. ${howToContinue}`);
}
