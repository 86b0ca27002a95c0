/**
 * The tables of docs/cel.md are generated: functions from their descriptions, fields from the contract, results by
 * evaluating. `npm run docs` writes them.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { compileExpression } from '../../src/expression/expression.ts';
import type { Field, FieldTree } from '../../src/expression/fields.ts';
import { functionDocs } from '../../src/expression/function-docs.ts';
import { compileTemplate } from '../../src/expression/template.ts';
import { candidateSources, subjectOf } from '../../src/job/candidates.ts';
import { fieldsOfItem } from '../../src/job/fields.ts';
import { sourceOf, subjectFields } from '../../src/job/source.ts';
import { healthyItems, timesAt } from '../../src/offline/tests/healthy-items.ts';
import { row, withRows } from './table.ts';

const now = new Date('2026-11-21T02:00:00Z');
const variables = { site: fieldsOfItem('listSites') };
const site = {
  ...healthyItems.listSites('shop-1', timesAt(now.getTime())),
  title: 'Shop of Ada',
  tags: [
    { id: '12', name: 'Premium' },
    { id: '15', name: 'Shop' },
  ],
};

const resultOf = (source: string): unknown => compileExpression(source, variables).of({ site }, now);
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const code = (text: string): string => `\`${cell(text)}\``;
const shown = (value: unknown): string => code(JSON.stringify(value));

const conditions: [string, string][] = [
  ['site.title == "Shop of Ada"', 'Equal; `!=` is not equal. Texts compare exactly, letter by letter.'],
  [
    'site.backups.available_snapshots >= 5',
    'Numbers, times and durations are ordered with `<`, `<=`, `>`, `>=`.',
  ],
  ['site.connection.status == "connected" && !site.locked', 'And; `!` is not.'],
  [
    'site.locked || site.title.contains("Shop")',
    'Or. The right side is not evaluated if the left one holds.',
  ],
  ['site.server.php_version in ["8.1", "8.2", "8.3"]', 'One of a list.'],
  ['site.tags.exists(tag, tag.name == "Premium")', 'One item of a list at least meets a condition.'],
  [
    'site.tags.filter(tag, tag.name != "Shop").map(tag, tag.id)',
    'Some items of a list, and a value of each.',
  ],
  [
    'now - site.sync.last_sync_at > duration("2h")',
    'The difference of two times is a duration: hours, minutes and seconds.',
  ],
  ['site.sync.last_sync_at < timestamp("2026-11-21T00:00:00Z")', 'A fixed time.'],
  [
    'site.client.id != ""',
    'A text that is not set is `""`; a list that is not set is empty; a time is in 1970.',
  ],
  ['site.locked ? "locked" : "open"', 'A choice.'],
  ['"Core " + site.wp.core.current_version', 'Texts are joined with `+`.'],
  ['size(site.tags) + 1', 'Numbers are added with `+`, and `-`, `*`, `/`, `%`.'],
  ['now.getDayOfWeek("Europe/Berlin") == 6', 'Sunday is 0. Without a time zone it is the day in UTC.'],
];

const templates = [
  'Last sync {{ago(site.sync.last_sync_at)}}',
  '{{site.title}}: {{size(site.tags)}} tags',
  '{{site.tags.map(tag, tag.name).join(", ")}}',
  'Core {{site.wp.core.current_version}} on PHP {{site.server.php_version}}',
];

const refused: [string, string][] = [
  ['has(site.client)', 'Every field has a value, so there is nothing to ask.'],
  ['site.url.matches("a+")', 'Some patterns take forever. Use `re()`.'],
  ['site.connection.status == "conected"', 'A field of a closed list is compared with one of its values.'],
  ['site.php == "8"', 'The site has no such field.'],
  ['site.title > 5', 'A text and a number are not comparable.'],
];

function refusal(source: string): string {
  try {
    compileExpression(source, variables);
  } catch (error) {
    return (error as Error).message.split('\n')[0] ?? '';
  }
  throw new Error(`${source} is accepted.`);
}

function typeOf(field: Field): string {
  if (field.kind === 'object') return `{ ${fieldsText(field.fields)} }`;
  if (field.kind === 'list') return `list of ${field.of ? typeOf(field.of) : 'values'}`;
  return (
    { string: 'text', boolean: 'true or false', timestamp: 'time', day: 'day', number: 'number' }[
      field.kind as string
    ] ?? field.kind
  );
}

const fieldsText = (fields: FieldTree): string =>
  Object.entries(fields)
    .map(([name, field]) => {
      const type = typeOf(field);
      return type === 'text' ? name : `${name}: ${type}`;
    })
    .join(', ');

const tables: [string, string[][]][] = [
  ['| example | gives |', conditions.map(([source, text]) => [code(source), shown(resultOf(source)), text])],
  [
    '| text | gives |',
    templates.map((text) => [code(text), cell(compileTemplate(text, variables).of({ site }, now))]),
  ],
  [
    '| function |',
    Object.values(functionDocs).map(({ signature, text, example }) => [
      ...[code(signature), cell(text), code(example), shown(resultOf(example))],
    ]),
  ],
  ['| expression |', refused.map(([source, why]) => [code(source), cell(refusal(source)), why])],
  [
    '| `select.from` |',
    candidateSources.map((from) => [
      code(from),
      code(subjectOf(from)),
      cell(fieldsText(subjectFields(sourceOf({ candidates: 'any' }, { from })))),
    ]),
  ],
];

test('docs/cel.md shows every function, macro and variable, with the values that the examples give', async () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/cel.md'), 'utf8');
  expect(page).toContain(` on ${now.toISOString().replace('.000Z', 'Z')}.`);
  const written = tables.reduce((text, [head, rows]) => withRows(text, head, rows.map(row)), page);
  await expect(written).toMatchFileSnapshot('../../docs/cel.md');
});
