// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how placeholders are written in policy files.
/** Files with `defaults`, `vars` and `matrix`, read as policies: what they do, and where their errors are shown. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { load as loadSettings } from '../settings/load.ts';
import { mistakesIn, policiesIn, read, writtenAgain } from './p.ts';

const hashes = (text: string) => policiesIn(text).map(({ name, hash }) => [name, hash]);
/** Places in sentences are cut to line and column. */
const errorsOf = (text: string) => mistakesIn(text).map((one) => one.replace(/\(\S*p\.yaml:/g, '('));

const expandable = `vars:
  parallel: 7
  zone: Europe/Berlin
  filters: { connection_status: { eq: connected } }
defaults:
  job: site-sync
  schedule: { timezone: "\${{ vars.zone }}", jitter: 5m }
  limits: { concurrency: "\${{ vars.parallel }}" }
policies:
  - name: sync
    matrix: { tag: [Gold, silver] }
    schedule: { cron: "0 2 * * *" }
    select: { filters: "\${{ vars.filters }}", where: 'site.tags.exists(t, t.name == "\${{ matrix.tag }}")' }
    with: { message: "For \${{ matrix.tag }} in \${{ vars.zone }}" }
  - name: other
    schedule: ~
`;

test('a policy does the same, with the same hash, as one that was written out', () => {
  const sync = (name: string, tag: string) => `  - name: ${name}
    job: site-sync
    schedule: { cron: "0 2 * * *", timezone: Europe/Berlin, jitter: 5m }
    limits: { concurrency: 7 }
    select: { where: 'site.tags.exists(t, t.name == "${tag}")', filters: { connection_status: { eq: connected } } }
    with: { message: For ${tag} in Europe/Berlin }
`;
  const written = `policies:
${sync('sync-gold', 'Gold')}${sync('sync-silver', 'silver')}  - { name: other, job: site-sync, limits: { concurrency: 7 } }
`;
  expect(hashes(expandable)).toEqual(hashes(written));
});

test('whatever its texts hold, a policy that is shown is read as the same policy again', () => {
  const part = fc.constantFrom('$', '$' + '{{', '}}', 'vars', 'matrix', '.x', ' ', 'text');
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
      const message = `m${parts.join('')}`;
      const { policies } = read(
        stringify({ policies: [{ name: 'p', job: 'site-sync', with: { message } }] }),
      );
      const [policy] = policies;
      // A text with an error in its placeholder makes no policy.
      if (!policy) return;
      expect(hashes(writtenAgain([policy]))).toEqual([['p', policy.hash]]);
    }),
    { numRuns: 60 },
  );
});

test('the hash changes with a default and with a variable that the policy uses', () => {
  const [before] = hashes(expandable);
  for (const [from, to] of [
    ['jitter: 5m', 'jitter: 6m'],
    ['parallel: 7', 'parallel: 8'],
    ['eq: connected', 'eq: disconnected'],
  ] as const) {
    const [after] = hashes(expandable.replace(from, to));
    expect([after?.[0], after?.[1] === before?.[1]]).toEqual(['sync-gold', false]);
  }
});

test('an error in a default is shown once, in the defaults', () => {
  expect(
    errorsOf(`defaults:
  job: site-sync
  limits: { concurrency: 0 }
  select: { filter: {} }
policies:
  - name: one
  - name: two
`),
  ).toEqual([
    '3:26 "concurrency" must be a whole number from 1 to 1000.',
    '4:13 "filter" is not a known key. did you mean filters?',
  ]);
});

test('an error in the form of a default is reported once, also when every policy replaces it', () => {
  const file = (job: string) =>
    `defaults: { limits: { concurrency: 0 } }\npolicies:\n${['one', 'two'].map((name) => `  - { name: ${name}, job: ${job} }\n`).join('')}`;
  const expected = ['1:36 "concurrency" must be a whole number from 1 to 1000.'];
  expect(errorsOf(file('site-sync'))).toEqual(expected);
  expect(errorsOf(file('site-sync, limits: { concurrency: 5 }'))).toEqual(expected);
});

test('a default that only some policies complete is not an error', () => {
  const head = 'defaults: { timeout: { target: 9h }, schedule: { timezone: Europe/Berlin } }\npolicies:\n';
  const policy = '  - { name: one, job: site-sync, timeout: { run: 10h }, schedule: { cron: 0 2 * * * } }\n';
  expect(errorsOf(head + policy)).toEqual([]);
});

test('an error in a value from a variable is shown where it is used, and names the variable', () => {
  expect(
    errorsOf(`vars:
  parallel: 7000
  select: { limits: 3 }
policies:
  - name: one
    job: site-sync
    limits: { concurrency: "\${{ vars.parallel }}" }
    select: "\${{ vars.select }}"
`),
  ).toEqual([
    '7:28 "concurrency" must be a whole number from 1 to 1000. The value is from vars.parallel (2:13).',
    '8:13 "limits" is not a known key. The value is from vars.select (3:11). did you mean limit?',
  ]);
});

