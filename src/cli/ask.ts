/** Questions at a terminal: a password, which is not shown, and what only "yes" answers. */

import { createInterface } from 'node:readline/promises';
import { MIN_PASSWORD } from '../access/credentials.ts';
import { InterruptedError, UsageError } from './exit.ts';
import type { Io } from './io.ts';
import type { Terminal } from './output/terminal.ts';

type Streams = Pick<Io, 'stdin' | 'stderr'>;

/**
 * Asks twice at the terminal, or reads the first line of standard input.
 *
 * @throws {InterruptedError} at Ctrl-C.
 * @throws {UsageError} when the password is too short, or the two differ, or there is no terminal to ask at.
 */
export async function newPassword(io: Streams, fromStdin: boolean): Promise<string> {
  const password = fromStdin ? await firstLine(io) : await ask(io, 'Password: ');
  if ([...password].length < MIN_PASSWORD)
    throw new UsageError(`The password must have at least ${MIN_PASSWORD} characters.`);
  if (fromStdin) return password;
  const again = await ask(io, 'The same again: ');
  if (again !== password) throw new UsageError('The two passwords differ.');
  return password;
}

async function firstLine({ stdin }: Streams): Promise<string> {
  let text = '';
  stdin.setEncoding('utf8');
  for await (const chunk of stdin) text += chunk;
  return text.split(/\r?\n/, 1)[0] ?? '';
}

const [CTRL_C, CTRL_U, DELETE] = ['\u0003', '\u0015', '\u007f'];

/** What is typed after one more key: Ctrl-U clears it, and other control characters do nothing. */
function edited(typed: string[], char: string): string[] {
  if (char === CTRL_U) return [];
  if (char === DELETE || char === '\b') return typed.slice(0, -1);
  return char >= ' ' ? [...typed, char] : typed;
}

/** Reads a line in raw mode, in which the terminal shows nothing of it. */
function ask({ stdin, stderr }: Streams, question: string): Promise<string> {
  if (!stdin.isTTY) throw new UsageError('There is no terminal to ask at: send the password with --stdin.');
  // Before the question: otherwise a person who types at once would see the password, and Ctrl-C would end the
  // process without a word.
  stdin.setRawMode?.(true);
  stderr.write(question);
  stdin.setEncoding('utf8');
  stdin.resume();
  return new Promise((resolve, reject) => {
    let typed: string[] = [];
    const end = (settle: () => void) => {
      stdin.off('data', take).pause();
      stdin.setRawMode?.(false);
      stderr.write('\n');
      settle();
    };
    const take = (chunk: string) => {
      for (const char of chunk) {
        if (char === '\r' || char === '\n') return end(() => resolve(typed.join('')));
        if (char === CTRL_C) return end(() => reject(new InterruptedError('No hash was made.')));
        typed = edited(typed, char);
      }
    };
    stdin.on('data', take);
  });
}

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
