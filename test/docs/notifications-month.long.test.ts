/**
 * A month of an agency with 20 policies at a held time, over real Redis and a real receiver: every message that the
 * operator gets is in the table of docs/notifications-month.md. `npm run docs` writes it.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { isoMinute } from '../../src/clock.ts';
import { attempt } from '../../src/notify/attempt.ts';
import { openConnections } from '../../src/notify/post.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { keys } from '../../src/records/keys.ts';
import type { Records } from '../../src/records/records.ts';
import type { Run, RunStatus } from '../../src/run/run.ts';
import { systemWords } from '../../src/settings/notify-words.ts';
import { startReceiver } from '../notify/receiver.ts';
import { activeRun, aWorld, letterOf, NOON, telling, webhooks } from '../notify/world.ts';
import { row, withRows } from './table.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
/** Midnight after the held clock's start: the first of the 30 days. */
const START = NOON + 12 * HOUR;
const words = ['failed', 'partial', 'stopped', 'blocked', 'paused', 'findings', 'recovered', 'deadline'];
const toOps = telling({ on: [...words, 'approval-wanted', 'approval-expired'], to: 'ops' }).notify;

interface Kind {
  name: string;
  everyMs: number;
  atMs: number;
}
const numbered = (name: string, count: number, everyMs: number, atMs: number): Kind[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `${name}-${index + 1}`,
    everyMs,
    atMs: atMs + index * MINUTE,
  }));
/** Ten each night, four each hour, three checks each morning, two each week, one each month. */
const kinds = [
  ...numbered('sync', 10, DAY, 2 * HOUR),
  ...numbered('watch', 4, HOUR, 10 * MINUTE),
  ...numbered('check', 3, DAY, 7 * HOUR),
  ...numbered('updates', 2, 7 * DAY, 3 * HOUR),
  ...numbered('reports', 1, 30 * DAY, 9 * HOUR),
];

/** What becomes of a run. `day` counts from 1, `hour` from 0. */
function statusOf(name: string, day: number, hour: number): { status: RunStatus; reason?: string } {
  const failed = (status: RunStatus, reason: string) => ({ status, reason });
  // One site is slow for three nights; the service fails for one night; a token is wrong in another.
  if (name === 'sync-3' && day >= 3 && day <= 5) return failed('partial', 'timeout');
  if (name.startsWith('sync') && day === 12) return failed('failed', 'server-error');
  if (name === 'sync-7' && day >= 20 && day <= 22) return failed('failed', 'conflict');
  // An hourly policy fails for 20 hours, and another one fails for one hour now and then.
  if (name === 'watch-1' && ((day === 6 && hour >= 8) || (day === 7 && hour < 4)))
    return failed('failed', 'timeout');
  if (name === 'watch-2' && day % 10 === 9 && hour === 14) return failed('partial', 'conflict');
  if (name === 'updates-1' && day === 15) return failed('stopped', 'task-failed');
  return { status: 'succeeded' };
}

/** The targets of a run that becomes this, when so many of them have ended. */
function countsOf({ status, reason }: ReturnType<typeof statusOf>, ended: number) {
  const failed = reason === undefined ? 0 : status === 'failed' ? 40 : 3;
  return { planned: 40, succeeded: Math.max(0, ended - failed), failed, skipped: 0, cancelled: 0 };
}

const findingsOf = (name: string, day: number): Run['findings'] =>
  name !== 'check-1'
    ? undefined
    : day === 4
      ? { open: 2, new: 2, resolved: 0 }
      : day === 9
        ? { open: 0, new: 0, resolved: 2 }
        : undefined;

/** The runs of an hour, in order. */
const dueIn = (from: number): { kind: Kind; at: number }[] =>
  kinds
    .flatMap((kind) => {
      const first = from + ((kind.atMs - (from - START)) % kind.everyMs);
      const at = first < from ? first + kind.everyMs : first;
      return at < from + HOUR ? [{ kind, at }] : [];
    })
    .sort((a, b) => a.at - b.at);

const file = 'policies/reports.yaml';
/** What happens in addition to runs: a time that is missed, a file that breaks and is fixed. */
async function accidents(records: Records, hour: number, from: number): Promise<void> {
  if (hour === 15 * 24 + 8)
    await records.ledger.record('check-2', [{ scheduledFor: from - HOUR, is: 'missed', at: from }], {
      to: from,
      schedule: 'x',
    });
  if (hour === 18 * 24 + 11)
    await records.alerts.raise(file, {
      type: 'system',
      event: 'policy-file-broken',
      at: from,
      detail: `The policy file ${file} has errors: ${file}:7:5: "cron" must have five fields.`,
    });
  if (hour === 18 * 24 + 12)
    await records.alerts.clear(file, from, {
      type: 'system',
      event: 'policy-file-fixed',
      at: from,
      detail: `The policy file ${file} has no errors any more.`,
    });
}

/** A night in which no machine ran. */
const isDown = (at: number) => at >= START + 14 * DAY + 23 * HOUR && at < START + 15 * DAY + 8 * HOUR;
const isBlocked = (at: number) => at >= START + 7 * DAY + 1.5 * HOUR && at < START + 7 * DAY + 6.5 * HOUR;

