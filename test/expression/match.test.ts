/** Which items of two lists belong together: conditions over ids, checked when they are read. */
import { expect, test } from 'vitest';
import { ExpressionError } from '../../src/expression/expression.ts';
import { type Field, type FieldTree, NotShownError } from '../../src/expression/fields.ts';
import { compileMatch } from '../../src/expression/match.ts';

const whole = { nullable: false, optional: false };
const text: Field = { kind: 'string', ...whole };
const texts: Field = { kind: 'list', of: text, ...whole };
const object = (fields: FieldTree): Field => ({ kind: 'object', fields, ...whole });

const site: FieldTree = { id: text, size: { kind: 'number', ...whole }, client: object({ id: text }) };
const schedule: FieldTree = {
  id: text,
  all: { kind: 'boolean', ...whole },
  site_ids: texts,
  owner: text,
  next_at: { kind: 'timestamp', ...whole },
};

const match = (source: string) => compileMatch(source, { site }, 'schedule', schedule);

/** Whether an item of the joined list belongs to a candidate. */
function belongs(source: string, item: object, candidate: object): boolean {
  const { keysOf, keysFor } = match(source);
  const keys = keysOf(item);
  return keys === 'all' || keysFor({ site: candidate }).some((key) => keys.includes(key));
}

test.each([
  'schedule.owner == site.id',
  'site.id == schedule.owner',
  'site.id in schedule.site_ids',
  'schedule.all || site.id in schedule.site_ids',
])('%s: an item belongs to the candidate that it names, and to no other', (source) => {
  const item = { id: 's1', owner: 'a', site_ids: ['x', 'a'], all: false };
  expect(belongs(source, item, { id: 'a' })).toBe(true);
  expect(belongs(source, item, { id: 'b' })).toBe(false);
});

test('a part about the joined item alone makes it belong to every candidate', () => {
  const source = 'schedule.all || site.id in schedule.site_ids';
  expect(belongs(source, { all: true }, { id: 'b' })).toBe(true);
  expect(match(source).keysOf({ all: true })).toBe('all');
});

test('equal ids of two different comparisons do not make items belong together', () => {
  const source = 'schedule.owner == site.client.id || schedule.id == site.id';
  expect(belongs(source, { id: 'a', owner: 'b' }, { id: 'b', client: { id: 'a' } })).toBe(false);
  expect(belongs(source, { id: 'a', owner: 'b' }, { id: 'x', client: { id: 'b' } })).toBe(true);
});

test('an empty id belongs to nothing: two items without a client are not partners', () => {
  expect(belongs('schedule.owner == site.client.id', { owner: null }, { client: null })).toBe(false);
});

test('a candidate has one partner when it is found by its id, and a list of them otherwise', () => {
  expect(match('schedule.id == site.client.id').isSingle).toBe(true);
  expect(match('schedule.owner == site.id').isSingle).toBe(false);
  expect(match('schedule.all || schedule.id == site.client.id').isSingle).toBe(false);
});

test('what is not shown decides nothing', () => {
  const { keysOf, keysFor } = match('schedule.owner == site.client.id');
  expect(() => keysOf({ id: 's1' })).toThrow(NotShownError);
  expect(() => keysFor({ site: { id: 'a' } })).toThrow(NotShownError);
});

test.each([
  ...[
    'schedule.owner == "a"',
    'site.id == site.client.id',
    'schedule.owner == site.id && schedule.all',
    'schedule.owner != site.id',
    'schedule.owner == site.id || schedule.next_at < now',
    'schedule.all',
    'schedule.owner + site.id == "ab"',
  ].map((source): [string, RegExp] => [source, /compares an id of schedule with one of site/]),
  ['schedule.site_ids.size() == site.size', /cannot be combined|compares ids, which are strings/],
  ['schedule.ownr == site.id', /schedule has no field "ownr"/],
  ['schedule.owner', /to be true or false/],
])('%s is refused', (source, message) => {
  expect(() => match(source)).toThrow(ExpressionError);
  expect(() => match(source)).toThrow(message);
});
