/** Texts with expressions in them, and the words of ago(). */
import { describe, expect, test } from 'vitest';
import { ExpressionError } from '../../src/expression/expression.ts';
import { NotShownError } from '../../src/expression/fields.ts';
import { ago } from '../../src/expression/functions.ts';
import { compileTemplate } from '../../src/expression/template.ts';
import { fieldsOfItem } from '../../src/job/fields.ts';

const now = new Date('2026-11-21T02:00:00Z');
const site = {
  id: '7',
  url: 'https://a.example',
  sync: { last_sync_at: '2026-11-17T02:00:00Z' },
  tags: [
    { id: '12', name: 'gold' },
    { id: '13', name: 'shop' },
  ],
  backups: { available_snapshots: 5 },
  client: null,
};
const compile = (source: string) => compileTemplate(source, { site: fieldsOfItem('listSites') });

test.each([
  ['No expression { at } all', 'No expression { at } all'],
  ['Last good sync {{ago(site.sync.last_sync_at)}}', 'Last good sync 4 days ago'],
  ['{{ site.url }}: {{site.backups.available_snapshots}} kept', 'https://a.example: 5 kept'],
  ['{{site.tags.map(tag, tag.name)}}', 'gold, shop'],
  ['At {{site.sync.last_sync_at}}', 'At 2026-11-17T02:00:00Z'],
  ['{{"a }} b" + site.id}}', 'a }} b7'],
  ['Client: {{site.client.email}}.', 'Client: .'],
])('%s', (source, text) => {
  expect(compile(source).of({ site }, now)).toBe(text);
});

test.each([
  ['Last {{site.sync.last_sink_at}}', 17, /no field "last_sink_at"/],
  ['A {{ site }}', 5, /must give a text/],
  ['A {{now - now}}', 4, /must give a text.*duration/],
  ['A {{site.url', 2, /has no "}}"/],
  ['A {{  }}', 4, /no expression between/],
])('%s is refused, with the place of the error in the text', (source, offset, message) => {
  expect(() => compile(source)).toThrow(
    expect.objectContaining({ offset, message: expect.stringMatching(message) }),
  );
});

test('an expression without a value is an error, unless there is a text to stand in for it', () => {
  const notShown = compile('at {{site.created_at}}');
  expect(() => notShown.of({ site }, now)).toThrow(NotShownError);
  const impossible = compile('tag {{site.tags[9].name}}');
  expect(() => impossible.of({ site }, now)).toThrow(ExpressionError);

  expect(notShown.of({ site }, now, () => '?')).toBe('at ?');
  expect(impossible.of({ site }, now, () => '?')).toBe('tag ?');
});

describe('ago()', () => {
  test.each([
    ['2026-11-21T01:59:30Z', 'just now'],
    ['2026-11-21T01:59:00Z', '1 minute ago'],
    ['2026-11-21T01:00:01Z', '59 minutes ago'],
    ['2026-11-21T00:00:00Z', '2 hours ago'],
    ['2026-11-19T02:00:01Z', '47 hours ago'],
    ['2026-11-18T01:00:00Z', '3 days ago'],
    ['2026-11-24T02:00:00Z', 'in 3 days'],
    ['1970-01-01T00:00:00Z', 'never'],
  ])('of %s is "%s"', (time, text) => {
    expect(ago(new Date(time), now)).toBe(text);
  });
});
