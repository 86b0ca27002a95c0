import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { heldClock } from '../support/held-clock.ts';
import { everythingIn, startCalling } from './calling.ts';

const SECOND = 1000;

/** A file in a folder that is deleted after the test. */
function stateFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'account.state');
}

test('an account with a state file is the same after a restart', async () => {
  const state = stateFile();
  const first = await startCalling({ sites: 30, state });
  await first.post('/sites/site-0002/notes', { note: { content: 'Kept' } });
  await first.post('/tags', { tag: { name: 'kept' } });
  await first.post('/sites', { site: { url: 'https://kept.example' } });
  const before = await everythingIn(first);
  await first.sandbox.stop();

  const second = await startCalling({ sites: 5, seed: 9, state });
  expect(await everythingIn(second)).toEqual(before);
  const { id } = (await second.post('/tags', { tag: { name: 'after' } })).body.tag;
  expect(Number(id)).toBeGreaterThan(11);
});

test('work in progress continues after a restart: a sync ends, and its snapshot with it', async () => {
  const state = stateFile();
  const first = await startCalling({ sites: 3, state });
  first.sandbox.site('site-0001').syncTakes(60 * SECOND);
  const { snapshot_id } = (await first.post('/sites/site-0001/sync')).body.sync;
  await first.sandbox.stop();

  const { sandbox, clock, get } = await startCalling({ sites: 3, state });
  expect(sandbox.site('site-0001').state().syncInProgress).toBe(true);
  await clock.advance(60 * SECOND);
  expect(sandbox.site('site-0001').state().syncInProgress).toBe(false);
  const { snapshot } = (await get(`/sites/site-0001/snapshots/${snapshot_id}`)).body;
  expect(snapshot.status).toBe('succeeded');
});

test('time passes while the sandbox is stopped, as fast as the clock, and never goes back', async () => {
  const state = stateFile();
  const first = await startCalling({ sites: 3, state, speed: 60 });
  await first.clock.advance(60 * SECOND);
  await first.sandbox.stop();
  const at = async (startsAt: string) => {
    const { sandbox, post } = await startCalling({ sites: 3, state, startsAt });
    const { tag } = (await post('/tags', { tag: { name: startsAt } })).body;
    await sandbox.stop();
    return tag.created_at;
  };
  expect(await at('2026-11-21T12:01:00Z')).toBe('2026-11-21T13:00:00.000Z');
  expect(await at('2026-11-21T12:31:00Z')).toBe('2026-11-21T13:30:00.000Z');
  expect(await at('2026-11-21T12:00:00Z')).toBe('2026-11-21T13:30:00.000Z');
});

test('the file is written within a second of a change, once for all, and replaced as a whole', async () => {
  const state = stateFile();
  const { clock, post, get } = await startCalling({ sites: 3, state });
  const stamp = () => statSync(state).ino;
  const initial = stamp();
  await get('/sites');
  await clock.advance(5 * SECOND);
  expect(stamp()).toBe(initial);

  for (const name of ['a', 'b', 'c']) await post('/tags', { tag: { name } });
  await clock.advance(SECOND - 1);
  expect(stamp()).toBe(initial);
  await clock.advance(1);
  expect(stamp()).not.toBe(initial);
  expect(readdirSync(join(state, '..'))).toEqual(['account.state']);

  // As if the process had died here: another one has all three.
  const other = await startSandbox({ state, clock: heldClock() });
  const response = await fetch(`${other.url}/tags?perPage=3`, {
    headers: { authorization: `Bearer ${other.token}` },
  });
  const { tags } = (await response.json()) as { tags: { name: string }[] };
  await other.stop();
  expect(tags.map(({ name }) => name).sort()).toEqual(['a', 'b', 'c']);
});

test('a file with other content is refused and not changed', async () => {
  const state = stateFile();
  writeFileSync(state, 'sites: 60\n');
  await expect(startSandbox({ state, clock: heldClock() })).rejects.toThrow(
    'is not a state file of the sandbox',
  );
  expect(readFileSync(state, 'utf8')).toBe('sites: 60\n');
});

test('a state that cannot be written is reported when the sandbox stops', async () => {
  const state = stateFile();
  const sandbox = await startSandbox({ sites: 1, state, clock: heldClock() });
  rmSync(join(state, '..'), { recursive: true });
  await expect(sandbox.stop()).rejects.toThrow('ENOENT');
});
