/** Policies that follow another (`schedule.after`), with a real Redis and the engine. */
import { afterEach, expect, test } from 'vitest';
import type { Caretaker } from '../../src/app/caretaker.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { Run, RunStatus } from '../../src/run/run.ts';
import { planBackfill } from '../../src/schedule/backfill.ts';
import { type Agenda, tickOnce } from '../../src/schedule/scheduler.ts';
import { explain } from '../../src/schedule/why.ts';
import { aGate, around } from '../support/between.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';

const HOUR = 3_600_000;

let world: World;
afterEach(() => world.stop());

const sync = aPolicy({ name: 'sync', hash: 'sync' });
const follows = (name: string, changes: Partial<NonNullable<Policy['schedule']>> = {}): Policy => {
  const after = { policy: 'sync', status: ['succeeded' as const], withinMs: 6 * HOUR };
  const schedule = aSchedule({ cron: [], after, ...changes });
  return aPolicy({ name, schedule, hash: JSON.stringify(schedule) });
};
const check = follows('check');

/** A scheduler of its own, as each daemon has one. */
function daemon({ engine, records, log }: Caretaker, policies: () => readonly Policy[]) {
  const agenda: Agenda = new Map();
  const fire: Parameters<typeof tickOnce>[0]['fire'] = (policy, firing) => engine.fire(policy, firing);
  return () => tickOnce({ policies, fire, records, clock: world.clock, log }, agenda);
}

/** A run of `sync` that ended with this status; no worker runs, so only the records are moved. */
async function ends(status: RunStatus, changes: Partial<Run> = {}): Promise<Run> {
  const { engine, records } = world.caretaker;
  const allowing = { ...sync, schedule: aSchedule({ cron: [], overlap: 'allow' }) };
  const { trigger = 'manual', scheduledFor = world.clock.now(), retryOf } = changes;
  const firing = { trigger, scheduledFor, ...(retryOf === undefined ? {} : { retryOf }) };
  const run = await engine.fire(allowing, firing);
  await records.runs.move(run, 'planning', { at: world.clock.now() });
  await records.runs.move(run, 'running', { at: world.clock.now(), planComplete: true });
  expect(await records.runs.move(run, status, { at: world.clock.now() })).toBe(true);
  return run;
}

const runsOf = (policy: string) => world.caretaker.records.runs.list({ policy, limit: 1_000 });
const ledgerOf = (policy: string) =>
  world.caretaker.records.ledger.between(policy, 0, Number.MAX_SAFE_INTEGER, 1_000);

async function started(policies: () => readonly Policy[] = () => [sync, check]) {
  world = await startWorld({ sites: 1, work: false, before: quickSyncs });
  const tick = daemon(world.caretaker, policies);
  await tick();
  return tick;
}

test.each(['before-create', 'after-create', 'before-cursor'] as const)(
  'a daemon that dies %s leaves exactly one run after the other, which other daemons complete',
  async (cut) => {
    const one = await started();
    const [dying, other] = [await world.another({ work: false }), await world.another({ work: false })];
    const death = aGate();
    const dieAt = (step: typeof cut) => (step === cut ? death.pass() : undefined);
    around(dying.records.runs, 'create', async (create) => {
      await dieAt('before-create');
      const made = await create();
      await dieAt('after-create');
      return made;
    });
    around(dying.records.ledger, 'record', async (record) => {
      await dieAt('before-cursor');
      return record();
    });
    const first = await ends('succeeded');
    void daemon(dying, () => [sync, check])();
    await death.reached;

    const ticks = [one, daemon(other, () => [sync, check])];
    await Promise.all(ticks.map((tick) => tick()));
    const working = other.engine.work(10);
    const [run] = await runsOf('check');
    expect(await world.ended(run?.id ?? '')).toMatchObject({ status: 'succeeded', afterRun: first.id });
    await working.stop();
    const second = await ends('succeeded');
    await Promise.all(ticks.map((tick) => tick()));

    expect((await runsOf('check')).map(({ afterRun }) => afterRun)).toEqual([second.id, first.id]);
    expect((await ledgerOf('check')).map(({ is, after }) => [is, after])).toEqual([
      ['ran', first.id],
      ['ran', second.id],
    ]);
  },
);

