/** The texts that a condition compares with fields of the service, in whichever words it does so. */
import { expect, test } from 'vitest';
import { compileExpression } from '../../src/expression/expression.ts';
import { fieldsOfItem } from '../../src/job/fields.ts';
import { referencesIn } from '../../src/policy/where.ts';

const variables = { site: fieldsOfItem('listSites'), staging: fieldsOfItem('listStagingSites') };
const seenIn = (condition: string) =>
  referencesIn(compileExpression(condition, variables), variables).map((one) =>
    one.how === 'unknown' ? `? ${one.source}` : `${one.kind} ${one.text}`,
  );

test.each([
  ['!site.tags.exists(t, t.name in ["keep", "legal"])', ['tag keep', 'tag legal']],
  ['!["keep", "legal"].exists(k, site.tags.exists(t, t.name == k))', ['tag keep', 'tag legal']],
  ['!["keep"].exists(k, k in site.tags.map(t, t.name))', ['tag keep']],
  ['!site.tags.exists(t, t["name"] == "keep")', ['tag keep']],
  ['!site.tags.exists(t, t.name == "ke" + "ep")', ['tag keep']],
])('%s names what the account has to have', (condition, names) => {
  expect(seenIn(condition)).toEqual(names);
});

test.each([
  ['site.tags.map(t, t.name).join(",") != "keep"', 'site.tags.map(t, t.name).join(",")'],
  ['!"keep, legal".split(", ").exists(k, site.tags.exists(t, t.name == k))', 't.name == k'],
  ['!site.tags.exists(t, t.name in "keep, legal".split(", "))', 't.name in "keep, legal".split(", ")'],
  [
    '!("keep, legal".split(", ")[0] in site.tags.map(t, t.name))',
    '"keep, legal".split(", ")[0] in site.tags',
  ],
  ['!site.tags.exists(t, t.name >= "keep" && t.name < "keeq")', 't.name >= "keep"'],
])('%s does not show what it compares with', (condition, source) => {
  expect(seenIn(condition)[0]).toContain(`? ${source}`);
});

test.each([
  'site.id == staging.site_id',
  'site.id in [staging.site_id]',
  'site.tags.exists(t, site.tags.exists(u, u.name == t.name))',
  'site.tags.size() > 2',
])('%s names nothing', (condition) => {
  expect(seenIn(condition)).toEqual([]);
});
