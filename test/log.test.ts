import fs, { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type LogOptions, openLog } from '../src/log.ts';
import { forgetSecrets, keepSecret } from '../src/secrets.ts';

/** The lines of a log of everything that is difficult. */
async function logged(form: LogOptions['form'], level: LogOptions['level']): Promise<string[]> {
  let said = '';
  const to = new Writable({
    decodeStrings: false,
    write(text, _encoding, done) {
      said += text;
      done();
    },
  });
  keepSecret('open-sesame');
  const log = await openLog({ level, form, to });
  log.debug('a detail');
  log.info({ run: 'r-1', token: 'abc', nested: { password: 'abc' } }, 'a run began');
  log.info('the word is open-sesame');
  log.child({ account: 'agency', api_token: 'abc', where: 'redis://u:abc@host' }).warn('a child speaks');
  const cause = Object.assign(new Error('connect open-sesame'), { code: 'ECONNREFUSED' });
  log.error({ run: 'r-1', secret: 'abc', err: new TypeError('it broke', { cause }) }, 'a job failed');
  log.error(new Error('nothing but open-sesame'));
  const circle = new Error('round');
  circle.cause = circle;
  log.error({ err: circle }, 'an error that is its own cause');
  log.info({ label: 'a\u001b[2Jb' }, 'said \u202eit\n{"level":60}');
  log.error(new Error('\u001b[31mpassword=hunter2\nnext'));
  forgetSecrets();
  return said.trim().split('\n');
}

describe('a log for collectors', () => {
  let lines: string[] = [];
  let entries: Record<string, unknown>[] = [];
  beforeAll(async () => {
    lines = await logged('json', 'info');
    entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  });

  test('is one JSON object a line', () => {
    expect(entries.map(({ msg }) => msg)).toContain('a run began');
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
        stack: expect.stringContaining('log.test.ts'),
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
  const text = (await logged('pretty', 'debug')).join('\n');
  expect(text).toContain('a detail');
  expect(text).toMatch(/\d\d:\d\d:\d\d.*INFO.*a run began/);
  expect(text).toContain('said \\u202eit {"level":60}');
  expect(text).not.toContain('\u001b[2J');
  expect(text).not.toMatch(/open-sesame|"abc"|:abc@/);
});

test('a silent log says nothing', async () => {
  expect(await logged('json', 'silent')).toEqual(['']);
});

/** A system call that finds no room on the disk. */
const noRoom = () => {
  throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
};

test.each([1, 5_000])(
  '%i lines that find a full disk stop no work, and lines are written again when there is room',
  async (lines) => {
    const folder = mkdtempSync(join(tmpdir(), 'caretaker-log-'));
    const file = openSync(join(folder, 'log'), 'w');
    onTestFinished(() => {
      vi.restoreAllMocks();
      closeSync(file);
      rmSync(folder, { recursive: true });
    });
    const log = await openLog({ level: 'info', form: 'json', to: file });
    const full = vi.spyOn(fs, 'writeSync').mockImplementation(noRoom);
    for (let line = 0; line < lines; line += 1)
      expect(() => log.info({ detail: 'x'.repeat(1_000) }, 'a run began')).not.toThrow();
    full.mockRestore();

    for (const text of ['there is room', 'a run ended']) log.info(text);

    const written = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
    const messages = written.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect([messages[0], messages.at(-1)]).toEqual(['a run began', 'a run ended']);
  },
);
