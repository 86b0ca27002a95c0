/** What tests of `record:` have in common. */
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { siteSync } from '../../../jobs/site-sync/job.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import type { Run } from '../../../src/run/run.ts';
import { aPolicy } from '../../support/builders.ts';
import { until, type World, type WorldOptions } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { call } from '../person.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** The site of most tests. */
export const SITE = 'site-0001';

export const openWorld = (options: WorldOptions = {}): Promise<World> =>
  worldOfTest({ sites: 1, speedUp: 240, before: quickSyncs, ...options });

/** A policy that syncs every site and records it in both ways. */
export const recording = (changes: Partial<Policy> = {}): Policy =>
  aPolicy({
    job: 'site-sync',
    options: siteSync.options.parse({ mode: 'all' }),
    record: { customWork: { title: 'Monthly maintenance' }, note: 'living' },
    ...changes,
  });

/** Resolves with the run once none of its records is pending. */
export async function recorded(world: World, run: Run): Promise<Run> {
  await world.ended(run);
  await until(world, async () => (await world.caretaker.records.outbox.accounts()).length === 0);
  return (await world.caretaker.records.runs.get(run.id)) ?? run;
}

/** Runs a policy and waits until what it did is recorded. */
export async function runAndRecord(world: World, policy: Policy, only?: string[]): Promise<Run> {
  return recorded(world, await world.fire(policy, only));
}

/** Deletes everything in Redis, and with it all records. */
export async function emptyRedis({ redis }: World): Promise<void> {
  const connection = new Redis(redis.socketPath);
  await connection.flushall();
  await connection.quit();
}

/** The custom work entries of a site that Caretaker made. */
export const entriesOn = ({ sandbox }: World, site = SITE) =>
  sandbox
    .site(site)
    .customWorks()
    .filter(({ description }) => /Ref\. [0-9A-Z]{8}$/.test(description));

/** The notes of a site that Caretaker made, oldest first. */
export const notesOn = ({ sandbox }: World, site = SITE) =>
  sandbox
    .site(site)
    .notes()
    .filter((content) => content.includes('[Caretaker, '));

/** The lines of the only living note of a site. */
export function linesOn(world: World, site = SITE): string[] {
  const notes = notesOn(world, site);
  expect(notes).toHaveLength(1);
  return (notes[0] ?? '').split('\n').filter((line) => /^\d{4}-/.test(line));
}

/** The id of the only living note of a site. */
export async function noteIdOn(world: World, site = SITE): Promise<string> {
  const { notes } = await call(world, 'listSiteNotes', { site_id: site });
  const [note] = notes.filter(({ content }) => content?.includes('[Caretaker, '));
  expect(note).toBeDefined();
  return note?.id ?? '';
}
