/**
 * A command loads only what it needs, because loading delays its first output. Only a process shows what is loaded, so
 * each of the commands for which a start matters is started once; some of them in the long file alone.
 */
import { readFileSync, statSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { sampleOf } from '../support/sample.ts';
import { deskOfFile } from './desk-of-file.ts';

interface Bundle {
  files: { path: string; contents: Uint8Array | string }[];
  metafile: {
    inputs: Record<string, { imports: { path: string; kind: string; external?: boolean }[] }>;
    outputs: Record<string, { inputs: object; exports: string[]; entryPoint?: string }>;
  };
}

const root = resolve(import.meta.dirname, '../..');
const preload = join(root, 'test/support/loaded.mjs');

const isShort = sampleOf(true, false);
const shortTest = test.runIf(isShort);
const desk = deskOfFile();
let made: Bundle['metafile'];
let files: Bundle['files'];
let outputs: Map<string, { inputs: object }>;
beforeAll(async () => {
  await desk.keepRedis();
  // A first process may build the program: what that loads says nothing.
  await desk.spawn(['--version']).ended;
  const { bundleProgram } = createRequire(import.meta.url)('#root/scripts/bundle.mjs');
  ({ metafile: made, files } = (await bundleProgram(root)) as Bundle);
  outputs = new Map(Object.entries(made.outputs).map(([path, output]) => [basename(path), output]));
});

/** Starts a command that notes what it loads. */
function watched(args: string[]) {
  const file = join(desk.folder, `loaded-by-${args.join('-')}`);
  return {
    environment: { NODE_OPTIONS: `--import=${preload}`, LOADED: file },
    loaded: () => weigh(new Set(readFileSync(file, 'utf8').split('\n'))),
  };
}

/** Of a path in `node_modules`, or of a package that the build has as a file of its own. */
const packageOf = (path: string) =>
  (/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? /\/packages\/(.+)\.cjs$/.exec(path))?.[1];

/** Files of the build, their kilobytes, and the packages in them or beside them. */
function weigh(paths: ReadonlySet<string>) {
  const files = [...paths].filter((path) => path.startsWith(join(root, 'dist/')));
  const inside = files.flatMap((path) => Object.keys(outputs.get(basename(path))?.inputs ?? {}));
  return {
    files: files.length,
    kilobytes: Math.round(files.reduce((sum, path) => sum + statSync(path).size, 0) / 1_000),
    packages: new Set([...inside, ...paths].map(packageOf)),
  };
}

/** What nothing of these commands needs. */
const lazy = [
  ...[
    'bullmq',
    'bullmq-otel',
    '@bull-board/api',
    '@bull-board/hono',
    'pdfkit',
    'nodemailer',
    'openid-client',
  ],
  ...['pino-pretty', '@modelcontextprotocol/sdk', '@opentelemetry/sdk-trace-node'],
  ...['@opentelemetry/exporter-trace-otlp-http', 'undici', 'hono', 'prom-client'],
];
const policies = ['@bufbuild/re2', '@marcbachmann/cel-js', 'croner', 'node-cron'];

const commands = [
  {
    args: ['--help'],
    files: 20,
    kilobytes: 150,
    without: ['zod', 'yaml', 'ioredis', 'pino', ...policies, ...lazy],
  },
  { args: ['validate'], files: 31, kilobytes: 1_600, without: ['ioredis', 'pino', ...lazy] },
  { args: ['runs'], files: 31, kilobytes: 1_600, without: [...policies, ...lazy] },
];

test.each(sampleOf(commands.slice(0, 2), commands.slice(2)))(
  '$args loads only what it needs',
  async ({ args, files, kilobytes, without }) => {
    const { environment, loaded } = watched(args);

    const { code, stderr } = await desk.spawn(args, environment).ended;

    expect({ code, stderr }).toMatchObject({ code: 0 });
    const weight = loaded();
    expect(weight.files).toBeLessThanOrEqual(files);
    expect(weight.kilobytes).toBeLessThanOrEqual(kilobytes);
    expect(without.filter((name) => weight.packages.has(name))).toEqual([]);
  },
);

/** What a daemon has loaded that was stopped as soon as it ran. */
async function loadedByDaemon(...options: string[]) {
  const { environment, loaded } = watched(['daemon', ...options]);
  const daemon = desk.spawn(['daemon', ...options], environment);
  await daemon.line(/the daemon is running/);
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  return loaded();
}

shortTest(
  'an idle daemon has loaded what every role needs, and what few use only when it is used',
  async () => {
    const weight = await loadedByDaemon('--port', '0');

    expect([...weight.packages]).toEqual(expect.arrayContaining(['bullmq', 'hono', 'prom-client']));
    expect(weight.files).toBeLessThanOrEqual(90);
    expect(weight.kilobytes).toBeLessThanOrEqual(5_200);
    const needed = ['bullmq', 'hono', 'prom-client', 'undici'];
    expect(lazy.filter((name) => weight.packages.has(name) && !needed.includes(name))).toEqual([]);
  },
);

test.runIf(!isShort)(
  'a daemon without the role dashboard does not load what the dashboard needs, and without a request no HTTP client',
  async () => {
    const { packages } = await loadedByDaemon('--roles', 'worker');
    expect(
      ['bullmq', 'hono', '@hono/node-server', 'prom-client', 'undici'].filter((name) => packages.has(name)),
    ).toEqual(['bullmq']);
  },
);

shortTest(
  'each package that our code loads when it is needed has its names, not only a default export',
  () => {
    const loaded = Object.entries(made.inputs)
      .filter(([path]) => path.startsWith('src/'))
      .flatMap(([, { imports }]) => imports)
      .filter(
        ({ path, kind, external }) => kind === 'dynamic-import' && !external && !path.startsWith('src/'),
      )
      .map(({ path }) => path);
    const parts = Object.values(made.outputs).filter(({ entryPoint = '' }) => loaded.includes(entryPoint));

    expect(loaded.join()).toContain('pino-pretty');
    expect(parts).toHaveLength(new Set(loaded).size);
    expect(parts.filter(({ exports }) => exports.join() === 'default').map((one) => one.entryPoint)).toEqual(
      [],
    );
  },
);

shortTest('our code loads from node_modules only what the npm package installs', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const call = /(?:\b(?:require|load)\d*|\$chunk|\(importMetaUrl\))\("([@\w][^"]*)"\)/g;
  const loaded = files
    .filter(({ path }) => path.endsWith('.cjs') && !path.startsWith('packages/'))
    .flatMap(({ contents }) => [...Buffer.from(contents).toString().matchAll(call)])
    .flatMap(([, name = '']) => (isBuiltin(name) ? [] : [name]));

  expect(loaded).toContain('pdfkit');
  expect(loaded.filter((name) => !(name in dependencies))).toEqual([]);
});
