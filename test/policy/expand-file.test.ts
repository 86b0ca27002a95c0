// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how placeholders are written in policy files.
/** What `defaults`, `vars` and `matrix` make of a policy file, without reading the policies themselves. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ExpandedPolicy, expandFile } from '../../src/policy/expand-file.ts';
import { plainOf } from '../../src/policy/located-value.ts';
import { escapePlaceholders } from '../../src/policy/placeholders.ts';
import { pathText } from '../../src/yaml/diagnostic.ts';

type File = Partial<Parameters<typeof expandFile>[0]>;

const expand = (file: File) => expandFile({ vars: {}, policies: [], ...file });
const plain = ({ policies }: { policies: ExpandedPolicy[] }) => policies.map(({ root }) => plainOf(root));
const expanded = (file: File) => {
  const found = expand(file);
  expect(faultsOf(found)).toEqual([]);
  return plain(found);
};
const faultsOf = ({ policies, faults }: ReturnType<typeof expandFile>) =>
  [...faults, ...policies.flatMap((policy) => policy.faults)].map(
    ([path, { message, suggestion }]) =>
      `${pathText(path)}: ${message}${suggestion === undefined ? '' : ` ${suggestion}`}`,
  );
const ofVars = (vars: Record<string, unknown>, value: unknown) =>
  expanded({ vars, policies: [{ value }] })[0];
const names = (policy: Record<string, unknown>) =>
  expanded({ policies: [policy] }).map((one) => (one as { name: string }).name);

test('a file without vars, defaults and matrix is returned as it is', () => {
  const value = fc.jsonValue().filter((one) => !JSON.stringify(one).includes('${{'));
  fc.assert(
    fc.property(fc.array(value), (policies) => {
      const wanted = policies.map((one) =>
        typeof one === 'object' && one !== null && !Array.isArray(one) ? { ...one, matrix: undefined } : one,
      );
      const without = JSON.parse(JSON.stringify(wanted));
      expect(plain(expand({ policies: without }))).toEqual(without);
    }),
  );
});

test('every text can be escaped, and is then read as it was', () => {
  const parts = fc.constantFrom('$', '{', '${{', '$${{', '}}', ' ', 'vars', 'matrix', '.', 'x', 'var');
  fc.assert(
    fc.property(fc.array(parts), (some) => {
      const text = some.join('');
      expect(ofVars({}, escapePlaceholders(text))).toEqual({ value: text });
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['alone, a number is a number', { x: 7 }, '${{ vars.x }}', 7],
  ['alone, a text is a text', { x: 'Europe/Berlin' }, '${{ vars.x }}', 'Europe/Berlin'],
  ['alone, a boolean is a boolean', { x: false }, '${{ vars.x }}', false],
  ['alone, a list is a list', { x: [1, 'two'] }, '${{ vars.x }}', [1, 'two']],
  ['alone, a map is a map', { x: { eq: { deep: [null] } } }, '${{ vars.x }}', { eq: { deep: [null] } }],
  [
    'inside a text, all are text',
    { a: 7, b: true, c: 'x' },
    'at ${{vars.a}}: ${{ vars.b }}, ${{   vars.c   }}!',
    'at 7: true, x!',
  ],
  [
    'a part of one can be named',
    { client: { id: '12', sites: ['a', 'b'] } },
    '${{ vars.client.id }} ${{ vars.client.sites.1 }}',
    '12 b',
  ],
  [
    'they can use others, wherever those stand in the file',
    { all: ['${{ vars.url }}', '${{ vars.n }}'], url: 'https://${{ vars.host }}', host: 'x', n: 1 },
    '${{ vars.all }}',
    ['https://x', 1],
  ],
  ['their text is not expanded again', { a: '$${{ vars.b }}', b: 'x' }, '${{ vars.a }}', '${{ vars.b }}'],
])('of variables: %s', (_, vars, text, value) => {
  expect(ofVars(vars, text)).toEqual({ value });
});

test('inside a string, a number is written as in the file', () => {
  const { policies } = expandFile(
    { vars: { php: 8.1 }, policies: [{ value: 'PHP ${{ vars.php }}' }] },
    (path) => (pathText(path) === 'vars.php' ? '8.10' : undefined),
  );
  expect(plain({ policies })).toEqual([{ value: 'PHP 8.10' }]);
});

test('what is no placeholder stays as it is', () => {
  const texts = [
    '{{site.title}}',
    '${{site.title}}',
    '$' + '{NAME}',
    '$${{site.title}}',
    '{{ vars.x }}',
    '${{}}',
  ];
  expect(expanded({ policies: [{ texts }] })).toEqual([{ texts }]);
});

test.each([
  ['${{ vars.zon }}', 'There is no "zon" in vars. did you mean zone?'],
  ['${{ vars.zone.name }}', 'There is no "name" in vars.zone, which is no map.'],
  ['${{ vars.map.x }}', 'There is no "x" in vars.map. available: key'],
  ['in ${{ vars.map }}', 'vars.map is a map, which cannot be put into a string.'],
  ['in ${{ vars.list }}', 'vars.list is a list, which cannot be put into a string.'],
  ['${{ matrix.tag }}', 'There is no matrix.tag: the policy has no "matrix".'],
  ['${{ var.zone }}', 'A placeholder starts with vars or matrix, not "var". did you mean vars?'],
  ['${{ vars.zone | upper }}', 'A placeholder holds one name and nothing else. write it as ${{ vars.name }}'],
  ['${{ vars }}', 'A placeholder holds one name and nothing else. write it as ${{ vars.name }}'],
  ['${{ vars.zone', 'The placeholder is not closed. add "}}"'],
])('%s is an error', (text, sentence) => {
  const vars = { zone: 'UTC', list: [1], map: { key: 1 } };
  expect(faultsOf(expand({ vars, policies: [{ value: text }] }))).toEqual([`policies[0].value: ${sentence}`]);
});

test('a placeholder in a key is an error', () => {
  expect(faultsOf(expand({ vars: { x: 1 }, policies: [{ with: { '${{ vars.x }}': 1 } }] }))).toEqual([
    'policies[0].with.${{ vars.x }}: A key cannot hold a placeholder; only a value can.',
  ]);
});

test('variables that use each other in a circle are one error', () => {
  const vars = { a: '${{ vars.b }}', b: 'x ${{ vars.c }}', c: ['${{ vars.a }}'] };
  const found = expand({ vars, policies: [{ value: '${{ vars.a }}' }, { value: '${{ vars.c }}' }] });
  expect(faultsOf(found)).toEqual([
    'vars.c[0]: This is a circular reference: vars.a → vars.b → vars.c → vars.a.',
  ]);
  expect(found.policies.map(({ root }) => root.isBroken)).toEqual([true, true]);
});

test('variables that multiply each other are an error, whose size is bounded', () => {
  const vars = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `v${i}`,
      i === 0 ? ['x'.repeat(100)] : Array.from({ length: 10 }, () => `\${{ vars.v${i - 1} }}`),
    ]),
  );
  expect(faultsOf(expand({ vars, policies: [{ value: '${{ vars.v39 }}' }] }))).toEqual([
    'vars.v4: This expands to more than 256 KiB.',
  ]);
});

test('a small file that expands into a very large one is an error', () => {
  const vars = { big: 'x'.repeat(200_000) };
  const policies = Array.from({ length: 100 }, () => ({ value: '${{ vars.big }}' }));
  const { policies: read, faults } = expand({ vars, policies });
  expect(read.length).toBeLessThan(50);
  expect(faults.map(([, { message }]) => message)).toEqual([
    'The policies of the file expand to more than 8 MiB.',
  ]);
});

test('defaults are merged under each policy: maps key by key, lists as a whole', () => {
  const defaults = { job: 'a', limits: { x: 1, y: { z: 1 } }, notify: [1, 2], with: { m: 1 } };
  expect(
    expanded({
      defaults,
      policies: [
        { limits: { x: 2, y: { w: 3 } }, notify: [3] },
        { job: 'b', with: 'text' },
      ],
    }),
  ).toEqual([
    { job: 'a', limits: { x: 2, y: { z: 1, w: 3 } }, notify: [3], with: { m: 1 } },
    { job: 'b', limits: { x: 1, y: { z: 1 } }, notify: [1, 2], with: 'text' },
  ]);
});

test('null in a policy removes a default, and stays where there is none', () => {
  expect(
    expanded({
      defaults: { schedule: { cron: 'x' }, a: { b: 1, c: 2 } },
      policies: [{ schedule: null, a: { b: null }, d: null }],
    }),
  ).toEqual([{ a: { c: 2 }, d: null }]);
});

test('defaults and variables work together: a map from a variable is merged as well', () => {
  const file = {
    vars: { limits: { x: 2 }, zone: 'UTC' },
    defaults: { limits: { x: 1, y: 1 }, zone: '${{ vars.zone }}' },
    policies: [{ limits: '${{ vars.limits }}' }],
  };
  expect(expanded(file)).toEqual([{ limits: { x: 2, y: 1 }, zone: 'UTC' }]);
});

test('a matrix makes one policy of each combination, named by its values in kebab-case', () => {
  const matrix = { tag: ['Gold Plus', 'silver'], region: ['eu', 'us'] };
  const policy = { name: 'sync', tags: '${{ matrix.tag }}', in: 'r-${{ matrix.region }}', matrix };
  expect(expanded({ policies: [policy] })).toEqual([
    { name: 'sync-gold-plus-eu', tags: 'Gold Plus', in: 'r-eu' },
    { name: 'sync-gold-plus-us', tags: 'Gold Plus', in: 'r-us' },
    { name: 'sync-silver-eu', tags: 'silver', in: 'r-eu' },
    { name: 'sync-silver-us', tags: 'silver', in: 'r-us' },
  ]);
});

test('a name can use the matrix itself', () => {
  const value = '${{ matrix.client.id }}';
  const matrix = { client: [{ id: 7, name: 'Ünïted Corp.' }] };
  expect(names({ name: '${{ matrix.client.name }}-report', value, matrix })).toEqual(['united-corp-report']);
  expect(names({ name: 'report', value, matrix })).toEqual(['report-united-corp']);
  expect(names({ name: 'report-${{ matrix.client.id }}', value, matrix })).toEqual(['report-7']);
});

const [a1, b2] = [
  { tag: 'a', n: 1 },
  { tag: 'b', n: 2 },
];
test.each([
  [
    'can be excluded by some of their values, and others included',
    {
      tag: ['a', 'b'],
      n: [1, 2],
      exclude: [{ tag: 'a', n: 2 }, { tag: 'b' }],
      include: [{ tag: 'c', n: 9 }],
    },
    ['p-a-1', 'p-c-9'],
  ],
  ['can be the included ones alone', { include: [a1, b2] }, ['p-a-1', 'p-b-2']],
])('the combinations of a matrix %s', (_, matrix, expected) => {
  expect(names({ name: 'p', matrix, x: '${{ matrix.tag }}${{ matrix.n }}' })).toEqual(expected);
});

test('the values of a matrix can be variables, and defaults can use them', () => {
  const file = {
    vars: { tags: ['x', 'y'] },
    defaults: { value: '${{ matrix.tag }}' },
    policies: [{ name: 'p', matrix: { tag: '${{ vars.tags }}' } }],
  };
  expect(expanded(file)).toEqual([
    { name: 'p-x', value: 'x' },
    { name: 'p-y', value: 'y' },
  ]);
});

const hundred = Array.from({ length: 100 }, (_, i) => i);

test.each([
  [{}, 'policies[0].matrix: The matrix is empty.'],
  [{ tag: [] }, 'policies[0].matrix.tag: "tag" must have at least 1 entry.'],
  [{ tag: 'gold' }, 'policies[0].matrix.tag: "tag" must be a list, not a string. write it as a list, in [ ]'],
  [['a'], 'policies[0].matrix: The file must be a map of keys and values, not a list.'],
  [
    { 'a b': ['x'] },
    'policies[0].matrix.a b: "a b" must consist of letters, digits, hyphens and underscores, and start with a letter or an underscore.',
  ],
  [
    { tag: ['a'], exclude: [{ tagg: 'a' }] },
    'policies[0].matrix.exclude[0].tagg: "tagg" is no key of the matrix. did you mean tag?',
  ],
  [
    { tag: ['a'], exclude: [{ tag: 'b' }] },
    'policies[0].matrix.exclude[0]: This excludes no combination of the matrix.',
  ],
  [
    { tag: ['a'], exclude: [{ tag: 'a' }] },
    'policies[0].matrix.exclude: Every combination of the matrix is excluded.',
  ],
  [
    { tag: ['a'], n: [1], include: [{ tag: 'b' }] },
    'policies[0].matrix.include[0]: The combination has no "n".',
  ],
  [
    { tag: hundred, n: [1, 2, 3] },
    'policies[0].matrix: The matrix makes 300 policies; at most 200 are supported.',
  ],
  [
    { tag: hundred, a: hundred, b: hundred },
    'policies[0].matrix: The matrix makes 1000000 policies; at most 200 are supported.',
  ],
  [{ tag: ['${{ vars.none }}'] }, 'policies[0].matrix.tag[0]: There is no "none" in vars.'],
])('a matrix %j is an error', (matrix, sentence) => {
  const found = expand({ policies: [{ name: 'p', x: '${{ matrix.tag }}${{ matrix.n }}', matrix }] });
  expect(faultsOf(found)).toEqual([sentence]);
  expect(found.policies.every(({ root }) => root.isBroken)).toBe(true);
});

test('a key of the matrix that only distinguishes names is an error: the policies would do the same', () => {
  const policy = { name: 'p-${{ matrix.b }}', description: '${{ matrix.b }}', x: '${{ matrix.a }}' };
  expect(new Set(faultsOf(expand({ policies: [{ ...policy, matrix: { a: [1], b: [1, 2] } }] })))).toEqual(
    new Set([
      'policies[0].matrix.b: "b" is used only for names, so several policies would do the same. use ${{ matrix.b }} in the policy',
    ]),
  );
});

test('a value that cannot be part of a name has to be used in it by a person', () => {
  const found = expand({ policies: [{ name: 'p', x: '${{ matrix.a.b }}', matrix: { a: [{ b: 1 }] } }] });
  expect(faultsOf(found)).toEqual([
    'policies[0].name: The value of matrix.a cannot be a part of the name. use ${{ matrix.a }}, or a part of it, in "name"',
  ]);
});
