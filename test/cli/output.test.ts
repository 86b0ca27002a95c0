/** Every command that shows data prints it in the formats of `--output`, from one implementation. */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type List, type Listed, showList } from '../../src/cli/output/list.ts';
import { formats, rowTable, show } from '../../src/cli/output/show.ts';
import { openTerminal } from '../../src/cli/output/terminal.ts';
import { createProgram } from '../../src/cli/program.ts';
import { keepSecret } from '../../src/secrets.ts';
import { TestIo } from '../support/io.ts';
import { deskOfFile } from './desk-of-file.ts';

const desk = deskOfFile({});

/** What `show` prints on standard output, which is a terminal with colours. */
async function shown(output: (typeof formats)[number], what: Partial<Parameters<typeof show>[2]>) {
  const io = new TestIo();
  await show(openTerminal(io), { output }, { value: null, text: () => undefined, ...what });
  return io.printed.stdout;
}

const commandsOf = (command: CommandUnknownOpts, path = ''): [string, CommandUnknownOpts][] =>
  command.commands.flatMap((one) => {
    const name = `${path}${one.name()}`;
    return [[name, one] as [string, CommandUnknownOpts], ...commandsOf(one, `${name} `)];
  });

describe('--output', () => {
  const program = createProgram(() => async () => undefined, new TestIo());
  const takers = commandsOf(program).filter(([, { options }]) =>
    options.some(({ long }) => long === '--output' || long === '--json'),
  );

  test('means the format in every command, and --json is a short form of it', () => {
    expect(takers.length).toBeGreaterThan(15);
    for (const [name, { options }] of takers) {
      const output = options.find(({ long }) => long === '--output');
      expect({ name, choices: output?.argChoices, short: output?.short }).toEqual({
        ...{ name, choices: name === 'runs export' ? ['csv', 'jsonl'] : formats, short: '-o' },
      });
      const json = options.some(({ long }) => long === '--json');
      expect({ name, json }).toEqual({ name, json: name !== 'runs export' });
    }
  });

  test('with a format that does not exist, or beside --json, is a usage error', async () => {
    const wrong = await desk.run(['policies', '-o', 'xml']);
    expect({ code: wrong.code, stdout: wrong.stdout }).toEqual({ code: 2, stdout: '' });
    expect(wrong.stderr).toContain('Allowed choices are table, json, jsonl, csv, yaml.');
    expect((await desk.run(['policies', '--json', '-o', 'csv'])).code).toBe(2);
  });

  test('prints the same data in every format', async () => {
    const text = async (...words: string[]) => (await desk.run(['policies', ...words])).stdout;
    const json = JSON.parse(await text('-o', 'json'));
    expect(json.map(({ name }: { name: string }) => name)).toContain('nightly-sync');
    expect(JSON.parse(await text('--json'))).toEqual(json);
    expect(parse(await text('-o', 'yaml'))).toEqual(json);
    const lines = (await text('-o', 'jsonl')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(json);
    const csv = (await text('-o', 'csv')).trimEnd().split('\r\n');
    expect(csv[0]).toMatch(/^name,description,job,account,/);
    expect(csv).toHaveLength(json.length + 1);
    expect(await text('-o', 'table')).toBe(await text());
  });

  test('of a list without items still prints the columns of csv', async () => {
    const { stdout } = await desk.run(['runs', '-o', 'csv']);
    expect((await desk.run(['runs', '-o', 'csv', '--bom'])).stdout).toBe(`\uFEFF${stdout}`);
    expect(await desk.run(['runs', '--bom'])).toMatchObject({ code: 2 });
    expect(stdout).toMatch(/^run,policy,job,status,.*\r\n$/);
    expect((await desk.run(['runs', '-o', 'jsonl'])).stdout).toBe('');
  });
});

describe('csv', () => {
  test('has a column for each field of an object, and never starts a formula', async () => {
    const value = [
      { id: 'a', counts: { failed: 1 }, tags: ['x', '=y'] },
      { id: '=HYPERLINK("http://evil.example")', counts: { failed: 2, done: 0 }, note: 'two\nlines' },
    ];
    expect(await shown('csv', { value })).toBe(
      [
        'id,counts.failed,counts.done,tags,note',
        'a,1,,"x, =y",',
        `"'=HYPERLINK(""http://evil.example"")",2,0,,"two\nlines"`,
        '',
      ].join('\r\n'),
    );
  });

  test('is printed while rows are read', async () => {
    async function* rows() {
      yield { id: 'a', more: true };
      yield { id: 'b' };
    }
    expect(await shown('csv', { rows: rows(), columns: ['id'] })).toBe('id\r\na\r\nb\r\n');
  });
});

test('texts from outside contain no control character in any format', async () => {
  const value = [
    { label: '\u001b[31mred', lines: 'a\nb\u202e', 'k\u200b': '\u{e0001}', no: 'no', at: '02:00' },
  ];
  for (const output of formats.filter((one) => one !== 'table')) {
    const text = await shown(output, { value });
    expect(text).toMatch(/^[\t\n\r -~]+$/);
    if (output === 'yaml') expect(parse(text)).toEqual(value);
    if (output === 'yaml') expect(parse(text, { version: '1.1' })).toEqual(value);
  }
});

test('secrets are hidden in every format', async () => {
  keepSecret('a-secret-of-this-process');
  const value = [{ detail: 'sent a-secret-of-this-process', password: 'hunter2', note: 'api_key=abc12345' }];
  for (const output of formats.filter((one) => one !== 'table')) {
    const text = await shown(output, { value });
    expect(text).toContain('[hidden]');
    expect(text).not.toMatch(/a-secret|hunter2|abc12345/);
  }
});

test('an answer of the service is a table when that is requested', () => {
  const rows = [
    { id: 'a', client: { name: 'ACME' }, tags: [] },
    { id: 'b', client: null, tags: ['x'] },
  ];
  const terminal = {
    ...openTerminal(new TestIo()),
    paint: (_: unknown, text: string) => text,
    dataColumns: 12,
  };
  expect(rowTable(rows, { ...terminal, dataColumns: undefined }).split('\n')).toEqual([
    'id  client.name  client  tags',
    'a   ACME                 []',
    'b                        x',
  ]);
  expect(rowTable(rows, terminal)).toMatch(/^id {2}client\.name\n|^id\n/);
});

describe('a list', () => {
  interface Row {
    name: string;
    of?: { id: number };
  }
  const list: List<Row> = {
    table: { site: ({ name }) => name, id: ({ of }) => of?.id },
    shrink: ['site: 4', 'id: 0'],
    csv: ['name', 'of.id'],
  };
  const rows = [{ name: 'a-long-name', of: { id: 7 } }, { name: 'short' }];
  const printed = async (output: (typeof formats)[number], what: Partial<Listed<Row>>) => {
    const io = new TestIo({ terminals: ['stdout'], columns: 6 });
    await showList({ ...openTerminal(io), paint: (_, text) => text }, { output }, list, { rows, ...what });
    return io.printed;
  };

  test('says in every format that there are more rows than it shows', async () => {
    const sentence = 'There are older ones. Use --limit to show more than 2.';
    for (const output of formats)
      expect((await printed(output, { more: 'There are older ones.' })).stderr).toContain(sentence);
    expect((await printed('table', { more: false })).stderr).toBe('');
  });

  test('without a row is a sentence for people, and no row for programs', async () => {
    const none = 'No site matches.';
    expect((await printed('table', { rows: [], none })).stderr).toContain(none);
    expect(await printed('csv', { rows: [], none })).toMatchObject({ stdout: 'name,of.id\r\n', stderr: '' });
    expect((await printed('json', { rows: [], none })).stdout).toBe('[]\n');
  });

  test('has its own columns for people and for programs, and shrinks as it declares', async () => {
    expect((await printed('csv', {})).stdout).toBe('name,of.id\r\na-long-name,7\r\nshort,\r\n');
    expect((await printed('table', {})).stdout).toMatch(/^site\na-l…\nsho…\n\(hidden/);
  });
});
