/** The overview's last 24 hours, on a busy day: its numbers are complete for any number of runs. */
import { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import type { Target } from '../../src/run/run.ts';
import { aTarget } from '../support/builders.ts';
import { aRun, ended, remember, startWorld, textOf, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

const HOUR = 3_600_000;
const limits = { concurrency: 1, targetMs: 1 };

/** What the page shows of the last day. */
async function dayOf(): Promise<{ text: string; html: string }> {
  const { html, main } = await world.look('/');
  return { html: html.slice(html.indexOf('<main')), text: main };
}

/** A run with one target, which ended at the given time. */
async function oneThatEnded(id: string, policy: string, at: number, target: Target): Promise<void> {
  const { runs, plans } = world.records;
  const run = aRun({ id, policy, createdAt: at });
  await runs.create(run, limits);
  await runs.move(run, 'planning', { at });
  await plans.add(id, await plans.begin(id), [target]);
  await runs.move(run, target.outcome === 'failed' ? 'failed' : 'succeeded', { at, planComplete: true });
}

test('400 runs of a day are all counted, by status, reason and policy, and only a few are read', async () => {
  world = await startWorld();
  const now = Date.now();
  // Every second run fails, those of the first policies more often. The failures of one policy have their own
  // reason.
  const failing = (index: number) => index % 2 === 1;
  await Promise.all(
    Array.from({ length: 400 }, (_, index) => {
      const target = failing(index)
        ? ended('a', 'failed', { reason: index < 100 ? 'task-failed' : 'timeout' })
        : ended('a', 'succeeded');
      return oneThatEnded(`run.${index}`, `policy-${index % 40}`, now - (index % 23) * HOUR, target);
    }),
  );
  const redis = new Redis(world.redis.options);
  await redis.config('RESETSTAT');

  const { text, html } = await dayOf();

  expect(text).toContain(
    '24 hours 400 200 succeeded, 200 failed Targets that failed 200 of 400: 200 succeeded, 200 failed',
  );
  // 20 policies failed: eight are in the table, the others can be opened, and none is missing.
  const named = new Set([...html.matchAll(/href="\/policies\/(policy-\d+)"/g)].map(([, name]) => name));
  expect(named.size).toBe(20);
  const attention = html.slice(html.indexOf('id="attention"'), html.indexOf('id="active"'));
  const counts = [...attention.matchAll(/(\d+) failed/g)].map(([, count]) => Number(count));
  // Of each policy and reason, those of the latest run.
  expect(counts).toEqual(counts.map(() => 1));
  expect(textOf(attention)).toContain('12 more');
  // The chart has every target of the day, by the hour.
  const bars = [...html.matchAll(/<td>(\d+)<\/td>/g)].map(([, count]) => Number(count));
  expect(bars.reduce((sum, count) => sum + count, 0)).toBe(400);
  const [, hashesRead] = /cmdstat_hgetall:calls=(\d+)/.exec(await redis.info('commandstats')) ?? [];
  // 60 of them are the minutes of the budget, and 40 the latest run with each reason of each policy.
  expect(Number(hashesRead)).toBeLessThan(200);
  redis.disconnect();
});

test('an active run counts with the outcomes of its targets so far, and once when it has ended', async () => {
  world = await startWorld();
  const run = aRun({ createdAt: Date.now() });
  await remember(world.records, run, [
    ended('a', 'succeeded'),
    ended('b', 'failed', { reason: 'timeout' }),
    aTarget('c'),
  ]);
  const figures = '1 succeeded, 1 failed';
  expect((await dayOf()).text).toContain(`24 hours 1 1 running Targets that failed 1 of 2: ${figures}`);

  const target = aTarget('c', { state: 'ended', outcome: 'skipped', reason: 'gone' });
  await world.records.targets.move(run, target, { from: ['pending'], at: Date.now() });
  await world.records.runs.move(run, 'partial', { at: Date.now() });

  expect((await dayOf()).text).toContain(
    `24 hours 1 1 partial Targets that failed 1 of 3: ${figures}, 1 skipped`,
  );
});

test('a long run that ended in the last day counts, whenever it began', async () => {
  world = await startWorld();
  const now = Date.now();
  const run = aRun({ id: 'long', createdAt: now - 40 * HOUR });
  await remember(world.records, run, [ended('a', 'failed', { reason: 'timeout' })]);
  await world.records.runs.move(run, 'failed', { at: now - HOUR });

  expect((await dayOf()).text).toContain('24 hours 1 1 failed Targets that failed 1 of 1: 1 failed');
});
