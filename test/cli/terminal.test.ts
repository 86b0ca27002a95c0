/** Text from the service and from files is readable at a terminal and cannot control it. */

import { describe, expect, test } from 'vitest';
import { formatFindings } from '../../src/cli/output/findings.ts';
import { openTerminal, type Terminal, table } from '../../src/cli/output/terminal.ts';
import { csvLine } from '../../src/text.ts';
import { widthOf } from '../../src/yaml/width.ts';
import { aTarget } from '../support/builders.ts';
import { TestIo } from '../support/io.ts';

/** The output on both streams, which are terminals with colours or not. */
function printed(isTTY: boolean, print: (terminal: Terminal) => void): string {
  const io = new TestIo({ env: { TERM: 'xterm' }, terminals: isTTY ? ['stdout', 'stderr'] : [] });
  print(openTerminal(io));
  return io.together;
}

const HOSTILE = '\u001b[31mred\u001b[8m \u001b]8;;https://evil.example\u0007link \u009b31m\u202eback\u200b';
const WRITTEN_OUT =
  '\\u001b[31mred\\u001b[8m \\u001b]8;;https://evil.example\\u0007link \\u009b31m\\u202eback\\u200b';

describe('colours and control characters from the service', () => {
  test.each([true, false])('are escaped in every line, at a terminal or not (%s)', (isTTY) => {
    const text = printed(isTTY, ({ data, message }) => {
      data(HOSTILE);
      message(HOSTILE);
    });
    expect(text).toBe(`${WRITTEN_OUT}\n${WRITTEN_OUT}\n`);
  });

  test('are escaped inside our own colours, which are printed', () => {
    const text = printed(true, ({ message, paint }) =>
      message(`${paint('red', 'error')}: ${paint('bold', HOSTILE)}`),
    );
    expect(text).toBe(`\u001b[31merror\u001b[39m: \u001b[1m${WRITTEN_OUT}\u001b[22m\n`);
  });

  test('are escaped in the progress line', () => {
    const text = printed(true, ({ show }) => show(`a\u001b[2Jb\nc`));
    expect(text).toBe('\r\u001b[Ka\\u001b[2Jb c');
  });

  test('are escaped in JSON, which parses to the same value', () => {
    const text = printed(false, ({ json }) => json({ label: HOSTILE }));
    expect(text).toBe(`{"label":"${WRITTEN_OUT}"}\n`);
    expect(JSON.parse(text)).toEqual({ label: HOSTILE });
  });

  test('are escaped in a table, whose columns stay aligned', () => {
    const text = printed(true, ({ data, paint }) =>
      data(
        table(
          ['label', 'outcome'],
          [
            ['\u001b[31mred', paint('green', 'ok')],
            ['two\nlines', 'ok'],
          ],
          paint,
        ),
      ),
    );
    const rows = text.trimEnd().split('\n').slice(1);
    expect(rows).toEqual([`\\u001b[31mred  \u001b[32mok\u001b[39m`, `${'two lines'.padEnd(13)}  ok`]);
  });

  test('are escaped in findings, each of which is one line', () => {
    const target = aTarget('s-1', {
      ...{ label: HOSTILE, state: 'ended', outcome: 'failed', reason: 'internal', finishedAt: 0 },
      findings: [{ severity: 'error', about: 'core', message: 'one\ntwo \u001b[2J' }],
    });
    const text = printed(true, (terminal) =>
      terminal.data(formatFindings([target], terminal, { all: true }) ?? ''),
    );
    expect(text).toContain(WRITTEN_OUT);
    expect(text).toContain('one two \\u001b[2J');
  });

  test('are escaped in CSV, and no cell is a formula', () => {
    expect(csvLine([HOSTILE, '=1+1', '\u200b=1+1', '＝1', '@x', '+1', '-1', '\tx'])).toBe(
      `${WRITTEN_OUT},'=1+1,\\u200b=1+1,'＝1,'@x,'+1,'-1,'\tx`,
    );
    const parts = ['a,b', 'say "x"', 'two\nlines', 3, null];
    expect(csvLine(parts)).toBe('"a,b","say ""x""","two\nlines",3,');
  });
});

test('the value after the name of a secret is hidden, except in our own help texts', () => {
  const text = printed(true, ({ data, message }) => {
    message('the site answered: password=hunter2');
    message('export CARETAKER_API_TOKEN=token-for-this-text', 'values-only');
    data('"http_auth": { "username": string, "password": string }', 'values-only');
  });
  expect(text.split('\n').slice(0, 3)).toEqual([
    'the site answered: password=[hidden]',
    'export CARETAKER_API_TOKEN=token-for-this-text',
    '"http_auth": { "username": string, "password": string }',
  ]);
});

describe('a label of 6,000 characters', () => {
  const rows = [
    ['s-1', 'x'.repeat(6_000), 'failed'],
    ['s-2', 'short', 'failed'],
  ];
  const paint: Terminal['paint'] = (_, text) => text;

  test('is complete in a pipe, and does not widen other rows', () => {
    const [, long = '', short = ''] = table(['id', 'label', 'outcome'], rows, paint).split('\n');
    expect(long).toBe(`s-1  ${'x'.repeat(6_000)}  failed`);
    expect(short.length).toBeLessThan(120);
  });

  test('is cut with an ellipsis at a terminal', () => {
    const fit = { columns: 80, shrink: ['label: 16'] } as const;
    const lines = table(['id', 'label', 'outcome'], rows, paint, fit).split('\n');
    expect(lines[1]).toContain('x…');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});

test('columns stay aligned under emoji and wide characters, also where a cell is cut', () => {
  const paint: Terminal['paint'] = (_, text) => text;
  const rows = [
    ['漢字サイト', 'succeeded'],
    ['🚀 shop', 'failed'],
    ['漢'.repeat(60), 'failed'],
  ];
  const lines = table(['label', 'outcome'], rows, paint, {
    columns: 40,
    shrink: ['label: 16'],
  }).split('\n');
  const starts = lines.map((line) => widthOf(line.replace(/(outcome|succeeded|failed)$/, '')));
  expect(new Set(starts).size).toBe(1);
  expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(40);
});
