import { expect, test } from 'vitest';
import { compileExpression, ExpressionError } from '../../src/expression/expression.ts';
import { NotShownError } from '../../src/expression/fields.ts';
import { fieldsOfItem } from '../../src/job/fields.ts';

const now = new Date('2026-11-21T02:00:00Z');
const site = {
  id: '7',
  url: 'https://a.example',
  created_at: '2026-11-01T00:00:00Z',
  tags: [{ id: '12', name: 'gold' }],
  backups: { available_snapshots: 5 },
  client: null,
  locked: false,
};
const compile = (source: string) => compileExpression(source, { site: fieldsOfItem('listSites') });

test.each([
  ['site.id', 'string', '7'],
  ['"tagged " + site.url', 'string', 'tagged https://a.example'],
  ['site.backups.available_snapshots + 1', 'double', 6],
  ['size(site.tags)', 'int', 1],
  ['site.client.email', 'string', ''],
  ['site.locked', 'bool', false],
  ['now - duration("24h")', 'timestamp', '2026-11-20T02:00:00.000Z'],
  // As in YAML.
  ['now - duration("30d")', 'timestamp', '2026-10-22T02:00:00.000Z'],
  ['now + duration("-1d2h30m")', 'timestamp', '2026-11-19T23:30:00.000Z'],
  ['site.locked ? duration("2d") > duration("1d") : duration("1d") == duration("24h")', 'bool', true],
  ['site.tags.map(tag, tag.id)', 'list<string>', ['12']],
])('%s is a %s, as JSON has it', (source, type, value) => {
  const expression = compile(source);
  expect(expression.type).toBe(type);
  expect(expression.of({ site }, now)).toEqual(value);
});

test('an error is reported as one of an expression, with its place', () => {
  expect(() => compile('site.url ==')).toThrow(ExpressionError);
  expect(() => compile('site.url ==')).toThrow(
    'This is not a valid expression in CEL: Unexpected token: the end.',
  );
});

test('an expression that cannot be evaluated for an item is an error in one sentence', () => {
  expect(() => compile('site.tags[3].id').of({ site }, now)).toThrow(
    /^The expression could not be evaluated for a site: .*index 3.*\.$/,
  );
});

test('an expression that depends on a field that is not shown has no value', () => {
  const { locked, ...rest } = site;
  expect(locked).toBe(false);
  expect(() => compile('site.locked').of({ site: rest }, now)).toThrow(NotShownError);
  expect(() => compile('site.locked').of({ site: rest }, now)).toThrow(
    'The service does not show site.locked.',
  );
});
