import { expect, test } from 'vitest';
import { keys } from '../../src/records/keys.ts';
import { MAX_VERSIONS, VersionStore } from '../../src/records/version-store.ts';
import { redisOfFile } from '../support/redis-of-file.ts';

const { redis: store } = await redisOfFile();
const versions = new VersionStore(store);

const DAY = 86_400_000;
const version = (hash: string, definition: Record<string, unknown> = { name: 'p' }) => ({
  at: 1,
  hash,
  file: 'a.yaml',
  definition,
});
const hashesOf = async (policy: string) => (await versions.all(policy)).map(({ hash }) => hash);

test('a version is added once, and again after another one', async () => {
  const added: boolean[] = [];
  for (const hash of ['a', 'a', 'b', 'a']) added.push(await versions.add('p', version(hash), DAY));
  expect(added).toEqual([true, false, true, true]);
  expect(await hashesOf('p')).toEqual(['a', 'b', 'a']);
});

test('a hash that begins like the newest one is another version', async () => {
  await versions.add('prefix', version('ab'), DAY);
  expect(await versions.add('prefix', version('a'), DAY)).toBe(true);
});

test('only the newest are kept, and all of them expire', async () => {
  for (let index = 0; index < MAX_VERSIONS + 5; index += 1)
    await versions.add('many', version(`v${index}`), DAY);
  const hashes = await hashesOf('many');
  expect(hashes).toHaveLength(MAX_VERSIONS);
  expect(hashes[0]).toBe(`v${MAX_VERSIONS + 4}`);
  const left = await store.pttl(keys.versions('many'));
  expect(left).toBeGreaterThan(DAY - 60_000);
  expect(left).toBeLessThanOrEqual(DAY);
});

test('a definition that is too large is not kept, but that there was a version', async () => {
  await versions.add('large', version('x', { where: 'y'.repeat(70_000) }), DAY);
  expect(await versions.all('large')).toEqual([{ at: 1, hash: 'x', file: 'a.yaml' }]);
});
