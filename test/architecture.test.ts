/**
 * The map of the rooms from the imports: rooms import from lower levels only, and rooms of one level do not
 * import each other.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const levels: Record<string, number> = {
  access: 1,
  contract: 1,
  expression: 1,
  redis: 1,
  run: 1,
  yaml: 1,
  settings: 2,
  budget: 2,
  queue: 2,
  records: 2,
  client: 3,
  sandbox: 3,
  job: 4,
  trace: 4,
  policy: 5,
  engine: 6,
  schedule: 6,
  notify: 6,
  control: 7,
  offline: 7,
  dashboard: 8,
  app: 9,
  cli: 10,
};
/** Rooms that may import less than their level allows. */
const tighter: Record<string, readonly string[]> = {
  sandbox: ['contract'],
  jobs: ['job', 'expression', 'contract'],
};

interface Import {
  from: string;
  to: string;
  file: string;
  target: string;
}

const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(folder, file));

const roomOf = (file: string): string => {
  const [first = '', second = '', third] = file.split('/');
  if (first === 'jobs') return 'jobs';
  return third === undefined ? 'leaf' : second;
};

const imports: Import[] = [...filesIn('src'), ...filesIn('jobs')].flatMap((file) => {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => {
    const target = relative(root, resolve(root, dirname(file), match[1] ?? ''));
    return { from: roomOf(file), to: roomOf(target), file, target };
  });
});

test('every folder of src is a room of the map', () => {
  const rooms = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  expect(rooms.map(({ name }) => name).sort()).toEqual(Object.keys(levels).sort());
});

test('a file imports from its own room and from lower levels only', () => {
  const upward = imports.filter(({ from, to }) => {
    if (from === to || to === 'leaf') return false;
    if (from === 'leaf') return true;
    const allowed = tighter[from];
    if (allowed) return !allowed.includes(to);
    return (levels[to] ?? 99) >= (levels[from] ?? 0);
  });
  expect(upward.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
});

test('no imports form a circle, type imports included', () => {
  const importsOf = new Map<string, string[]>();
  for (const { file, target } of imports) importsOf.set(file, [...(importsOf.get(file) ?? []), target]);
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
    if (done.has(file)) return;
    done.add(file);
    for (const target of importsOf.get(file) ?? []) visit(target, [...path, file]);
  };
  for (const file of importsOf.keys()) visit(file, []);
  expect(circles).toEqual([]);
});

test('there are at most nine leaf files', () => {
  const leaves = readdirSync(join(root, 'src')).filter((file) => file.endsWith('.ts'));
  expect(leaves.length).toBeLessThanOrEqual(9);
});

test('every room and the jobs say in a README what they are for', () => {
  const missing = [...Object.keys(levels).map((room) => `src/${room}`), 'jobs', 'src', 'config', '.'].filter(
    (folder) => !readdirSync(join(root, folder)).includes('README.md'),
  );
  expect(missing).toEqual([]);
});

test('the README of each room names its folders', () => {
  const unnamed = Object.keys(levels).flatMap((room) => {
    const text = readFileSync(join(root, 'src', room, 'README.md'), 'utf8');
    const entries = readdirSync(join(root, 'src', room), { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && !text.includes(`${entry.name}/`))
      .map(({ name }) => `src/${room}/${name}`);
  });
  expect(unnamed).toEqual([]);
});

test('the README of each room has its level and the rooms that it imports', () => {
  const wrong = Object.entries(levels).flatMap(([room, level]) => {
    const text = readFileSync(join(root, 'src', room, 'README.md'), 'utf8');
    const [, written, imported = ''] = /^Level (\d+)\. Imports ([^.]*)\./m.exec(text) ?? [];
    const named = [...imported.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
    const actual = [...new Set(imports.filter(({ from }) => from === room).map(({ to }) => to))].filter(
      (to) => to in levels && to !== room,
    );
    const isRight =
      Number(written) === level &&
      (imported.startsWith('every lower room') || named.sort().join() === actual.sort().join());
    return isRight ? [] : { room, level, imports: actual };
  });
  expect(wrong).toEqual([]);
});

test('no file is larger than four hundred lines: it would be about more than one thing', () => {
  const large = [...filesIn('src'), ...filesIn('jobs')].filter(
    (file) => readFileSync(join(root, file), 'utf8').split('\n').length > 400,
  );
  expect(large).toEqual([]);
});
