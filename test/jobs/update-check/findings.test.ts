/** Which findings are kept when there are too many, and when a schedule is changed. */
import { expect, test } from 'vitest';
import { type ExaminedSchedule, effectOn, scheduleEnd } from '../../../jobs/update-check/findings.ts';
import type { UpdateSchedule } from '../../../jobs/update-check/history.ts';
import type { UpdateRun } from '../../../jobs/update-check/runs.ts';

const NIGHT = Date.parse('2026-11-21T02:00:00Z');
const DAY = 86_400_000;
const schedule: UpdateSchedule = {
  id: 's-1',
  name: 'Plugins',
  status: 'active',
  schedule: 'daily',
  started_at: '2026-01-01T02:00:00Z',
  next_update_at: '2026-11-22T02:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
};
const options = {
  fail_on: ['failed' as const],
  overdue_after: 0,
  enable_paused: true,
  pause_on_failed_rate: 20,
};

const aRun = (night: number, result: UpdateRun['sites'][number]['result'][]): UpdateRun => ({
  at: NIGHT - night * DAY,
  status: result.includes('failed') ? 'failed' : 'completed',
  task: `t-${night}`,
  changedAt: NIGHT - night * DAY + 60_000,
  sites: result.map((one, index) => ({ id: `site-${index}`, result: one, versions: 'Shop 9.1 → 9.2' })),
});
const examined = (runs: UpdateRun[], changes: Partial<UpdateSchedule> = {}): ExaminedSchedule => ({
  schedule: { ...schedule, ...changes },
  since: NIGHT - 60 * DAY,
  unreported: 0,
  runs,
  ...(runs[0] ? { latest: runs[0] } : {}),
});

test('when there are too many findings, every run keeps its own, and failures come before the rest', () => {
  const many = [...Array(25).fill('updated'), ...Array(5).fill('failed')] as ('updated' | 'failed')[];
  const runs = Array.from({ length: 20 }, (_, night) => aRun(night, many));

  const { findings = [] } = scheduleEnd(examined(runs), options, NIGHT + DAY / 2, (id) => id);

  const kept = findings.slice(0, 100);
  expect(new Set(kept.flatMap(({ task }) => task ?? [])).size).toBe(20);
  expect(kept[0]?.about).toBe('schedule');
  expect(kept.slice(1, 21).every(({ about }) => about.startsWith('run of '))).toBe(true);
  expect(kept.slice(21).every(({ severity }) => severity === 'error')).toBe(true);
});

test('runs that are not reported because there are too many are counted', () => {
  const { findings } = scheduleEnd(
    { ...examined([aRun(0, ['updated'])]), unreported: 7 },
    options,
    NIGHT,
    (id) => id,
  );
  expect(findings).toContainEqual({
    severity: 'warning',
    about: 'more runs',
    message: '7 older runs since 2026-09-22 02:00Z are not reported.',
  });
});

test.each([
  ['failed on more than the percentage', aRun(0, ['failed', 'updated']), {}, 'disableAutoUpdateSchedule'],
  ['failed on no more than the percentage', aRun(0, ['failed', ...Array(4).fill('updated')]), {}, undefined],
  ['does not show on how many sites it failed', aRun(0, ['unknown', 'unknown']), {}, undefined],
  [
    'failed before the schedule was changed',
    aRun(0, ['failed']),
    { updated_at: '2026-11-21T09:00:00Z' },
    undefined,
  ],
  [
    'failed, but which does not show when it was last changed',
    aRun(0, ['failed']),
    { updated_at: undefined },
    undefined,
  ],
  ['failed, and which is already paused', aRun(0, ['failed']), { status: 'paused' }, undefined],
  [
    'may have failed, and which is paused',
    { ...aRun(0, ['unknown']), status: 'failed' },
    { status: 'paused' },
    undefined,
  ],
  ['succeeded, and which is paused', aRun(0, ['updated']), { status: 'paused' }, 'enableAutoUpdateSchedule'],
  ['succeeded, and whose status is unknown', aRun(0, ['updated']), { status: 'archived' }, undefined],
] as const)('the change to a schedule whose last run %s', (_, run, changes, effect) => {
  expect(effectOn(examined([run as UpdateRun], changes), options)).toBe(effect);
});

test('a failed run that an earlier check reported causes no change', () => {
  expect(effectOn({ ...examined([]), latest: aRun(0, ['failed']) }, options)).toBeUndefined();
});
