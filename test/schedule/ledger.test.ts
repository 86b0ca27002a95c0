import { beforeEach, describe, expect, test } from 'vitest';
import type { Policy, Schedule } from '../../src/policy/policy.ts';
import type { ScheduledTime } from '../../src/records/ledger-store.ts';
import { openRecords } from '../../src/records/records.ts';
import { scheduledTimesBetween } from '../../src/schedule/cron-times.ts';
import { type SchedulerDeps, tickOnce } from '../../src/schedule/scheduler.ts';
import { spansOf } from '../../src/schedule/wall-time.ts';
import { explain } from '../../src/schedule/why.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { type HeldClock, heldClock, NOON } from '../support/held-clock.ts';
import { keptLog } from '../support/quiet.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { sampleOf } from '../support/sample.ts';
import { firesInto } from './fires.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const { redis: store } = await redisOfFile();
const records = openRecords(store);
beforeEach(() => store.flushall());

const scheduled = (changes: Partial<Schedule> = {}): Policy =>
  aPolicy({ name: 'sweep', schedule: aSchedule({ cron: ['*/10 * * * *'], overlap: 'allow', ...changes }) });

/** Fires without executing runs; they end at once, unless `lasting`. */
function aDaemon(policies: Policy[], { clock = heldClock(NOON), lasting = false } = {}) {
  const fire = firesInto(records, clock, lasting ? 'queued' : 'succeeded');
  const parts: SchedulerDeps = { policies: () => policies, records, clock, log: keptLog(), fire };
  return { policies, clock, parts, tick: () => tickOnce(parts) };
}

const ledger = () => records.ledger.between('sweep', 0, Number.MAX_SAFE_INTEGER, 100_000);
const inWords = ({ scheduledFor: moment, is, why }: ScheduledTime) =>
  `${new Date(moment).toISOString().slice(11, 16)} ${why ?? is}`;

const SEEDS = sampleOf(1, 8);

/** The same numbers for the same seed, each below `below`. */
function randomFrom(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

const schedules: [string, Partial<Schedule>][] = [
  ['without catchup', {}],
  ['with jitter', { jitterMs: 8 * MINUTE, catchupMs: HOUR }],
  ['catching the last one up', { catchupMs: HOUR }],
  ['catching all up', { catchupMs: HOUR, catchesAll: true }],
  ['with days of blackout', { blackout: [{ from: '2026-11-22', to: '2026-11-22' }], catchupMs: 2 * HOUR }],
];

test.each(schedules)(
  'through outages, pauses and killed daemons, each scheduled time of a policy %s has exactly one record',
  async (_, schedule) => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      await store.flushall();
      const random = randomFrom(seed);
      const policy = scheduled(schedule);
      const clock = heldClock(NOON);
      const daemons = [aDaemon([policy], { clock }), aDaemon([policy], { clock })];
      await daemons[0]?.tick();
      await live(daemons, clock, random);
      // Catching up in order takes several ticks.
      for (let tick = 0; tick < 40; tick += 1) await daemons[0]?.tick();

      const { cursor = 0 } = await records.policies.state('sweep');
      const due = scheduledTimesBetween(policy.schedule as Schedule, NOON, cursor);
      const written = await ledger();
      expect(written.map(({ scheduledFor: moment }) => moment)).toEqual(due);
      const runs = await records.runs.list({ policy: 'sweep', limit: 10_000 });
      expect(
        written
          .filter(({ is }) => is === 'ran')
          .map(({ run }) => run)
          .sort(),
      ).toEqual(runs.map(({ id }) => id).sort());
    }
  },
);

/**
 * Several hours of two daemons that are stopped, paused, resumed, killed, and read at the same time or one
 * after the other.
 */
async function live(
  daemons: readonly ReturnType<typeof aDaemon>[],
  clock: HeldClock,
  random: (below: number) => number,
): Promise<void> {
  for (let step = 0; step < 40; step += 1) {
    await clock.advance(random(4) === 0 ? random(5 * HOUR) : random(12 * MINUTE));
    if (random(8) === 0) await records.policies.pause('sweep', { at: clock.now(), by: 'anna' });
    if (random(4) === 0) await records.policies.resume('sweep', clock.now());
    const cut = random(3) === 0;
    const tick = ({ parts }: (typeof daemons)[number]) => tickOnce(cut ? cutOff(parts, random(3)) : parts);
    if (random(2) === 0) await Promise.all(daemons.map(tick));
    else for (const one of daemons.slice(random(2))) await tick(one);
  }
}

/** A daemon whose Redis fails after this many writes, as if it was killed there. */
function cutOff(parts: SchedulerDeps, after: number): SchedulerDeps {
  let left = after;
  const mayGoOn = () => {
    left -= 1;
    if (left < 0) throw new Error('killed');
  };
  const { ledger: whole } = parts.records;
  return {
    ...parts,
    async fire(policy, firing) {
      mayGoOn();
      return parts.fire(policy, firing);
    },
    records: {
      ...parts.records,
      ledger: Object.assign(Object.create(whole), {
        async record(...args: Parameters<typeof whole.record>) {
          mayGoOn();
          return whole.record(...args);
        },
      }),
    },
  };
}

