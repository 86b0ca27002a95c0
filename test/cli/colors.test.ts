/** Colours go only to terminals, never into a pipe or a file. */
import { expect, test } from 'vitest';
import { openTerminal } from '../../src/cli/output/terminal.ts';
import { type Streams, TestIo } from '../support/io.ts';

/** The output of a command while only these streams are terminals. */
function printed(...terminals: Streams[]) {
  const io = new TestIo({ env: { TERM: 'xterm' }, terminals });
  const { data, message, paint } = openTerminal(io);
  data(paint('green', 'ok'));
  message(paint('yellow', 'warning'));
  return io.printed;
}

test('data that goes into a pipe has no colours, also when errors go to a terminal', () => {
  expect(printed('stderr')).toEqual({
    stdout: 'ok\n',
    stderr: '\u001b[33mwarning\u001b[39m\n',
  });
});

test('data at a terminal has colours, also when errors go into a file, which gets none', () => {
  expect(printed('stdout')).toEqual({
    stdout: '\u001b[32mok\u001b[39m\n',
    stderr: 'warning\n',
  });
});
