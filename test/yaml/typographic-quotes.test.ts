import { expect, test } from 'vitest';
import { policyWith, read } from '../policy/p.ts';
import { load as loadSettings, told } from '../settings/load.ts';

/** What is said of one key of a policy. */
function toldOf(key: string): string[] {
  const { findings, warnings } = read(policyWith(key));
  return [...findings, ...warnings].map(told);
}

test.each([
  [
    'schedule: { cron: “0 2 * * *” }',
    '4:23 "cron" has "“0" as the minute: it takes numbers from 0 to 59, lists (1,3), ranges (1-3) and steps (*/2). “ and ” are not quotes for YAML: write " or \'',
  ],
  [
    "select: { where: “site.url == 'x'” }",
    '4:22 This is not a valid condition in CEL: “ is not a quote. “ and ” are not quotes for YAML: write " or \'',
  ],
  [
    'select: { where: ‘site.url == "it\'s"’ }',
    '4:22 This is not a valid condition in CEL: ‘ is not a quote. ‘ and ’ are not quotes for YAML: write " or \'',
  ],
  [
    'select: { where: site.url == „x“ }',
    '4:34 This is not a valid condition in CEL: „ is not a quote. write " or \'',
  ],
  [
    'priority: ”high”',
    '4:15 "priority" must be high, normal or low. ” and ” are not quotes for YAML: write " or \'',
  ],
  [
    'select: { filters: { tags: { in: [„Premium“] } } }',
    '4:38 "tags" must be the id of a tag, which is a number such as "12". „ and “ are not quotes for YAML: write " or \'',
  ],
  // Valid, and hardly meant.
  [
    'description: “nightly”',
    '4:18 The quotes are a part of this text. “ and ” are not quotes for YAML: write " or \'',
  ],
])('%s is answered with the quotes to write, and where', (key, answer) => {
  expect(toldOf(key)).toEqual([answer]);
});

test.each(['description: "“Best of” the week"', 'description: the “best” sites', 'description: it’s done'])(
  '%s is a text like any other',
  (key) => {
    expect(toldOf(key)).toEqual([]);
  },
);

test('a password with such quotes around it is warned about', () => {
  const { warnings } = loadSettings('dashboard: { password: “correct horse battery” }');
  expect(warnings.map(told)).toContain(
    '1:24 The quotes are a part of this text. “ and ” are not quotes for YAML: write " or \'',
  );
});
