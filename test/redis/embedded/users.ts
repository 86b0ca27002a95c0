/** What the tests of the embedded Redis have in common. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterEach, vi } from 'vitest';
import type { Log } from '../../../src/log.ts';
import { type EmbeddedRedis, openEmbeddedRedis } from '../../../src/redis/embedded/embedded.ts';

const log: Log = { debug() {}, info() {}, warn: vi.fn(), error: vi.fn(), child: () => log };

/** Run in reverse order after each test, so that servers stop before their folders are deleted. */
const undo: (() => Promise<unknown>)[] = [];
export const undoAfterEach = () =>
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
    vi.unstubAllEnvs();
    vi.clearAllMocks();
  });

export async function newFolder(name = 'data'): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'caretaker-embedded-'));
  undo.push(() => rm(parent, { recursive: true, force: true }));
  return join(parent, name);
}

export async function open(dataDir: string): Promise<EmbeddedRedis> {
  const redis = await openEmbeddedRedis({ dataDir, log });
  undo.push(() => redis.close());
  return redis;
}

/** A user of the folder in a separate process. It ends when it is killed, and closes on request. */
export async function openInProcess(dataDir: string) {
  const files = ['../../support/call.mjs', './embedded.user.ts'].map((file) =>
    fileURLToPath(new URL(file, import.meta.url)),
  );
  const child = spawn(process.execPath, [...files, 'use', dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
  undo.push(() => end(child, 'SIGTERM'));
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const redis = JSON.parse(line) as Pick<EmbeddedRedis, 'socketPath' | 'started'>;
  return { ...redis, kill: () => end(child, 'SIGKILL'), close: () => end(child, 'SIGTERM') };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

export function connect({ socketPath }: { socketPath: string }): Redis {
  const client = new Redis({ path: socketPath, maxRetriesPerRequest: null, retryStrategy: () => 20 });
  client.on('error', () => {});
  undo.push(async () => client.disconnect());
  return client;
}
