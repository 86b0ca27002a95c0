/** Recurring freezes: each occurrence is recorded as a freeze, and follows the rules. */
import { beforeEach, expect, test } from 'vitest';
import type { RecurringFreeze } from '../../src/records/freeze-scope.ts';
import { openRecords } from '../../src/records/records.ts';
import { freezesBetween, noteMaintenance } from '../../src/schedule/maintenance.ts';
import { skipCauseOf } from '../../src/schedule/skip-cause.ts';
import type { Maintenance } from '../../src/settings/maintenance.ts';
import { aSchedule } from '../support/builders.ts';
import { redisOfFile } from '../support/redis-of-file.ts';

const HOUR = 3_600_000;
/** A Friday. */
const NOW = Date.parse('2026-11-20T12:00Z');
const sunday = Date.parse('2026-11-21T23:00Z'); // in Berlin
const rule: Maintenance = {
  ...{ name: 'sundays', cron: ['0 0 * * sun'], timezone: 'Europe/Berlin', forMs: 24 * HOUR },
  scope: { client: 'Acme' },
};
const policy = { name: 'sync', account: 'default', job: 'site-sync' };

const { redis } = await redisOfFile();
const records = openRecords(redis);
beforeEach(() => redis.flushall());

const note = (rules: readonly Maintenance[], now = NOW) =>
  noteMaintenance(records, rules, { now: () => now }, { drops: true });
const activeAt = async (now: number) => (await records.freeze.active(now)).map(({ id }) => id);

test('a freeze holds from its begin to its end, for the targets of the client, and is known before', async () => {
  await note([rule]);
  await note([rule]);

  expect((await records.freeze.parts()).map(({ at }) => at)).toEqual([sunday]);
  expect(await activeAt(sunday - 1)).toEqual([]);
  const [freeze] = await records.freeze.ofTargets(policy, sunday);
  expect(freeze).toMatchObject({ by: 'maintenance sundays', reason: 'sundays', until: sunday + 24 * HOUR });
  expect(await records.freeze.ofTargets(policy, sunday + 24 * HOUR)).toEqual([]);
  // A process that begins in the middle of it knows it too.
  await redis.flushall();
  await note([rule], sunday + HOUR);
  expect(await activeAt(sunday + HOUR)).toHaveLength(1);
});

test('scheduled times of a policy in it are skipped, and predicted to be', async () => {
  await note([{ ...rule, scope: { policy: 'sync' }, reason: 'closed' }]);
  const state = await records.policies.state(policy);
  const at = (time: number) =>
    skipCauseOf(aSchedule(), state, { scheduledFor: time, dueAt: time })?.note?.replace(/since.*Z /, '');
  expect(at(sunday + HOUR)).toContain('closed');
  expect(at(sunday - HOUR)).toBeUndefined();
  expect((await records.policies.state({ ...policy, name: 'other' })).freezes).toBeUndefined();
});

test('a rule that is changed or removed takes back what it would have frozen, and only that', async () => {
  await records.freeze.add({ scope: { tag: 'x' }, at: NOW, by: 'anna', until: NOW + 30 * 24 * HOUR });
  await note([rule]);
  await note([{ ...rule, forMs: 2 * HOUR }]);
  expect((await records.freeze.parts()).map(({ until }) => until)).toContain(sunday + 2 * HOUR);
  await note([]);
  expect((await records.freeze.parts()).map(({ by }) => by)).toEqual(['anna']);

  // While it holds: what it froze until then stays so.
  await note([rule], sunday + HOUR);
  await note([], sunday + 2 * HOUR);
  expect(await activeAt(sunday + 2 * HOUR)).toEqual(['1']);
  expect((await records.freeze.parts()).find(({ by }) => by !== 'anna')).toMatchObject({
    at: sunday,
    until: sunday + 2 * HOUR,
  });
});

test('a process with other rules, as of a command with another file, takes nothing back', async () => {
  await note([rule]);
  await noteMaintenance(records, [], { now: () => NOW });
  expect(await records.freeze.parts()).toHaveLength(1);
});

test('one that a person ended stays ended, and the next one comes', async () => {
  await note([rule], sunday + HOUR);
  const [id = ''] = await activeAt(sunday + HOUR);
  await records.freeze.lift(String(id), sunday + 2 * HOUR);
  await note([rule], sunday + 3 * HOUR);
  expect(await activeAt(sunday + 3 * HOUR)).toEqual([]);
  await note([rule], sunday + 5 * 24 * HOUR);
  expect(await activeAt(sunday + 7 * 24 * HOUR)).toHaveLength(1);
});

/** What anna froze again and again. */
const recurring: RecurringFreeze = {
  ...{ id: '7', scope: { policy: 'nightly-*' }, at: NOW, by: 'anna', reason: 'closed', until: NOW },
  rule: { id: '7', cron: ['0 0 * * sun'], timezone: 'Europe/Berlin', forMs: 24 * HOUR },
};

test('what a person froze again and again holds beside the rules of the settings, until its end', async () => {
  await records.freeze.addRule(recurring);
  await note([rule]);
  const nightly = { ...policy, name: 'nightly-sync' };
  expect(await records.freeze.over(nightly, sunday + HOUR)).toMatchObject({ by: 'anna', reason: 'closed' });
  expect(await records.freeze.over(policy, sunday + HOUR), 'of another name').toBeUndefined();

  expect(await records.freeze.endRule('7', sunday + HOUR)).toMatchObject({ by: 'anna' });
  await note([rule], sunday + HOUR);
  expect(await records.freeze.over(nightly, sunday + HOUR)).toBeUndefined();
  expect(await activeAt(sunday + HOUR), 'the other rule').toHaveLength(1);
  expect(await records.freeze.over(nightly, sunday + HOUR - 1), 'what it froze').toBeDefined();
});

test('one time of a rule can be ended before it begins, and the others come', async () => {
  await records.freeze.addRule(recurring);
  await note([]);
  const [first] = await records.freeze.parts();
  await records.freeze.lift(first?.id ?? '', NOW + HOUR);
  await note([], NOW + 2 * HOUR);
  await note([], sunday + HOUR);
  expect(await activeAt(sunday + HOUR)).toEqual([]);
  await note([], sunday + 5 * 24 * HOUR);
  expect(await activeAt(sunday + 7 * 24 * HOUR)).toHaveLength(1);
});

test('a calendar of any week has the times of each rule once, also beyond those that are recorded', async () => {
  await records.freeze.addRule(recurring);
  await note([rule]);
  const inWeek = async (weeks: number) => {
    const from = NOW + weeks * 7 * 24 * HOUR;
    const found = await freezesBetween(records, { from, to: from + 7 * 24 * HOUR, now: NOW });
    return found.map(({ at, by }) => `${by} ${(at - sunday) / (7 * 24 * HOUR)}`).sort();
  };
  for (const week of [0, 1, 2, 5])
    expect(await inWeek(week)).toEqual([`anna ${week}`, `maintenance sundays ${week}`]);
  expect(await inWeek(-1)).toEqual([]);
});