test('a catch-up of all runs one after the other, and times that become due meanwhile wait for it', async () => {
  const policy = scheduled({ catchupMs: HOUR, catchesAll: true });
  const daemon = aDaemon([policy], { lasting: true });
  await daemon.tick();
  await daemon.clock.advance(35 * MINUTE);
  const endRuns = async () => {
    for (const run of await records.runs.active('default'))
      await records.runs.move(run, 'cancelled', { at: daemon.clock.now() });
  };
  const seen: string[][] = [];
  for (let round = 0; round < 4; round += 1) {
    await daemon.tick();
    await daemon.tick();
    seen.push((await ledger()).map(inWords));
    await daemon.clock.advance(3 * MINUTE);
    await endRuns();
  }
  expect(seen).toEqual([
    ['12:10 ran'],
    ['12:10 ran', '12:20 ran'],
    ['12:10 ran', '12:20 ran', '12:30 ran'],
    ['12:10 ran', '12:20 ran', '12:30 ran', '12:40 ran'],
  ]);
});

test('a scheduled time that another daemon has skipped meanwhile creates no run', async () => {
  const policy = scheduled();
  const late = aDaemon([policy]);
  await late.tick();
  await late.clock.advance(10 * MINUTE);
  const record = {
    scheduledFor: NOON + 10 * MINUTE,
    is: 'skipped' as const,
    why: 'paused' as const,
    at: NOON,
  };
  await records.ledger.record('sweep', [record], { to: NOON, schedule: 'UTC */10 * * * *' });

  await late.tick();

  expect(await records.runs.list({ policy: 'sweep', limit: 10 })).toEqual([]);
  expect(await ledger()).toEqual([record]);
});

test('the ledger is paged, newest first, and removes what is older than retention', async () => {
  const policy = scheduled();
  const daemon = aDaemon([policy]);
  await daemon.tick();
  await daemon.clock.advance(5 * HOUR);
  await daemon.tick();
  const first = await records.ledger.latest('sweep', 2);
  const second = await records.ledger.latest('sweep', 2, first.at(-1)?.scheduledFor);
  expect([...first, ...second].map(inWords)).toEqual([
    '17:00 ran',
    '16:50 missed',
    '16:40 missed',
    '16:30 missed',
  ]);

  expect(await records.ledger.prune(NOON + 4 * HOUR)).toBe(23);
  expect((await ledger()).map(inWords)[0]).toBe('16:00 missed');
});

