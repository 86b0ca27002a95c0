/**
 * Calls operations once through the command line, each in its own account, so that calls are independent: here one of
 * each form of input and answer, in the long file each.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type OperationId, operationOf, operations } from '../../src/contract/operations.ts';
import { complete } from '../../src/contract/schema.ts';
import { type OpenAccount, openAccount } from '../support/account.ts';
import { inputs } from '../support/operation-inputs.ts';
import { sampleOf } from '../support/sample.ts';
import { deskOfFile } from './desk-of-file.ts';

// The commands share its Redis instead of starting one each.
const desk = deskOfFile();
await desk.keepRedis();

/** An input as command-line options. */
function wordsOf(id: OperationId, input: object): string[] {
  return Object.entries(input).flatMap(([name, value]) => {
    if (name === 'sort') return ['--sort', String(value)];
    if (name === 'filters') return Object.entries(value).flatMap(filterWords);
    if (name !== 'body') return ['--param', `${name}=${value}`];
    desk.write(`${id}.json`, JSON.stringify(value));
    return ['--body', `${id}.json`];
  });
}

const filterWords = ([field, conditions]: [string, unknown]): string[] =>
  Object.entries(conditions ?? {}).flatMap(([operator, value]) => [
    '--filter',
    `${field}:${operator}=${value}`,
  ]);

/** Runs a command line for an account. */
const run = (argv: string[], { sandbox: { url, token } }: OpenAccount) =>
  desk.run(argv, { CARETAKER_BASE_URL: url, CARETAKER_API_TOKEN: token });

/** Conditions and an order; parameters in the path; with a body, and without an answer; a file. */
const forms: OperationId[] = ['listSites', 'showSite', 'createSiteNote', 'deleteTag', 'downloadReport'];

test.each(sampleOf(forms, Object.keys(operations) as OperationId[]))(
  'every operation of the contract can be called by its name: %s',
  async (id) => {
    const account = await openAccount();
    const words = wordsOf(id, await inputs[id](account));
    const { answer, answers } = operationOf(id);
    const pdf = join(desk.folder, `${id}.pdf`);
    const before = account.sandbox.journal.requests.length;

    const { code, stdout, stderr } = await run(
      ['api', id, ...words, ...(answers ? ['--file', pdf] : [])],
      account,
    );

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
    const body = 'inherited.json';
    desk.write(body, `{"tag":{"name":"x","${name}":1},"${name}":{}}`);
    const before = account.sandbox.journal.requests.length;

    for (const words of [
      ['listTags', '--filter', `${name}:eq=x`],
      ['listTags', '--filter', `name:${name}=x`],
      ['listTags', '--param', `${name}=x`],
      ['createTag', '--body', body],
    ]) {
      const { code, stderr } = await run(['api', ...words], account);
      expect([code, words.join(' ')]).toEqual([2, words.join(' ')]);
      expect(stderr).toContain(name);
    }
    expect((await run(['api', name], account)).code).toBe(2);
    expect((await run(['api', 'listTags', '--account', name], account)).code).toBe(2);
    expect(account.sandbox.journal.requests.length).toBe(before);
  },
);
