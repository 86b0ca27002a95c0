import { expect, test } from 'vitest';
import { loadPolicies } from '../../src/policy/load-policies.ts';
import { registry } from '../policy/tiny-job.ts';
import { folderWith } from '../settings/folder.ts';
import { load as loadSettings } from '../settings/load.ts';

/** What is said of one key of a policy. */
function told(key: string): string[] {
  const file = { 'p.yaml': `policies:\n  - name: p\n    job: site-sync\n    ${key}\n` };
  const { findings, warnings } = loadPolicies({ dir: folderWith(file), registry });
  return [...findings, ...warnings].map(
    ({ line, column, message, suggestion }) => `${line}:${column} ${message} ${suggestion}`,
  );
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
  expect(told(key)).toEqual([answer]);
});

test.each(['description: "“Best of” the week"', 'description: the “best” sites', 'description: it’s done'])(
  '%s is a text like any other',
  (key) => {
    expect(told(key)).toEqual([]);
  },
);

test('a password with such quotes around it is warned about', () => {
  const { warnings } = loadSettings('dashboard: { password: “correct horse battery” }');
  expect(warnings.map(({ message, suggestion }) => `${message} ${suggestion}`)).toContain(
    'The quotes are a part of this text. “ and ” are not quotes for YAML: write " or \'',
  );
});
