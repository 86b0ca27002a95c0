/** What people write out of habit: the first cause is said, and what to write, and nothing that only follows from it. */
import { expect, test } from 'vitest';
import { mistakesIn, policyWith } from './p.ts';

const entry = `${policyWith('').trimEnd()}\n`;
const shared = (aliases: number) =>
  `policies:\n  - { name: p, job: site-sync, description: &d hello }\n${Array.from({ length: aliases }, (_, i) => `  - { name: p${i}, job: site-sync, description: *d }\n`).join('')}`;
const conflict =
  '3:1 A merge conflict of git was left here. keep one of the two parts, and delete the lines with <<<<<<<, ======= and >>>>>>>';
const merge =
  'Merge keys (<<) are not supported. write the keys out; policies of a file share keys by "defaults"';
const configuration = '1:1 This is a configuration, not a file of policies. give it with --config';
const template =
  'This is a template of another tool, and Caretaker does not render it. render it first, or use "vars" and "matrix"';

test.each([
  ['a merge key', 'x: &b\n  job: site-sync\npolicies:\n  - <<: *b\n    name: p\n', [`4:5 ${merge}`]],
  ['a merge key in a map', `${entry}    limits: { <<: { concurrency: 3 } }\n`, [`4:15 ${merge}`]],
  ['50 aliases', shared(50), []],
  [
    '51 aliases',
    shared(51),
    [
      '53:47 The file uses 51 aliases. The maximum is 50, and this is one more. use "defaults" or "vars" for what policies share',
    ],
  ],
  [
    'an alias without an anchor',
    'policies:\n  - name: p\n    job: *sync\n',
    ['3:10 There is no anchor &sync before this alias. quote it if it is a text: "*sync"'],
  ],
  [
    'a conflict of git',
    'policies:\n  - name: p\n<<<<<<< HEAD\n    job: a\n=======\n    job: b\n>>>>>>> branch\n',
    [conflict],
  ],
  [
    'a conflict of git with its base',
    'policies:\n  - name: p\n<<<<<<< HEAD\n    job: a\n||||||| base\n    job: x\n=======\n    job: b\n>>>>>>> branch\n',
    [conflict],
  ],
  [
    'a Helm template',
    'policies:\n  {{- range .Values.all }}\n  - name: {{ .name }}\n    with: {{- toYaml .with | nindent 6 }}\n  {{- end }}\n',
    [`2:3 ${template}`],
  ],
  [
    'a value of a Helm template',
    'policies:\n  - name: {{ .Values.name }}\n    job: site-sync\n',
    [`2:11 ${template}`],
  ],
  ['a Jinja template', 'policies:\n{% for p in all %}\n  - name: p\n{% endfor %}\n', [`2:1 ${template}`]],
  [
    'a placeholder without quotes',
    `${entry}    description: {{site.title}} is synced\n`,
    ['4:18 In YAML, a text that starts with "{{" is a map. quote the whole text'],
  ],
  [
    'a patch',
    `--- a/p.yaml\n+++ b/p.yaml\n@@ -1,3 +1,3 @@\n${entry}`,
    ['1:1 This is a patch, not the file that it changes. apply it with "git apply" or "patch"'],
  ],
  [
    'a block of Markdown',
    `\`\`\`yaml\n${entry}\`\`\`\n`,
    ['1:1 This line belongs to a text around the file (Markdown). remove it'],
  ],
  [
    'many errors of the parser',
    `${entry}${'    a: b: c\n'.repeat(20)}`,
    [4, 5, 6].map(
      (line) =>
        `${line}:8 This is not valid YAML: Nested mappings are not allowed in compact mappings. quote a text that has ": " in it, or correct the indentation`,
    ),
  ],
  [
    'a key of the configuration beside policies',
    `redis: redis://redis:6379\n${entry}`,
    ['1:1 "redis" is not a known key. available: vars, defaults, policies'],
  ],
  [
    'the file of docker compose',
    'redis:\n  image: redis:7\nweb:\n  image: web\ndb:\n  image: db\n',
    ['1:1 "policies" is missing, so this is no file of policies.'],
  ],
  ['a configuration', 'redis: redis://redis:6379\npolicies: policies/\n', [configuration]],
  ['a configuration without policies', 'redis: embedded\naccounts: {}\n', [configuration]],
  ['a configuration of accounts alone', 'accounts: {}\n', [configuration]],
  [
    'one policy alone',
    'name: p\njob: site-sync\nschedule: { cron: "0 2 * * *" }\n',
    [
      '1:1 This is a policy, and not in the list of a file. write it under "policies:", as an entry that starts with "- name:"',
    ],
  ],
  ['a list alone', '- name: p\n  job: site-sync\n', ['1:1 The file is a list. write it under "policies:"']],
  [
    'a map of policies',
    'policies:\n  p:\n    job: site-sync\n',
    ['2:3 "policies" must be a list, not a map. write each entry after a hyphen: "- name: ..."'],
  ],
])('%s', (_, text, findings) => {
  expect(mistakesIn(text)).toEqual(findings);
});

test.each([
  ['failure', 'failed'],
  ['failures', 'failed'],
  ['error', 'failed'],
  ['success', 'succeeded'],
  ['stop', 'stopped'],
  ['cancel', 'cancelled'],
  ['partially', 'partial'],
  ['always', undefined],
  ['approval', undefined],
])('on: [%s] means %s', (word, meant) => {
  const [finding = '', ...more] = mistakesIn(`${entry}    notify: [{ to: ops, on: [${word}] }]\n`);
  expect(/did you mean (\w+)\?/.exec(finding)?.[1]).toBe(meant);
  expect(more).toEqual([]);
});
