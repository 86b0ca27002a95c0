/**
 * The commands about scheduled times: `next`, `why`, `backfill` and `freeze`, and a policy that paused itself.
 */
import { afterAll, expect, test } from 'vitest';
import { openCaretaker } from '../../src/app/caretaker.ts';
import { timesKey } from '../../src/schedule/due.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';
import { fastClock } from '../support/caretaker.ts';
import { keptLog } from '../support/quiet.ts';
import { clearOfTheHour } from '../support/time-of-day.ts';
import { sandboxOfFile } from './desk-of-file.ts';

const DAY = 86_400_000;

await clearOfTheHour();
const clock = fastClock(5, Date.now());
const { sandbox, desk } = await sandboxOfFile({ sites: 2, clock });
for (const id of sandbox.siteIds()) sandbox.site(id).connect();
desk.write(
  'config/policies/own.yaml',
  `policies:
  - name: daily
    job: site-sync
    schedule: { cron: "0 3 * * *", jitter: 10m, spread: 2s, pause_after_failures: 2 }
  - name: resting
    job: site-sync
    schedule: { cron: "0 3 * * *", timezone: Asia/Tokyo, blackout: [{ from: 2020-01-01, to: 2099-12-31 }] }
`,
);
const env = {
  CARETAKER_BASE_URL: sandbox.url,
  CARETAKER_API_TOKEN: sandbox.token,
  REDIS_URL: (await desk.keepRedis()).redis.where,
};
/** The Caretaker that a daemon would open here. */
const caretaker = await openCaretaker({
  ...{ settings: loadSettings({ cwd: desk.folder, env }), log: keptLog(), clock },
});
afterAll(() => caretaker.close());

/** The day this many days from today, in UTC. */
const day = (from: number) => new Date(Date.now() + from * DAY).toISOString().slice(0, 10);
const three = (from: number) => `${day(from)}T03:00:00.000Z`;

interface Coming {
  policy: string;
  scheduled_for: string;
  fires_at: string;
  timezone: string;
  skipped: { why: string; note: string | null } | null;
}
const coming = (policy: string) => desk.json<Coming[]>(['next', policy, '--until', '3d']);

test('upcoming runs are listed with their jitter, and those that will be skipped with the reason', async () => {
  const tomorrow = (await coming('daily')).find((one) => one.scheduled_for === three(1));
  expect(tomorrow).toMatchObject({ policy: 'daily', timezone: 'UTC', skipped: null });
  const late = Date.parse(tomorrow?.fires_at ?? '') - Date.parse(three(1));
  expect(late).toBeGreaterThanOrEqual(0);
  expect(late).toBeLessThan(600_000);

  const { code, stdout } = await desk.run(['next', '--until', '3d']);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`${day(1)} 03:0\\d(:\\d\\d)? UTC .* daily +site-sync$`, 'm'));
  expect(stdout).toMatch(
    /\d 03:00 Asia\/Tokyo .* resting +site-sync +skipped: blackout 2020-01-01 to 2099-12-31$/m,
  );
});

test('any scheduled time is explained in a sentence, past or to come', async () => {
  const schedule = { cron: ['0 3 * * *'], timezone: 'UTC' };
  const missed = { scheduledFor: Date.parse(three(-2)), is: 'missed' as const, at: Date.parse(three(-1)) };
  await caretaker.records.ledger.record('daily', [missed], {
    to: Date.parse(three(-1)),
    schedule: timesKey(schedule),
  });

  const past = await desk.run(['why', 'daily', day(-2)]);
  expect(past.code).toBe(0);
  expect(past.stdout).toMatch(new RegExp(`^daily \\w+ ${day(-2)} 03:00 UTC: was missed.*\\n$`));
  const next = await desk.run(['why', 'daily', `${day(1)}T03:00`, '--json']);
  expect(JSON.parse(next.stdout).sentence).toMatch(/: will fire at 03:0\d/);
  const odd = await desk.run(['why', 'daily', 'gestern']);
  expect(odd).toMatchObject({ code: 2, stdout: '' });
  expect(odd.stderr).toMatch(/^error: "gestern" is not a day or a time\. Use a form such as .*\.$/m);
});

