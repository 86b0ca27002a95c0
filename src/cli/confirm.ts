/** Questions that only "yes" answers, at a terminal. */
import { createInterface } from 'node:readline/promises';
import { InterruptedError } from './exit.ts';
import type { Terminal } from './output/terminal.ts';

/** Whether a person can be asked. */
export const isAskable = ({ interactive, io }: Terminal): boolean => interactive && io.stdin.isTTY === true;

/**
 * Asks, and gives whether the answer is "yes".
 *
 * @throws {InterruptedError} with `notDone`, after Ctrl-C.
 */
export async function isConfirmed(
  question: string,
  notDone: string,
  { io: { stdin, stderr } }: Terminal,
): Promise<boolean> {
  const asking = createInterface({ input: stdin, output: stderr });
  const interrupt = new AbortController();
  asking.on('SIGINT', () => interrupt.abort());
  try {
    const answer = await asking.question(question, interrupt);
    return answer.trim().toLowerCase() === 'yes';
  } catch (error) {
    // Ctrl-C or the end of the input: the question has no end of line then.
    stderr.write('\n');
    if (interrupt.signal.aborted) throw new InterruptedError(notDone, { cause: error });
    return false;
  } finally {
    asking.close();
  }
}
