/**
 * A command loads only what it needs, because loading delays its first output. Only a process shows what is loaded, so
 * each of the commands for which a start matters is started once.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Desk, openDesk } from '../support/cli.ts';

interface Bundle {
  metafile: { outputs: Record<string, { bytes: number; inputs: Record<string, unknown> }> };
}

const root = resolve(import.meta.dirname, '../..');
const preload = join(root, 'test/support/loaded.mjs');

let desk: Desk;
let outputs: Map<string, { bytes: number; inputs: Record<string, unknown> }>;
beforeAll(async () => {
  desk = openDesk({ CARETAKER_BASE_URL: 'http://127.0.0.1:9/api/v6', CARETAKER_API_TOKEN: 'unused' });
  await desk.keepRedis();
  const { bundleProgram } = createRequire(import.meta.url)('#root/scripts/bundle.mjs');
  const { metafile } = (await bundleProgram(root)) as Bundle;
  outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
});
afterAll(() => desk.clear());

/** Starts a command that notes what it loads. */
function watched(args: string[]) {
  const file = join(desk.folder, `loaded-by-${args.join('-')}`);
  return {
    environment: { NODE_OPTIONS: `--import=${preload}`, LOADED: file },
    loaded: () => weigh(new Set(readFileSync(file, 'utf8').split('\n'))),
  };
}

const packageOf = (path: string) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];

/** Files of the build, their kilobytes, and the packages in them or beside them. */
function weigh(paths: ReadonlySet<string>) {
  const chunks = [...paths].filter((path) => path.startsWith(join(root, 'dist/')));
  const found = chunks.flatMap((path) => outputs.get(basename(path)) ?? []);
  expect(found).toHaveLength(chunks.length);
  const inside = found.flatMap(({ inputs }) => Object.keys(inputs));
  return {
    files: chunks.length,
    kilobytes: Math.round(found.reduce((sum, { bytes }) => sum + bytes, 0) / 1_000),
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
    'pino-pretty',
  ],
  ...[
    '@opentelemetry/sdk-trace-node',
    '@opentelemetry/exporter-trace-otlp-http',
    'undici',
    'hono',
    'prom-client',
  ],
];
const policies = ['@bufbuild/re2', '@marcbachmann/cel-js', 'croner', 'node-cron'];

test.each([
  {
    args: ['--help'],
    files: 20,
    kilobytes: 150,
    without: ['zod', 'yaml', 'ioredis', 'pino', ...policies, ...lazy],
  },
  { args: ['validate'], files: 150, kilobytes: 2_000, without: ['ioredis', 'pino', ...lazy] },
  { args: ['runs'], files: 150, kilobytes: 2_000, without: [...policies, ...lazy] },
])('$args loads only what it needs', async ({ args, files, kilobytes, without }) => {
  const { environment, loaded } = watched(args);

  const { code, stderr } = await desk.run(args, environment);

  expect({ code, stderr }).toMatchObject({ code: 0 });
  const weight = loaded();
  expect(weight.files).toBeLessThanOrEqual(files);
  expect(weight.kilobytes).toBeLessThanOrEqual(kilobytes);
  expect(without.filter((name) => weight.packages.has(name))).toEqual([]);
});

test('an idle daemon has loaded what every role needs, and what few use only when it is used', async () => {
  const { environment, loaded } = watched(['daemon']);
  const daemon = desk.start(['daemon', '--port', '0'], environment);
  await daemon.line(/the daemon is running/);
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  const weight = loaded();

  expect([...weight.packages]).toEqual(expect.arrayContaining(['bullmq', 'hono', 'prom-client']));
  expect(weight.files).toBeLessThanOrEqual(250);
  expect(weight.kilobytes).toBeLessThanOrEqual(5_000);
  const needed = ['bullmq', 'hono', 'prom-client', 'undici'];
  expect(lazy.filter((name) => weight.packages.has(name) && !needed.includes(name))).toEqual([]);
});

test('a daemon without the role dashboard does not load what the dashboard needs, and without a request no HTTP client', async () => {
  const { environment, loaded } = watched(['daemon', '--roles', 'worker']);
  const daemon = desk.start(['daemon', '--roles', 'worker'], environment);
  await daemon.line(/the daemon is running/);
  daemon.child.kill('SIGTERM');
  await daemon.ended;

  const { packages } = loaded();
  expect(
    ['bullmq', 'hono', '@hono/node-server', 'prom-client', 'undici'].filter((name) => packages.has(name)),
  ).toEqual(['bullmq']);
});
