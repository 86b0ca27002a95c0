import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { fileFaultOf } from '../src/errors.ts';
import { sayIssue } from '../src/schema-issue.ts';
import { readStrictly } from '../src/yaml/read-strictly.ts';

const thrown = (code: string) => Object.assign(new Error(`${code}: raw, open 'x'`), { code });

test('a file error of the system becomes a plain sentence', () => {
  try {
    readFileSync('/no/such/file');
    expect.unreachable();
  } catch (error) {
    expect(fileFaultOf(error)).toBe('it does not exist');
  }
  expect(fileFaultOf(thrown('EACCES'))).toBe('this user has no permission');
  expect(fileFaultOf(thrown('ENOSPC'))).toBe('the disk is full');
  expect(fileFaultOf(thrown('EWEIRD'))).toBe('system error EWEIRD');
  expect(fileFaultOf(new Error('It is too large.'))).toBe('It is too large.');
});

/** Zod's own messages: none of them reaches a person. */
const raw = /invalid|expected|unrecognized|too (small|big)|received/i;

test.each([
  ['an address', z.email(), 'x', '"at" must be an email address.'],
  ['a multiple', z.number().multipleOf(5), 7, '"at" must be a multiple of 5.'],
  ['a pattern', z.string().regex(/^a$/), 'b', '"at" has an unsupported format.'],
  ['a rule without words', z.string().refine(() => false), 'b', '"at" is not supported.'],
  ['a number', z.number(), Number.NaN, '"at" must be a number, not NaN.'],
  ['a tuple', z.tuple([z.string()]), [], undefined],
  ['a date', z.date(), 'x', undefined],
])('a value that is not %s is refused in our words', (_, schema, value, says) => {
  const read = readStrictly(z.strictObject({ at: schema }), { at: value }, (_path, { message }) => ({
    file: 'f',
    line: 1,
    column: 1,
    path: '',
    message,
    frame: '',
  }));
  const [finding] = 'findings' in read ? read.findings : [];
  if (says !== undefined) expect(finding?.message).toBe(says);
  expect(finding?.message).toBeDefined();
  expect(finding?.message).not.toMatch(raw);
});

test.each([
  [z.object({ a: z.string().min(1) }), { a: '' }, 'must have at least 1 character'],
  [z.object({ a: z.array(z.string()).max(2) }), { a: ['1', '2', '3'] }, 'must have at most 2 entries'],
  [z.object({ a: z.int().min(1) }), { a: 0 }, 'must be at least 1'],
])('what an operation does not take is told in our words: %#', (schema, value, says) => {
  const read = schema.safeParse(value);
  expect(read.error?.issues.map((issue) => sayIssue(issue, value))).toEqual([says]);
});
