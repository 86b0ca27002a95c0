/** The npm package: packed, installed into an empty folder, and used there as somebody would who has no checkout. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Process, started } from '../support/cli.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'caretaker-package-'));
const app = join(folder, 'app');
const running = new Set<Process>();

beforeAll(() => mkdirSync(app));
afterAll(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGTERM');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

function start(program: string, args: string[], { cwd = app, env = {} } = {}) {
  // The settings of this npm run must not reach the one that is tested, nor may those of a daemon.
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|CARETAKER_|REDIS_URL)/i.test(name));
  const one = started(
    spawn(program, args, {
      cwd,
      env: { ...Object.fromEntries(kept), NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  running.add(one);
  one.child.on('close', () => running.delete(one));
  return one;
}

async function run(
  program: string,
  args: string[],
  options?: { cwd?: string; env?: object },
): Promise<string> {
  const { code, stdout, stderr } = await start(program, args, options).ended;
  expect({ program, args, code, stderr: code === 0 ? '' : stderr }).toMatchObject({ code: 0 });
  return stdout;
}

/** The command that npm linked. A signal to `npx` would reach npm first. */
const caretaker = join(app, 'node_modules/.bin/caretaker');

test('the package installs into an empty folder, and does a run there from "init" to a stopped daemon', {
  timeout: 600_000,
}, async () => {
  const [packed] = JSON.parse(
    await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root }),
  );
  await run('npm', [
    ...['install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, packed.filename)],
  ]);
  // What is in the build is not installed again: some of it has scripts of its own, about which npm warns.
  for (const name of ['typescript', 'bullmq', 'msgpackr-extract'])
    expect(existsSync(join(app, 'node_modules', name))).toBe(false);

  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(await run('npx', ['--no-install', 'caretaker', '--version'])).toBe(`${version}\n`);
  await run('npx', ['--no-install', 'caretaker', 'init']);
  expect(await run(caretaker, ['explain', 'unknown-effect'])).toContain('unknown-effect');

  const options = '--port 0 --sites 3 --speed 200 --token t'.split(' ');
  const sandbox = start(caretaker, ['sandbox', ...options]);
  const [, url = ''] = /^listening (\S+)/.exec(await sandbox.line(/^listening /)) ?? [];
  const env = { CARETAKER_BASE_URL: url, CARETAKER_API_TOKEN: 't' };
  await run(caretaker, ['validate'], { env });

  const daemon = start(caretaker, ['daemon', '--port', '0'], { env });
  const [address = ''] = /http:\/\/[^\s"]+/.exec(await daemon.line(/Dashboard: http/)) ?? [];
  await daemon.line(/the daemon is running/);
  const { status, counts } = JSON.parse(await run(caretaker, ['run', 'nightly-sync', '--json'], { env }));
  expect({ status, failed: counts.failed }).toEqual({ status: 'succeeded', failed: 0 });
  expect(counts.succeeded).toBeGreaterThan(0);
  // The files of the pages are there, which nothing imports.
  const page = await (await fetch(new URL('/sign-in', address))).text();
  const files = [...page.matchAll(/(?:href|src)="(\/[^"]+\.(?:css|js)[^"]*)"/g)].map(([, path = '']) => path);
  expect(files).not.toEqual([]);
  for (const path of files) expect((await fetch(new URL(path, address))).status).toBe(200);
  // Every page of the navigation works without what is only in a checkout.
  const [link = ''] = (await run(caretaker, ['dashboard'], { env })).split('\n');
  const [cookie = ''] = (await fetch(link, { redirect: 'manual' })).headers.getSetCookie();
  const headers = { cookie: cookie.split(';')[0] ?? '' };
  const overview = await (await fetch(address, { headers })).text();
  const pages = new Set([...overview.matchAll(/<a [^>]*href="(\/[a-z]+)"/g)].map(([, path = '']) => path));
  expect([...pages]).toEqual(expect.arrayContaining(['/system', '/queues']));
  for (const path of pages) {
    const { status } = await fetch(new URL(path, address), { headers });
    expect({ path, status }).toEqual({ path, status: 200 });
  }

  daemon.child.kill('SIGTERM');
  const { code, stderr } = await daemon.ended;
  expect({ code, stopped: stderr.includes('stopped') }).toEqual({ code: 0, stopped: true });
});

test('the package has what its users need, and neither the source nor what belongs to one machine', () => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' });
  const [packed] = JSON.parse(stdout || stderr);
  const paths = packed.files.map(({ path }: { path: string }) => path);

  expect(paths).toEqual(
    expect.arrayContaining([
      'README.md',
      'LICENSE',
      'src/cli/bin.cjs',
      'src/cli/compiled.cjs',
      'config/caretaker.yaml',
      'docs/configuration.md',
      'docs/errors.md',
      'deploy/systemd/caretaker.service',
    ]),
  );
  const unwanted =
    /^(src\/(?!cli\/(?:bin|compiled)\.mjs|sandbox\/README\.md)|docs\/adr|test|jobs|scripts)\/|^config\/.*schemas\/|^dist\/\.users/;
  expect(paths.filter((path: string) => unwanted.test(path))).toEqual([]);
});
