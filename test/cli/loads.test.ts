/**
 * A command loads only the packages that it needs, because loading delays its first output.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';

const { dependencies } = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8'));
const preload = resolve(import.meta.dirname, '../support/loaded.mjs');

let desk: Desk;
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ sites: 3, rateLimit: 0 });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: sandbox.token });
  await desk.keepRedis();
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

/** commander with its types. What measures texts is loaded for the first one that is not ASCII. */
const commandLine = ['@commander-js/extra-typings', 'commander'];
const settings = [...commandLine, 'yaml', 'zod'];
const policies = [...settings, '@bufbuild/re2', '@marcbachmann/cel-js', 'croner', 'node-cron'];
const records = ['ioredis', 'pino'];
const calls = ['undici'];

/** Runs a command and records which packages, and which modules of ours, it loads. */
function watched(args: string[]) {
  const file = join(desk.folder, `loaded-by-${args.join('-')}`);
  return {
    environment: { NODE_OPTIONS: `--import=${preload}`, LOADED: file },
    loaded() {
      const names = new Set(readFileSync(file, 'utf8').split('\n'));
      return Object.keys(dependencies).filter((name) => names.has(name));
    },
  };
}

test.each([
  { args: ['--help'], loads: commandLine },
  { args: ['validate'], loads: policies },
  { args: ['test'], loads: policies },
  { args: ['api', 'listSites', '--help'], loads: settings },
  { args: ['explain', 'unknown-effect'], loads: settings },
  { args: ['api', 'listSites'], loads: [...settings, ...records, ...calls] },
  { args: ['runs'], loads: [...settings, ...records] },
  { args: ['freeze', '--for', '1m'], loads: [...settings, ...records] },
  { args: ['policies'], loads: [...policies, ...records] },
  { args: ['policies', 'pause', 'nightly-sync'], loads: [...policies, ...records] },
  { args: ['why', 'nightly-sync', 'yesterday'], loads: [...policies, ...records] },
  { args: ['plan', 'nightly-sync'], loads: [...policies, ...records, ...calls] },
])('$args loads only the packages that it needs', async ({ args, loads }) => {
  const { environment, loaded } = watched(args);

  const { code, stderr } = await desk.run(args, environment);

  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(loaded()).toEqual([...loads].sort());
});

/** The packages that a daemon has loaded when it is running. */
async function loadedByDaemon(...args: string[]) {
  const { environment, loaded } = watched(['daemon', ...args]);
  const daemon = desk.start(['daemon', '--port', '0', ...args], environment);
  await daemon.line(/the daemon is running/);
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  return loaded();
}

test('the daemon loads bull-board only when its page is requested, and OpenTelemetry only when traces are on', async () => {
  const loaded = await loadedByDaemon();

  expect(loaded).toEqual(expect.arrayContaining(['bullmq', 'hono', 'prom-client']));
  expect(
    loaded.filter((name) =>
      /bull-board|pdfkit|pino-pretty|opentelemetry.(sdk|exporter|resources)|bullmq-otel/.test(name),
    ),
  ).toEqual([]);
});

test('a daemon without the role dashboard does not load what the dashboard needs, and without a request no HTTP client', async () => {
  const loaded = await loadedByDaemon('--roles', 'worker');

  expect(loaded).toContain('bullmq');
  expect(loaded.filter((name) => /^hono$|@hono|prom-client|undici/.test(name))).toEqual([]);
});
