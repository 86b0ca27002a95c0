/**
 * Calls each operation once through the command line, each in its own account, so that calls are independent.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { type OperationId, operationOf, operations } from '../../src/contract/operations.ts';
import { complete } from '../../src/contract/schema.ts';
import { type EmbeddedRedis, openEmbeddedRedis } from '../../src/redis/embedded/embedded.ts';
import { openAccount } from '../support/account.ts';
import { inputs } from '../support/operation-inputs.ts';
import { keptLog } from '../support/quiet.ts';

const folder = mkdtempSync(join(tmpdir(), 'caretaker-operations-'));
let redis: EmbeddedRedis;

beforeAll(async () => {
  // The commands share this server instead of starting one each. An empty file hides that of the project.
  const config = join(folder, 'caretaker.yaml');
  writeFileSync(config, '');
  vi.stubEnv('CARETAKER_CONFIG', config);
  vi.stubEnv('CARETAKER_DATA_DIR', folder);
  vi.stubEnv('REDIS_URL', '');
  redis = await openEmbeddedRedis({ dataDir: folder, log: keptLog() });
});
afterAll(async () => {
  await redis.close();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** An input as command-line options. */
function wordsOf(id: OperationId, input: object): string[] {
  return Object.entries(input).flatMap(([name, value]) => {
    if (name === 'sort') return ['--sort', String(value)];
    if (name === 'filters') return Object.entries(value).flatMap(filterWords);
    if (name !== 'body') return ['--param', `${name}=${value}`];
    const file = join(folder, `${id}.json`);
    writeFileSync(file, JSON.stringify(value));
    return ['--body', file];
  });
}

const filterWords = ([field, conditions]: [string, unknown]): string[] =>
  Object.entries(conditions ?? {}).flatMap(([operator, value]) => [
    '--filter',
    `${field}:${operator}=${value}`,
  ]);

/** Runs a command line in this process and captures its output. */
async function run(argv: string[]) {
  const said = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      said[stream] += text;
      return true;
    }),
  );
  try {
    return { code: await main(argv), ...said };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

test.each(Object.keys(operations) as OperationId[])(
  'every operation of the contract can be called by its name: %s',
  async (id) => {
    const account = await openAccount();
    const words = wordsOf(id, await inputs[id](account));
    const { answer, answers } = operationOf(id);
    const pdf = join(folder, `${id}.pdf`);
    vi.stubEnv('CARETAKER_BASE_URL', account.sandbox.url);
    vi.stubEnv('CARETAKER_API_TOKEN', account.sandbox.token);
    const before = account.sandbox.journal.requests.length;

    const { code, stdout, stderr } = await run(['api', id, ...words, ...(answers ? ['--file', pdf] : [])]);

    expect([code, stderr]).toEqual([0, answer ? '' : expect.any(String)]);
    const sent = account.sandbox.journal.requests.slice(before);
    expect(sent.map(({ operation }) => operation)).toEqual([id]);
    if (answer) expect(complete(answer).safeParse(JSON.parse(stdout)).error).toBeUndefined();
    else expect(stdout).toBe('');
    if (answers === 'pdf') expect(readFileSync(pdf, 'latin1')).toMatch(/^%PDF/);
  },
);

test.each(['__proto__', 'constructor', 'toString'])(
  '%s as a filter, operator, parameter or key of a body is refused like any unknown name',
  async (name) => {
    const account = await openAccount();
    vi.stubEnv('CARETAKER_BASE_URL', account.sandbox.url);
    vi.stubEnv('CARETAKER_API_TOKEN', account.sandbox.token);
    const body = join(folder, 'inherited.json');
    writeFileSync(body, `{"tag":{"name":"x","${name}":1},"${name}":{}}`);
    const before = account.sandbox.journal.requests.length;

    for (const words of [
      ['listTags', '--filter', `${name}:eq=x`],
      ['listTags', '--filter', `name:${name}=x`],
      ['listTags', '--param', `${name}=x`],
      ['createTag', '--body', body],
    ]) {
      const { code, stderr } = await run(['api', ...words]);
      expect([code, words.join(' ')]).toEqual([2, words.join(' ')]);
      expect(stderr).toContain(name);
    }
    expect((await run(['api', name])).code).toBe(2);
    expect((await run(['api', 'listTags', '--account', name])).code).toBe(2);
    expect(account.sandbox.journal.requests.length).toBe(before);
  },
);
