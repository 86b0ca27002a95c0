/** No key in Redis stays without an end, except those of a table in docs/reliability.md. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { startBusyWorld } from '../dashboard/busy-world.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld } from '../support/caretaker.ts';
import type { TestRedis } from '../support/redis.ts';

const page = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/reliability.md'), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| `{caretaker}:'));
const known = rows.flatMap((row) =>
  [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, key]) => key ?? ''),
);

const isKnown = (key: string) =>
  known.some((name) => (name.endsWith('*') ? key.startsWith(name.slice(0, -1)) : key === name));

async function keysWithoutEnd({ socketPath }: TestRedis): Promise<string[]> {
  const redis = new Redis({ path: socketPath });
  const keys = await redis.keys('*');
  const left = await Promise.all(keys.map((key) => redis.pttl(key)));
  redis.disconnect();
  return keys.filter((_, at) => left[at] === -1);
}

test('every key that a run, its notifications and its queue leave expires, or the page says what bounds it', async () => {
  const world = await startWorld({ sites: 5, notify: true });
  onTestFinished(() => world.stop());
  await world.ended(await world.fire(aPolicy({})));

  const keys = await keysWithoutEnd(world.redis);
  expect(keys.length).toBeGreaterThan(10);
  expect(keys.filter((key) => !isKnown(key))).toEqual([]);
});

test('so does every key of everything that the dashboard shows', async () => {
  const { world } = await startBusyWorld();
  onTestFinished(() => world.stop());

  const keys = await keysWithoutEnd(world.redis);
  expect(keys.length).toBeGreaterThan(10);
  expect(keys.filter((key) => !isKnown(key))).toEqual([]);
});