test('several daemons that check at once start one run for each end, also for ends in the same millisecond', async () => {
  const allowing = follows('check', { overlap: 'allow' });
  await started(() => [sync, allowing]);
  const others = await Promise.all([1, 2, 3].map(() => world.another({ work: false })));
  const ticks = others.map((one) => daemon(one, () => [sync, allowing]));
  const still = world.clock.now();
  world.clock.now = () => still;
  const ended = await Promise.all(
    // Manual runs of one second have random ids, which may be equal.
    Array.from({ length: 20 }, (_, nth) => ends('succeeded', { scheduledFor: still + nth * 1_000 })),
  );
  world.clock.now = () => still + 1_000;

  await Promise.all(ticks.map((tick) => tick()));
  await Promise.all(ticks.map((tick) => tick()));

  const runs = await runsOf('check');
  expect(runs.map(({ afterRun }) => afterRun).sort()).toEqual(ended.map(({ id }) => id).sort());
  expect(new Set(runs.map(({ trigger, status }) => `${trigger} ${status}`))).toEqual(
    new Set(['after queued']),
  );
  expect(new Set((await ledgerOf('check')).map(({ is }) => is))).toEqual(new Set(['ran']));
});

test('a retry that succeeds starts the run that its failed run did not start', async () => {
  const tick = await started();
  const failed = await ends('failed');
  await tick();
  const { id } = await ends('succeeded', { trigger: 'retry', retryOf: failed.id });
  await tick();
  expect(await runsOf('check')).toMatchObject([{ afterRun: id }]);
  await ends('succeeded', { trigger: 'retry', retryOf: id });
  await tick();
  expect(await runsOf('check')).toHaveLength(1);
});

test('while a run of the policy is active, its overlap rule decides about the next, and the ledger records both', async () => {
  const tick = await started();
  await ends('succeeded');
  await ends('succeeded');
  await tick();
  expect((await ledgerOf('check')).map(({ is, why }) => [is, why])).toEqual([
    ['ran', undefined],
    ['skipped', 'overlap'],
  ]);
});

test('a paused policy starts no run, its record says who paused it, and a backfill makes up for it', async () => {
  const tick = await started();
  const { records, engine } = world.caretaker;
  await records.policies.pause('check', { at: world.clock.now(), by: 'anna', reason: 'the sale' });
  const { id } = await ends('succeeded');
  await tick();

  expect(await runsOf('check')).toEqual([]);
  const [record] = await ledgerOf('check');
  expect(record).toMatchObject({ is: 'skipped', why: 'paused', note: 'by anna: the sale', after: id });
  const now = world.clock.now();
  const { sentences } = await explain(records, check, [{ from: now - HOUR, to: now }], now);
  expect(sentences).toEqual([
    expect.stringContaining(`was skipped: paused by anna: the sale. It follows ${id}, which ended then.`),
  ]);

  const planned = await planBackfill(records, check, { from: now - HOUR, to: now }, 'none', now);
  expect(planned).toMatchObject([{ fires: true, afterRun: id, scheduledFor: record?.scheduledFor }]);
  const firing = { trigger: 'backfill' as const, scheduledFor: record?.scheduledFor ?? 0, afterRun: id };
  expect(await engine.fire(check, firing)).toMatchObject({ afterRun: id, status: 'queued' });
  // After it is resumed, it continues with new ends.
  await records.policies.resume('check', world.clock.now());
  await tick();
  expect(await ledgerOf('check')).toHaveLength(1);
});

test('an end that no daemon noticed within the time allowed is recorded as missed', async () => {
  await started();
  const { id } = await ends('succeeded');
  world.clock.leap(6 * HOUR + 60_000);
  const restarted = daemon(await world.another({ work: false }), () => [sync, check]);
  await restarted();

  expect(await runsOf('check')).toEqual([]);
  expect(await ledgerOf('check')).toMatchObject([{ is: 'missed', after: id }]);
  const now = world.clock.now();
  const { sentences } = await explain(
    world.caretaker.records,
    check,
    [{ from: now - 7 * HOUR, to: now }],
    now,
  );
  expect(sentences[0]).toContain('was missed. No daemon could fire it before');
  expect(sentences[0]).toContain('later than its "within" allows');
});