describe('`why` explains in a sentence', () => {
  const asked = async (policy: Policy, when: string, now: number) => {
    const spans = spansOf(when, policy.schedule?.timezone ?? 'UTC', now);
    const { sentences } = await explain(records, policy, spans ?? [], now);
    return sentences;
  };

  test('a scheduled time that ran, was paused, missed, merged or is upcoming', async () => {
    const policy = scheduled({ cron: ['0 * * * *'], timezone: 'Europe/Berlin', catchupMs: 2 * HOUR });
    const daemon = aDaemon([policy]);
    await daemon.tick();
    await daemon.clock.advance(HOUR);
    await daemon.tick();
    await records.policies.pause('sweep', { at: daemon.clock.now(), by: 'anna', reason: 'the sale' });
    await daemon.clock.advance(HOUR);
    await daemon.tick();
    await records.policies.resume('sweep', daemon.clock.now());
    await daemon.clock.advance(4.5 * HOUR);
    await daemon.tick();
    const now = daemon.clock.now();
    const about = async (when: string) =>
      (await asked(policy, when, now)).map((one) => one.replace(/^sweep Sat 2026-11-21 /, ''));

    expect(await about('14:00')).toEqual([
      `14:00 Europe/Berlin: ran at Sat 2026-11-21 14:00: sweep.${NOON + HOUR}, succeeded.`,
    ]);
    expect(await about('15:00')).toEqual(['15:00 Europe/Berlin: was skipped: paused by anna: the sale.']);
    expect(await about('16:00')).toEqual([
      '16:00 Europe/Berlin: was missed. No daemon could fire it before Sat 2026-11-21 19:30, which was later than its catchup allows.',
    ]);
    expect(await about('18:00')).toEqual([
      `18:00 Europe/Berlin: was missed, and caught up by the run of Sat 2026-11-21 19:00 (sweep.${NOON + 6 * HOUR}, succeeded).`,
    ]);
    expect(await about('2026-11-21T18:00Z')).toEqual([
      `19:00 Europe/Berlin: ran at Sat 2026-11-21 19:30, caught up 30m late: sweep.${NOON + 6 * HOUR}, succeeded.`,
    ]);
    expect(await about('20:00')).toEqual(['20:00 Europe/Berlin: will fire on the minute.']);
    expect((await about('14:07')).slice(0, 2)).toEqual([
      'sweep is not due then: "0 * * * *" (Europe/Berlin) names no such time. The scheduled times around it are:',
      `  sweep Sat 2026-11-21 14:00 Europe/Berlin: ran at Sat 2026-11-21 14:00: sweep.${NOON + HOUR}, succeeded.`,
    ]);
    expect(await about('13:00')).toEqual([
      '13:00 Europe/Berlin: has no record: this schedule is active since Sat 2026-11-21 13:00.',
    ]);
    const off = { ...policy, schedule: { ...policy.schedule, disabled: true } } as Policy;
    expect(await asked(off, '13:00', now)).toEqual([
      'sweep Sat 2026-11-21 13:00 Europe/Berlin: has no record: this schedule is disabled (schedule.enabled: false), and known since Sat 2026-11-21 13:00.',
    ]);
    const day = await about('today');
    expect(day[0]).toBe(
      '00:00 to Sat 2026-11-21 13:00 Europe/Berlin, 14 scheduled times, each: has no record: this schedule is active since Sat 2026-11-21 13:00.',
    );
    expect(day.at(-1)).toMatch(
      /^20:00 to Sat 2026-11-21 23:00 Europe.Berlin, 4 scheduled times, each: will fire/,
    );
  });

  test('a run that is no longer stored, one that blocked another, and a policy that never fired', async () => {
    const policy = scheduled({ cron: ['0 * * * *'] });
    const ran = { scheduledFor: NOON, is: 'ran' as const, at: NOON, run: 'sweep.old' };
    const settle = () => records.ledger.record('sweep', [ran], { to: NOON, schedule: 'UTC 0 * * * *' });
    expect([await settle(), await settle()]).toEqual([1, 0]);
    expect(await asked(policy, '12:00', NOON + HOUR)).toEqual([
      'sweep Sat 2026-11-21 12:00 UTC: ran at Sat 2026-11-21 12:00: sweep.old, which is no longer stored.',
    ]);

    const spans = spansOf('14:00', 'UTC', NOON) ?? [];
    const never = scheduled({ cron: ['0 0 31 2 *'] });
    expect(await asked(never, '14:00', NOON)).toEqual([
      'sweep is not due then: "0 0 31 2 *" (UTC) names no such time. It names no other either.',
    ]);
    const note = 'The run sweep.old was still active (schedule.overlap: skip).';
    const skipped = {
      scheduledFor: NOON + HOUR,
      is: 'skipped' as const,
      why: 'overlap' as const,
      at: NOON,
      note,
    };
    await records.ledger.record('sweep', [skipped], { to: NOON + HOUR, schedule: 'UTC 0 * * * *' });
    expect(await asked(policy, '13:00', NOON + 2 * HOUR)).toEqual([
      'sweep Sat 2026-11-21 13:00 UTC: was skipped. The run sweep.old was still active (schedule.overlap: skip).',
    ]);
    expect(await explain(undefined, policy, spans, NOON)).toMatchObject({
      scheduled_times: [{ is: 'upcoming' }],
      sentences: ['sweep Sat 2026-11-21 14:00 UTC: will fire on the minute.'],
    });
  });

  test('a scheduled time that is due while no daemon is running, or that a blackout will skip', async () => {
    const policy = scheduled({ cron: ['0 * * * *'], blackout: [{ from: '2026-11-22', to: '2026-11-23' }] });
    await aDaemon([policy]).tick();
    expect(await asked(policy, '13:00', NOON + HOUR + 1)).toEqual([
      'sweep Sat 2026-11-21 13:00 UTC: is due, but no daemon with the role scheduler is active; "caretaker daemon" starts one.',
    ]);
    expect(await asked(policy, '2026-11-22T02:00', NOON)).toEqual([
      'sweep Sun 2026-11-22 02:00 UTC: will be skipped unless this changes: blackout 2026-11-22 to 2026-11-23.',
    ]);
  });

  test('days in words, times that occur twice or never, and nothing else', () => {
    expect(spansOf('yesterday', 'Europe/Berlin', NOON)?.[0]?.from).toBe(Date.parse('2026-11-19T23:00Z'));
    expect(spansOf('2026-10-25', 'Europe/Berlin', NOON)).toEqual([
      { from: Date.parse('2026-10-24T22:00Z'), to: Date.parse('2026-10-25T23:00Z') - 1 },
    ]);
    expect(spansOf('2026-10-25T02:30', 'Europe/Berlin', NOON)?.map(({ from }) => from)).toEqual([
      Date.parse('2026-10-25T00:30Z'),
      Date.parse('2026-10-25T01:30Z'),
    ]);
    // A day without midnight begins at one o'clock.
    expect(spansOf('2026-09-06', 'America/Santiago', NOON)).toEqual([
      { from: Date.parse('2026-09-06T04:00Z'), to: Date.parse('2026-09-07T03:00Z') - 1 },
    ]);
    for (const nonsense of ['soon', '2026-02-30', '25:00', '', '2026-11-21T1:00'])
      expect(spansOf(nonsense, 'UTC', NOON)).toBeUndefined();
  });
});
