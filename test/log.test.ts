import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';

/** The standard error and output of a process that logs. */
async function logged(form: string, level: string): Promise<{ lines: string[]; output: string }> {
  const file = fileURLToPath(new URL('./log.lines.mjs', import.meta.url));
  const speaker = spawn(process.execPath, [file, form, level], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [said, output] = ['', ''];
  speaker.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  speaker.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  await new Promise((resolve) => speaker.on('close', resolve));
  return { lines: said.trim().split('\n'), output };
}

describe('a log for collectors', () => {
  let [lines, output]: [string[], string] = [[], ''];
  let entries: Record<string, unknown>[] = [];
  beforeAll(async () => {
    ({ lines, output } = await logged('json', 'info'));
    entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  });

  test('is one JSON object a line on standard error, and leaves standard output to data', () => {
    expect(entries.map(({ msg }) => msg)).toContain('a run began');
    expect(output).toBe('');
  });

  test('hides secrets by their key and by their value, in every line', () => {
    expect(entries[0]).toMatchObject({ run: 'r-1', token: '[hidden]', nested: { password: '[hidden]' } });
    expect(entries[1]).toMatchObject({ msg: 'the word is [hidden]' });
    expect(lines.join('\n')).not.toMatch(/open-sesame|"abc"|:abc@/);
  });

  test('hides secrets also in what every line of a child has', () => {
    expect(entries[2]).toMatchObject({
      account: 'agency',
      api_token: '[hidden]',
      where: 'redis://u:[hidden]@host',
    });
  });

  test('tells an error with its kind, its code, its place and its causes', () => {
    expect(entries[3]).toMatchObject({
      run: 'r-1',
      secret: '[hidden]',
      msg: 'a job failed',
      err: {
        type: 'TypeError',
        message: 'it broke',
        stack: expect.stringContaining('log.lines.mjs'),
        cause: { code: 'ECONNREFUSED', message: 'connect [hidden]' },
      },
    });
    expect(entries[4]).toMatchObject({ err: { message: 'nothing but [hidden]' } });
  });

  test('survives an error that is its own cause', () => {
    expect(entries[5]).toMatchObject({ msg: 'an error that is its own cause' });
  });

  test('writes out what would steer a terminal or begin another line', () => {
    expect(entries[6]).toMatchObject({ label: 'a\\u001b[2Jb', msg: 'said \\u202eit {"level":60}' });
    expect(entries[7]).toMatchObject({ err: { message: '\\u001b[31mpassword=[hidden] next' } });
    expect(JSON.stringify(entries)).not.toContain('hunter2');
  });

  test('leaves out what is below its level', () => {
    expect(entries.map(({ msg }) => msg)).not.toContain('a detail');
  });
});

test('a log for a person at a terminal hides the same', async () => {
  const { lines } = await logged('pretty', 'debug');
  const text = lines.join('\n');
  expect(text).toContain('a detail');
  expect(text).toMatch(/\d\d:\d\d:\d\d.*INFO.*a run began/);
  expect(text).toContain('said \\u202eit {"level":60}');
  expect(text).not.toContain('\u001b[2J');
  expect(text).not.toMatch(/open-sesame|"abc"|:abc@/);
});

test('a silent log says nothing', async () => {
  expect(await logged('json', 'silent')).toMatchObject({ lines: [''] });
});