test('why says that a run ended and starts nothing, and that none ended', async () => {
  const tick = await started();
  const from = world.clock.now();
  const { id } = await ends('partial');
  await tick();
  const now = world.clock.now();
  const { records } = world.caretaker;
  const { scheduled_times: times } = await explain(records, check, [{ from, to: now }], now);
  expect(times).toMatchObject([{ is: 'not-followed', run: null, after_run: id }]);
  expect(times[0]?.sentence).toContain(
    `${id} ended then and starts no run: it ended partial, not succeeded.`,
  );
  const { sentences } = await explain(records, check, [{ from: 0, to: 1 }], now);
  expect(sentences).toEqual([
    'check is not due then: it runs after sync, of which no run ended at that time.',
  ]);
});

test('a new policy ignores earlier ends, and so does one that follows another policy from now on', async () => {
  world = await startWorld({ sites: 1, work: false });
  await ends('succeeded');
  world.clock.leap(60_000);
  let policies = [sync, check];
  const tick = daemon(world.caretaker, () => policies);
  await tick();
  expect(await ledgerOf('check')).toEqual([]);

  policies = [
    sync,
    aPolicy({ name: 'other' }),
    follows('check', { after: { policy: 'other', status: ['succeeded'], withinMs: HOUR } }),
  ];
  await tick();
  await ends('succeeded');
  await tick();
  expect(await ledgerOf('check')).toEqual([]);
});

test('a policy whose predecessor was removed starts nothing, reports that once, and continues when it is back', async () => {
  let policies = [sync, check];
  const tick = await started(() => policies);
  policies = [check];
  const { id } = await ends('succeeded');
  await tick();
  await tick();
  expect(await runsOf('check')).toEqual([]);
  const said = world.log.lines.filter((line) => line.includes('the policy check starts no runs'));
  expect(said).toHaveLength(1);
  expect(said[0]).toContain('There is no policy "sync", so check is not scheduled.');

  policies = [sync, check];
  await tick();
  expect(await runsOf('check')).toMatchObject([{ afterRun: id }]);
});

test('policies that follow each other start no runs, whichever run ends', async () => {
  const back = aPolicy({
    name: 'sync',
    hash: 'back',
    schedule: aSchedule({ cron: [], after: { policy: 'check', status: ['succeeded'], withinMs: HOUR } }),
  });
  const tick = await started(() => [back, check]);
  await ends('succeeded');
  await tick();
  expect(await runsOf('check')).toEqual([]);
  expect(world.log.lines.join('\n')).toContain('in a loop: check -> sync -> check');
});

test('a tick that finds no new end reads no policy', async () => {
  const tick = await started();
  await ends('succeeded');
  await tick();
  await tick();
  const { records } = world.caretaker;
  let reads = 0;
  const many = records.policies.many.bind(records.policies);
  records.policies.many = (names) => {
    reads += 1;
    return many(names);
  };
  await tick();
  expect(reads).toBe(0);
});

test('the end of a run is removed together with the run', async () => {
  await started();
  await ends('succeeded');
  const { records } = world.caretaker;
  expect(await records.ends.latest(['sync', 'check'])).toEqual(new Map([['sync', expect.any(Number)]]));
  await records.runs.prune(world.clock.now() + HOUR);
  expect(await records.ends.latest(['sync'])).toEqual(new Map());
});

test('an end at a time that the clock has gone back from starts its run at once, and so does the next end', async () => {
  const allowing = follows('check', { overlap: 'allow' });
  const tick = await started(() => [sync, allowing]);
  const { now } = world.clock;
  world.clock.now = () => now() + HOUR;
  const first = await ends('succeeded');
  world.clock.now = now;

  await tick();
  expect((await runsOf('check')).map(({ afterRun }) => afterRun)).toEqual([first.id]);
  const second = await ends('succeeded');
  await tick();
  await tick();

  expect((await runsOf('check')).map(({ afterRun }) => afterRun).sort()).toEqual(
    [first.id, second.id].sort(),
  );
});
