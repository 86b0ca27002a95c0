/** Whether a policy gets worse: the decision, and the tab that shows it. */
import { afterEach, expect, test } from 'vitest';
import { compare, trendsOf } from '../../src/dashboard/queries/policy-trends.ts';
import type { Run } from '../../src/run/run.ts';
import { aSchedule } from '../support/builders.ts';
import { aPolicy, aRun, ended, remember, startWorld, textOf, type World } from './world.ts';

const times = (count: number, value: number): number[] => Array.from({ length: count }, () => value);

const usualSpread = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 10 : 30));
test.each([
  ['fifteen values say something', times(15, 7), { recent: 7, before: 7, runs: 10, is: 'same' }],
  ['fourteen do not', times(14, 7), undefined],
  [
    'values that have doubled are higher, and only the twenty before count',
    [...times(5, 20), ...times(20, 10), ...times(50, 1000)],
    { recent: 20, before: 10, runs: 20, is: 'higher' },
  ],
  ['one slow run of five is no change', [90, 10, 10, 10, 10, ...times(20, 10)], { is: 'same' }],
  ['a change by less than a fifth is none', [...times(5, 119), ...times(20, 100)], { is: 'same' }],
  ['a change by more than a fifth is one', [...times(5, 121), ...times(20, 100)], { is: 'higher' }],
  ['a change within the usual spread is none', [...times(5, 29), ...usualSpread], { is: 'same' }],
  ['a change beyond the usual spread is one', [...times(5, 60), ...usualSpread], { is: 'higher' }],
  ['failures where there were none are more', [...times(5, 1), ...times(20, 0)], { is: 'higher' }],
  ['none where there were none is no change', times(25, 0), { is: 'same' }],
  ['none where there were some is fewer', [...times(5, 0), ...times(20, 3)], { is: 'lower' }],
])('comparing the last five values with those before them: %s', (_, values, expected) => {
  const compared = compare(values);
  if (expected) expect(compared).toMatchObject(expected);
  else expect(compared).toBeUndefined();
});

const START = Date.parse('2026-11-01T01:00:00Z');
const DAY = 86_400_000;
/** Runs, newest first, each with so many minutes. */
const runsTaking = (minutes: readonly number[], changes: Partial<Run> = {}): Run[] =>
  minutes.map((took, index) => {
    const startedAt = START - index * DAY;
    const finishedAt = startedAt + took * 60_000;
    return aRun({ id: `r${index}`, status: 'succeeded', startedAt, finishedAt, ...changes });
  });

test('skipped and cancelled runs, retries and, of a scheduled policy, manual runs are not compared', () => {
  const scheduled = { schedule: aSchedule() };
  const usual = runsTaking(times(20, 10));
  const others = (['retry', 'manual', 'backfill'] as const).flatMap((trigger) =>
    runsTaking(times(5, 90), { trigger }),
  );
  const idle = (['skipped', 'cancelled', 'running'] as const).flatMap((status) =>
    runsTaking(times(5, 90), { status }),
  );

  const trends = trendsOf(scheduled, [...others, ...idle, ...usual]);

  expect(trends).toMatchObject({ runs: 20, durationMs: { recent: 600_000, is: 'same' } });
  expect(trendsOf({}, runsTaking(times(15, 10), { trigger: 'manual' })).runs).toBe(15);
});

let world: World | undefined;
afterEach(() => world?.stop());

/** The tab of a policy with a run a day, which took so many minutes and failed for so many of ten targets; oldest first. */
async function lookAt(runs: readonly { minutes: number; failed: number }[]): Promise<string> {
  world = await startWorld({ policies: () => [aPolicy('sync', { schedule: aSchedule() })] });
  for (const [index, { minutes, failed }] of runs.entries()) {
    const createdAt = START + index * DAY;
    const run = aRun({ id: `r${index}`, policy: 'sync', createdAt });
    const targets = Array.from({ length: 10 }, (_, at) =>
      ended(`s${at}`, at < failed ? 'failed' : 'succeeded'),
    );
    await remember(world.records, run, targets);
    await world.records.runs.move(run, failed > 0 ? 'partial' : 'succeeded', {
      at: createdAt + minutes * 60_000,
    });
  }
  return (await world.look('/policies/sync/trends')).html;
}

test('a policy whose last runs take twice as long and fail more often gets worse, in words and figures', async () => {
  const before = Array.from({ length: 20 }, () => ({ minutes: 10, failed: 0 }));
  const html = await lookAt([...before, ...Array.from({ length: 5 }, () => ({ minutes: 20, failed: 2 }))]);

  const text = textOf(html);
  expect(text).toContain('It gets worse: runs take longer, more targets fail than before.');
  expect(text).toContain('Duration 20 min longer: median of the last 5; 10 min in the 20 before');
  expect(text).toContain('Failed targets 20% more: median of the last 5; 0% in the 20 before');
  expect(text).toContain('Targets 10 no clear change');
  // The charts have their figures as tables.
  expect(html.match(/<caption>/g)).toHaveLength(4);
  expect(text).toMatch(/Duration of each run, by its status .* 2026-11-01 01:00 UTC 10 min 0 s/);
  expect(text).toMatch(/Failed targets of each run Time failed 2026-11-21 01:00 UTC 2/);
});

test('with too few runs it says that it is not known, and how many are missing', async () => {
  const text = textOf(
    await lookAt([
      { minutes: 10, failed: 0 },
      { minutes: 99, failed: 9 },
    ]),
  );

  expect(text).toContain(
    'Whether it gets worse is not known yet: that takes 15 scheduled runs that did work, and 2 are stored.',
  );
  expect(text).not.toContain('It gets worse');
  expect(text).not.toContain('median');
});

test('a policy without runs has no charts', async () => {
  const html = await lookAt([]);
  expect(textOf(html)).toContain('No run of this policy has done any work yet.');
  expect(html).not.toContain('<figure');
});
