import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type FolderWatch, watchFolders } from '../../src/policy/config-watcher.ts';
import { folderWith } from '../settings/folder.ts';
import { type HeldClock, heldClock } from '../support/held-clock.ts';

let dir: string;
let held: HeldClock;
/** What the watch slept for. */
let slept: number[];
let watch: FolderWatch;
let looks: number;
let isClosed: boolean;

beforeEach(() => {
  dir = folderWith({ 'a.yaml': 'policies: []\n' });
  held = heldClock();
  slept = [];
  looks = 0;
  isClosed = false;
});
afterEach(() => {
  isClosed = true;
  watch.close();
});

async function start(folder: string): Promise<void> {
  const sleep = (ms: number, signal?: AbortSignal) => {
    if (ms > 0) slept.push(ms);
    return held.sleep(ms, signal);
  };
  watch = watchFolders([folder], { now: held.now, sleep });
  void (async () => {
    while (!isClosed) {
      await watch.next();
      looks += 1;
    }
  })();
  await held.advance(0);
}

test('while nothing changes, the files are looked at every five seconds', async () => {
  await start(dir);
  await held.advance(60_000);

  expect(looks).toBe(12);
  expect(new Set(slept)).toEqual(new Set([5_000]));
});

test.each([
  ['changed', (folder: string) => writeFileSync(join(folder, 'a.yaml'), 'policies:\n')],
  ['added', (folder: string) => writeFileSync(join(folder, 'b.yaml'), 'policies:\n')],
  ['replaced', (folder: string) => renameSync(join(folder, 'a.yaml'), join(folder, 'c.yaml'))],
])('a file that is %s is looked at after half a second', async (_, change) => {
  await start(dir);
  change(dir);
  await vi.waitFor(() => expect(slept).toEqual([5_000, 500]), { timeout: 20_000 });
  await held.advance(500);

  expect(looks).toBe(1);
});

test('a folder that is missing is looked for twice a second, and then watched', async () => {
  const later = join(dir, 'later');
  await start(later);
  await held.advance(2_000);
  expect(looks).toBe(4);

  mkdirSync(later);
  await held.advance(500);
  expect(slept.at(-1)).toBe(5_000);
});

test('a folder that is replaced is watched from the next look on', async () => {
  const policies = join(dir, 'policies');
  mkdirSync(policies);
  await start(policies);
  renameSync(policies, join(dir, 'old'));
  mkdirSync(policies);
  await held.advance(6_000);
  slept.length = 0;

  writeFileSync(join(policies, 'a.yaml'), 'policies: []\n');
  await vi.waitFor(() => expect(slept).toContain(500), { timeout: 20_000 });
});