test('a backfill first shows what it would do, runs the times without a run, and does so only once', async () => {
  const backfill = (...options: string[]) =>
    desk.run(['backfill', 'daily', '--from', day(-3), '--to', day(-2), ...options]);
  const times = async (...options: string[]) =>
    JSON.parse((await backfill('--dry-run', '--json', ...options)).stdout).scheduled_times;

  const dry = await backfill('--dry-run');
  expect(dry.code).toBe(0);
  expect(dry.stdout).toMatch(new RegExp(`${day(-3)} 03:00 UTC +run +it has no record$`, 'm'));
  expect(dry.stdout).toMatch(new RegExp(`${day(-2)} 03:00 UTC +run +missed`, 'm'));
  expect(dry.stderr).toContain(
    '2 runs of daily, one after the other. This was a dry run: no run was started.',
  );
  expect(sandbox.journal.effects).toEqual([]);

  const done = await backfill();
  expect(done.code).toBe(0);
  expect(done.stdout.match(/^daily\.\S+-backfill succeeded in /gm)).toHaveLength(2);
  expect(done.stderr).toMatch(/-backfill starts 2 targets from \S+ \S+Z until \S+ \S+Z, one every 1s\.$/m);
  expect(sandbox.journal.effectsOf('syncSite')).toHaveLength(4);

  expect((await times()).map(({ fires }: { fires: boolean }) => fires)).toEqual([false, false]);
  const again = { fires: true, because: expect.stringMatching(/-backfill succeeded$/), run: null };
  expect(await times('--reprocess', 'all')).toMatchObject([
    { ...again, scheduled_for: three(-3) },
    { ...again, scheduled_for: three(-2) },
  ]);
  expect((await desk.run(['why', 'daily', day(-2)])).stdout).toMatch(/was missed.*-backfill, succeeded/);
});

test('a freeze is shown in the upcoming runs, prevents a backfill, and can be ended', async () => {
  await desk.run(['freeze', 'add', '--until', day(4), '--reason', 'the big sale']);
  expect((await coming('daily')).map(({ skipped }) => skipped)).toEqual(
    expect.arrayContaining([{ why: 'frozen', note: expect.stringContaining('the big sale') }]),
  );
  const refused = await desk.run(['backfill', 'daily', '--from', day(-1), '--to', day(-1)]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/^error: No run was started: everything is frozen by .*\(the big sale\)/m);

  await desk.run(['freeze', 'end']);
  expect((await coming('daily')).map(({ skipped }) => skipped)).not.toContainEqual(
    expect.objectContaining({ why: 'frozen' }),
  );
});

test('every command shows that a policy paused itself after failed runs, and resuming resets its count', async () => {
  const { engine, records } = caretaker;
  const policy = aPolicy({
    name: 'daily',
    limits: { concurrency: 1, maxTargets: 1, maxPercent: 100 },
    schedule: aSchedule({ cron: ['0 3 * * *'], pauseAfterFailures: 2 }),
  });
  /** A run that a safety limit stops immediately, fired as a daemon fires it. */
  const stoppedRun = async (daysAgo: number) => {
    const scheduledFor = Date.parse(three(-daysAgo));
    const { id } = await engine.fire(policy, { trigger: 'schedule', scheduledFor });
    while ((await records.runs.get(id))?.status !== 'stopped') await clock.sleep(100);
  };
  const working = engine.work(5);
  try {
    await stoppedRun(20);
    await stoppedRun(19);

    const words = /paused by caretaker since \S+ \S+Z \(2 runs failed in a row\)/;
    expect((await desk.run(['policies'])).stdout).toMatch(words);
    expect((await desk.run(['policies', 'show', 'daily'])).stdout).toMatch(words);
    expect((await coming('daily')).find((one) => one.scheduled_for === three(1))?.skipped).toEqual({
      why: 'paused',
      note: 'by caretaker: 2 runs failed in a row',
    });

    const resumed = await desk.run(['policies', 'resume', 'daily']);
    expect(resumed.stderr).toMatch(/^daily is resumed; it was paused by caretaker since /m);
    await stoppedRun(18);
    expect((await records.policies.state('daily')).pause).toBeUndefined();
  } finally {
    await working.stop();
  }
});
