/** Which runs a policy gets that follows another; pure. */
import { expect, test } from 'vitest';
import { type ChainedSchedule, type PredecessorEnd, whatFollows } from '../../src/schedule/chain.ts';
import { jitterOf } from '../../src/schedule/cron-times.ts';
import type { ScheduleState } from '../../src/schedule/due.ts';
import { aSchedule } from '../support/builders.ts';
import { NOON } from '../support/held-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const schedule = (
  after: Partial<ChainedSchedule['after']> = {},
  changes: Partial<ChainedSchedule> = {},
): ChainedSchedule => ({
  ...aSchedule({ cron: [], ...changes }),
  after: { policy: 'sync', status: ['succeeded'], withinMs: 6 * HOUR, ...after },
});

const end = (at: number, changes: Partial<PredecessorEnd> = {}): PredecessorEnd => ({
  at,
  run: `sync.${at}`,
  status: 'succeeded',
  trigger: 'schedule',
  onlySome: false,
  retried: [],
  ...changes,
});

const decide = (
  ends: PredecessorEnd[],
  {
    after,
    isAll = true,
    changes,
    ...state
  }: Partial<ScheduleState> & {
    after?: Partial<ChainedSchedule['after']>;
    changes?: Partial<ChainedSchedule>;
    isAll?: boolean;
  } = {},
) =>
  whatFollows('check', schedule(after, changes), ends, {
    cursor: NOON - HOUR,
    now: NOON,
    isAll,
    endsTo: ends.at(-1)?.at ?? NOON - HOUR,
    ...state,
  });

/** The decisions for one end that is a minute old. */
const fateOf = (changes: Partial<PredecessorEnd>, after: Partial<ChainedSchedule['after']> = {}) =>
  decide([end(NOON - MINUTE, changes)], { after }).decisions.map(({ is }) => is);

test('each end starts one run, which knows the run that it follows; the cursor passes both', () => {
  expect(decide([end(NOON - 20 * MINUTE), end(NOON - MINUTE)])).toEqual({
    decisions: [
      {
        is: 'fire',
        trigger: 'after',
        scheduledFor: NOON - 20 * MINUTE,
        afterRun: `sync.${NOON - 20 * MINUTE}`,
      },
      { is: 'fire', trigger: 'after', scheduledFor: NOON - MINUTE, afterRun: `sync.${NOON - MINUTE}` },
    ],
    cursor: NOON - MINUTE,
  });
});

test('an end with another status starts nothing, and the cursor passes it', () => {
  expect(decide([end(NOON - MINUTE, { status: 'partial' })])).toEqual({
    decisions: [],
    cursor: NOON - MINUTE,
  });
  expect(fateOf({ status: 'partial' }, { status: ['succeeded', 'partial'] })).toEqual(['fire']);
});

test('a scheduled, caught-up, manual or chained run starts the next policy; a backfill does not', () => {
  const fates = (['schedule', 'catch-up', 'manual', 'after', 'backfill'] as const).map((trigger) =>
    fateOf({ trigger }),
  );
  expect(fates).toEqual([['fire'], ['fire'], ['fire'], ['fire'], []]);
});

test('a manual run for single targets starts nothing', () => {
  expect(fateOf({ trigger: 'manual', onlySome: true })).toEqual([]);
});

test('a retry that turns a failure into a success starts the run that was missing, and no second one', () => {
  expect(fateOf({ trigger: 'retry', retried: ['failed'] })).toEqual(['fire']);
  expect(fateOf({ trigger: 'retry', retried: ['failed', 'partial'] })).toEqual(['fire']);
  const both = { status: ['succeeded' as const, 'partial' as const] };
  expect(fateOf({ trigger: 'retry', retried: ['partial'] }, both)).toEqual([]);
  expect(fateOf({ trigger: 'retry', retried: ['failed', 'partial'] }, both)).toEqual([]);
});

test('an end that is noticed later than `within` is missed; one at the limit still starts a run', () => {
  const ends = [end(NOON - 6 * HOUR - 1), end(NOON - 6 * HOUR)];
  const { decisions, cursor } = decide(ends, { cursor: NOON - 24 * HOUR });
  expect(decisions.map(({ is }) => is)).toEqual(['missed', 'fire']);
  expect(decisions[0]).toMatchObject({ afterRun: `sync.${NOON - 6 * HOUR - 1}` });
  expect(cursor).toBe(NOON - 6 * HOUR);
});

test.each([
  [{ changes: { disabled: true as const } }, 'disabled'],
  [{ pause: { at: NOON - HOUR, by: 'anna' } }, 'paused'],
  [{ freezes: { pause: { at: NOON - HOUR, by: 'anna' } } }, 'frozen'],
  [{ changes: { blackout: [{ from: '2026-11-21', to: '2026-11-21' }] } }, 'blackout'],
])('%j skips the run that an end would have started, and the record says why', (state, why) => {
  expect(decide([end(NOON - MINUTE)], state).decisions).toMatchObject([
    { is: 'skip', why, scheduledFor: NOON - MINUTE, afterRun: `sync.${NOON - MINUTE}` },
  ]);
});

test('a pause that ended before the other run did skips nothing; one that began since then does', () => {
  const pauses = [{ at: NOON - HOUR, by: 'anna', until: NOON - 2 * MINUTE }];
  expect(decide([end(NOON - MINUTE)], { pauses }).decisions).toMatchObject([{ is: 'fire' }]);
  const pause = { at: NOON - 1, by: 'anna' };
  expect(decide([end(NOON - MINUTE)], { pause }).decisions).toMatchObject([{ is: 'skip', why: 'paused' }]);
});

test('jitter delays the run, the same in every process, and ends after it wait', () => {
  const jitterMs = 10 * MINUTE;
  const ended = NOON - 1;
  const due = ended + jitterOf('check', ended, jitterMs);
  const ends = [end(NOON - HOUR + 1, { status: 'failed' }), end(ended), end(NOON)];
  expect(decide(ends, { changes: { jitterMs } })).toEqual({
    decisions: [],
    cursor: NOON - HOUR + 1,
    nextDueAt: due,
  });
  expect(decide(ends, { changes: { jitterMs }, now: due }).decisions[0]).toMatchObject({
    is: 'fire',
    scheduledFor: ended,
  });
});

test('a policy without a cursor starts a few seconds ago, and ignores earlier ends', () => {
  expect(decide([], { cursor: undefined, endsTo: 0 } as never).cursor).toBe(NOON - 15_000);
});

test('after many ends, all are decided at once', () => {
  expect(decide([end(NOON - MINUTE)], { isAll: false }).nextDueAt).toBe(NOON);
});