async function aMonth() {
  const ops = await startReceiver(204);
  const settings = webhooks({ ops }, undefined, { group_wait: 15 * MINUTE, events: systemWords });
  const world = await aWorld(settings);
  const { records, clock, log, redis } = world;
  const dispatcher = openConnections(() => true);
  const deps = { records, settings: { notifications: settings }, clock, log, dispatcher };

  const deliver = async () => {
    await world.notifier.tick();
    for (const { id } of await records.deliveries.due(clock.now(), 100)) await attempt(deps, id);
  };
  /** Moves time, and stops where a hold is due. */
  const until = async (at: number) => {
    for (;;) {
      const [, due] = await redis.zrange(keys.holds, '0', '0', 'WITHSCORES');
      if (due === undefined || Number(due) > at) break;
      await clock.advance(Math.max(0, Number(due) - clock.now()));
      await deliver();
    }
    await clock.advance(Math.max(0, at - clock.now()));
  };

  const end = async (run: Run, status: RunStatus) => {
    const at = clock.now();
    await records.runs.move(run, status, { at, notice: { type: 'run', run: run.id, status, at } });
  };
  const fire = async ({ name, atMs }: Kind, scheduledFor: number) => {
    const [day, hour] = [Math.floor((scheduledFor - START) / DAY) + 1, new Date(scheduledFor).getUTCHours()];
    const result = statusOf(name, day, hour);
    const { status, reason } = result;
    const findings = findingsOf(name, day);
    const isLate = name === 'sync-9' && day === 25;
    const counts = countsOf(result, isBlocked(scheduledFor) ? 0 : isLate ? 12 : 40);
    const policy: Policy = { ...telling(...toOps), name };
    const run = await activeRun(world, policy, {
      id: `${name}.${scheduledFor + atMs}`,
      counts,
      ...(findings && { findings }),
      ...(isLate && { dueBy: scheduledFor + HOUR }),
    });
    if (reason !== undefined) await redis.hset(keys.reasons(run.id), `failed ${reason}`, counts.failed);
    if (isBlocked(scheduledFor)) {
      await records.accounts.block('default', { since: clock.now(), why: 'HTTP 401.' });
      await end(run, 'blocked');
      return run;
    }
    if (run.dueBy !== undefined) {
      const late = { at: clock.now(), is: 'predicted', expected: run.dueBy + HOUR } as const;
      await records.late.note(run.id, late, { type: 'deadline', run: run.id, at: clock.now() });
      await deliver();
    }
    await end(run, status);
    if (name === 'sync-7' && day === 22) {
      const pause = { at: clock.now(), by: 'caretaker', reason: '3 runs failed in a row' };
      await records.policies.pause(name, pause, { type: 'paused', run: run.id, ...pause });
    }
    return undefined;
  };

  const beats = { type: 'system', event: 'nobody-running' } as const;
  const alive = (at: number) =>
    records.alerts.noteAlive(at, 2 * HOUR, (since) => ({
      ...beats,
      at,
      detail: `No daemon was recorded as working from ${isoMinute(since)} to ${isoMinute(at)}.`,
    }));
  const blocked: Run[] = [];
  for (let hour = 0; hour < 30 * 24; hour += 1) {
    const from = START + hour * HOUR;
    if (isDown(from)) continue;
    await until(from);
    await alive(from);
    await accidents(records, hour, from);
    if (blocked.length > 0 && !isBlocked(from)) {
      await records.accounts.unblock('default', from);
      for (const run of blocked.splice(0)) {
        await records.runs.move(run, 'running', { at: from });
        await end(run, 'succeeded');
      }
    }
    await deliver();
    for (const { kind, at } of dueIn(from)) {
      // After its automatic pause, a person resumes the policy two days later.
      if (kind.name === 'sync-7' && at > START + 22 * DAY && at < START + 24 * DAY) continue;
      await until(at);
      const run = await fire(kind, at);
      if (run) blocked.push(run);
      await deliver();
    }
    await until(from + HOUR - 1);
  }
  await until(START + 30 * DAY + HOUR);
  await dispatcher.close();
  return ops;
}

test('an operator of 20 policies gets fewer than 60 messages in a month with failures, and none twice', async () => {
  const ops = await aMonth();

  const letters = ops.received.map((_, index) => letterOf(ops, index));
  expect(letters.length).toBeLessThan(60);
  const dayOf = (time: string) => Math.floor((Date.parse(time) - START) / DAY) + 1;
  const texts = letters.map(({ timestamp, data }) => `${dayOf(timestamp)} ${data.text}`);
  expect(new Set(texts).size).toBe(texts.length);
  const rows = letters.map(({ timestamp, type, data }) => {
    const cell = data.text.replaceAll('|', '\\|').replaceAll('\n', '<br>');
    return row([`${dayOf(timestamp)}`, timestamp.slice(11, 16), `\`${type}\``, cell]);
  });
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/notifications-month.md'), 'utf8');
  const counted = page.replace(/^\d+ messages:$/m, `${letters.length} messages:`);
  await expect(withRows(counted, '| day | time |', rows)).toMatchFileSnapshot(
    '../../docs/notifications-month.md',
  );
});
