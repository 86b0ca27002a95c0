/** What became of the scheduled times of a policy, as its page shows it. */
import { afterEach, expect, test } from 'vitest';
import type { ScheduledTime } from '../../src/records/ledger-store.ts';
import { aSchedule, aTarget } from '../support/builders.ts';
import { aPolicy, aRun, ended, pagesFrom, remember, startWorld, textOf, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

const MINUTE = 60_000;
const START = Date.parse('2026-11-20T01:00:00Z');
const at = (minute: number) => START + minute * MINUTE;

const start = async () => {
  world = await startWorld({ policies: () => [aPolicy('sync', { schedule: aSchedule() })] });
};

const record = (...times: readonly (Omit<ScheduledTime, 'at'> & { at?: number })[]) =>
  world.records.ledger.record(
    'sync',
    times.map((time) => ({ at: time.scheduledFor, ...time })),
    { to: at(10_000), schedule: 'UTC * * * * *' },
  );

/** The rows, each as its text, as they stand on the page. */
const rowsOf = (html: string): string[] =>
  [...html.matchAll(/<tr data-key=.*?<\/tr>/gs)].map(([row]) => textOf(row));

test('each scheduled time has a line, whether it made a run or not', async () => {
  await start();
  await remember(world.records, aRun({ id: 'ran', policy: 'sync', createdAt: at(6) }), [
    ended('a', 'succeeded'),
    aTarget('b'),
  ]);
  await record(
    { scheduledFor: at(0), is: 'missed' },
    { scheduledFor: at(1), is: 'skipped', why: 'paused', note: 'by anna: <the sale>', backfill: 'again' },
    { scheduledFor: at(2), is: 'skipped', why: 'blackout', note: '2026-11-20 to 2026-11-21' },
    {
      scheduledFor: at(3),
      is: 'skipped',
      why: 'overlap',
      note: 'The run x was still under way.',
      run: 'late',
    },
    { scheduledFor: at(4), is: 'merged', into: at(6) },
    { scheduledFor: at(5), is: 'ran', run: 'no-longer-stored' },
    { scheduledFor: at(6), is: 'ran', run: 'ran' },
  );

  const { html, text } = await world.look('/policies/sync');

  const rows = rowsOf(html);
  expect(rows).toHaveLength(7);
  expect(rows[0]).toMatch(/01:06 UTC .* running ran 1 \/ 2 schedule/);
  expect(rows[1]).toMatch(/01:05 UTC .* unknown .*which is no longer stored: its result is not known/);
  expect(rows[2]).toMatch(/01:04 UTC .* caught up Caught up by the run of 2026-11-20 01:06 UTC/);
  expect(rows[3]).toMatch(/01:03 UTC .* skipped late The run x was still under way\./);
  expect(rows[4]).toMatch(/01:02 UTC .* skipped blackout 2026-11-20 to 2026-11-21/);
  expect(rows[5]).toMatch(/01:01 UTC .* skipped paused by anna: .*the sale.* backfilled/);
  expect(rows[6]).toMatch(/01:00 UTC .* missed It was missed, and is older than/);
  expect(html).toContain('href="/runs/again"');
  expect(html).not.toContain('<the sale>');
  expect(text).toContain(
    'Before 2026-11-20 01:00 UTC nothing is recorded: the results of earlier times are not known.',
  );
});

test('runs that no scheduled time made are between the scheduled times', async () => {
  await start();
  await record({ scheduledFor: at(0), is: 'ran', run: 'scheduled' }, { scheduledFor: at(2), is: 'missed' });
  for (const [id, minute, trigger] of [
    ['scheduled', 0, 'schedule'],
    ['by-hand', 1, 'manual'],
    ['again', 3, 'retry'],
  ] as const)
    await remember(
      world.records,
      aRun({ id, policy: 'sync', trigger, createdAt: at(minute), scheduledFor: at(minute) }),
      [],
    );

  const rows = rowsOf((await world.look('/policies/sync')).html);

  expect(rows.map((row) => /missed|manual|retry|schedule/.exec(row)?.[0])).toEqual([
    'retry',
    'missed',
    'manual',
    'schedule',
  ]);
});

test('pages follow each other without a gap and without a line twice', async () => {
  await start();
  const times = Array.from({ length: 130 }, (_, index) => ({
    scheduledFor: at(index),
    is: 'skipped' as const,
    why: 'disabled' as const,
  }));
  await record(...times);
  await remember(
    world.records,
    aRun({ id: 'by-hand', policy: 'sync', trigger: 'manual', createdAt: at(60) + 1 }),
    [],
  );

  const pages = await pagesFrom(await world.signedIn(), '/policies/sync', 'Older');
  const seen = pages.flatMap((html) => [...html.matchAll(/<tr data-key="([^"]+)"/g)].map(([, key]) => key));

  expect(seen).toHaveLength(131);
  expect(new Set(seen).size).toBe(131);
  expect(seen[0]).toBe(`at ${at(129)}`);
  expect(seen.at(-1)).toBe(`at ${at(0)}`);
});

test('a policy without any record says so', async () => {
  await start();
  const { text } = await world.look('/policies/sync');
  expect(text).toContain('Nothing is recorded of this policy yet.');
});