test('an error in a condition points to the character in the file, or to the placeholder that it comes from', () => {
  const file = (where: string) => `vars: { url: "x", field: nothing }
policies:
  - name: one
    job: site-sync
    select:
      where: '${where}'
`;
  const column = (text: string, of: string) => text.indexOf(of) + 15;
  const own = 'site.url == "${{ vars.url }}" && site.nope == ""';
  expect(errorsOf(file(own))).toEqual([
    expect.stringMatching(`^6:${column(own, 'nope')} .*The text contains vars\\.url \\(1:14\\)\\.`),
  ]);
  const used = 'site.url == "" && site.${{ vars.field }} == ""';
  expect(errorsOf(file(used))).toEqual([
    expect.stringMatching(`^6:${column(used, '${{')} .*The text contains vars\\.field \\(1:26\\)\\.`),
  ]);
});

test('an unknown variable is one error at its place, and nothing else is said about that value', () => {
  expect(
    errorsOf(`vars: { zone: UTC }
policies:
  - name: one
    job: site-sync
    schedule: { cron: "0 2 * * *", timezone: "\${{ vars.zones }}" }
    limits: { concurrency: "\${{ vars.zones }}", max_targets: 0 }
`),
  ).toEqual([
    '5:47 There is no "zones" in vars. did you mean zone?',
    '6:29 There is no "zones" in vars. did you mean zone?',
    '6:62 "max_targets" must be a whole number from 1 to 100000.',
  ]);
});

test('an error in a variable is shown once, and breaks only the policies that use it', () => {
  const { policies, findings, broken } = read(`vars: { zone: "\${{ vars.nope }}" }
policies:
  - { name: one, job: site-sync, description: "\${{ vars.zone }}" }
  - { name: two, job: site-sync }
`);
  expect(findings.map(({ line, column }) => [line, column])).toEqual([[1, 16]]);
  expect(policies.map(({ name }) => name)).toEqual(['two']);
  expect(broken.map(({ name }) => name)).toEqual(['one']);
});

test('a number of a variable that YAML reads otherwise than it looks is refused as a filter', () => {
  expect(
    errorsOf(`vars: { php: 8.10 }
policies:
  - { name: one, job: site-sync, select: { filters: { php_version: { eq: "\${{ vars.php }}" } } } }
`),
  ).toEqual([
    expect.stringContaining(
      '3:74 Without quotes, 8.10 is the number 8.1. The value is from vars.php (1:14).',
    ),
  ]);
});

test('an error that only some combinations of a matrix have names the first of them', () => {
  const file = (tags: string) => `policies:
  - name: one
    job: site-sync
    matrix: { hour: ${tags} }
    schedule: { cron: "0 \${{ matrix.hour }} * * *" }
    limits: { concurrency: 0 }
`;
  expect(errorsOf(file('[1, 30, 2]'))).toEqual([
    expect.stringMatching(/^5:23 "cron" .* The text contains matrix\.hour \(4:25\)\.$/),
    '6:28 "concurrency" must be a whole number from 1 to 1000.',
  ]);
});

test('combinations with the same name are an error at the name', () => {
  expect(
    errorsOf(`policies:
  - name: one-\${{ matrix.a }}
    job: site-sync
    matrix: { a: [x], b: [1, 2] }
    limits: { concurrency: "\${{ matrix.b }}" }
    with: { message: "\${{ matrix.a }}" }
`),
  ).toEqual([
    '2:11 Several combinations of the matrix make the name "one-x". use every key of the matrix in "name", or none to have all values appended',
  ]);
});

test.each([
  ['vars: { a b: 1 }', '1:9 "a b" must consist of letters'],
  ['vars: { a: }', '1:12 "a" must have a value.'],
  ['vars: [1]', '1:7 "vars" must be a map of keys and values, not a list.'],
  ['defaults: 3', '1:11 "defaults" must be a map of keys and values, not a number.'],
  ['default: {}', '1:1 "default" is not a known key. did you mean defaults?'],
  ['var: {}', '1:1 "var" is not a known key. did you mean vars?'],
  ['defaults: { name: x }', '1:13 "name" cannot have a default. write it in the policies'],
  ['defaults: { matrix: { a: [1] } }', '1:13 "matrix" cannot have a default. write it in the policies'],
])('%s at the head of a file is an error', (head, sentence) => {
  const errors = errorsOf(`${head}\npolicies:\n  - { name: one, job: site-sync }\n`);
  expect(errors).toEqual([expect.stringContaining(sentence)]);
});

test('names of calendars in defaults are checked like those of a policy', () => {
  const settings = loadSettings('calendars: { holidays: [2026-12-25] }\n');
  const text =
    'vars: { quiet: [holiday] }\ndefaults: { schedule: { blackout: "${{ vars.quiet }}" } }\npolicies: [{ name: one, job: site-sync, schedule: { cron: "0 2 * * *" } }]\n';
  expect(read(text, { settings }).findings).toMatchObject([
    { line: 2, column: 35, suggestion: expect.stringContaining('holidays') },
  ]);
});
