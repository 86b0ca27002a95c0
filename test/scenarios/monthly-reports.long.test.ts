/**
 * The shipped policy monthly-reports on the command line: the promised result for each site, compared with
 * the account afterwards.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatPeriod, type Period, periodOf } from '../../jobs/report-dispatch/period.ts';
import { dayIn } from '../../src/dates.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';
import { clearOfTheHour } from '../support/time-of-day.ts';

const ZONE = 'Europe/Berlin';
let sandbox: Sandbox;
let desk: Desk;

beforeAll(async () => {
  await clearOfTheHour();
  // A report takes 40 seconds in the service's time, and its mail 20.
  sandbox = await startSandbox({ sites: 30, seed: 1, speed: 200, rateLimit: 0, token: 't' });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 't' });
  await desk.keepRedis();
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

interface Site {
  id: string;
  title: string;
  client: { email: string } | null;
  backups: { enabled: boolean };
}
interface Report {
  site: { id: string };
  type: string;
  start_date: string;
  end_date: string;
  email: {
    subject: string;
    sender_email: { email: string };
    recipients: { email: string; status: string }[];
  };
}

async function listed<T>(path: string, key: string): Promise<T[]> {
  const answer = await fetch(`${sandbox.url}/${path}?perPage=100`, {
    headers: { authorization: 'Bearer t' },
  });
  return ((await answer.json()) as Record<string, T[]>)[key] ?? [];
}

/** Whether a site has successful snapshots from the first to the last day. */
function isCovered({ id, backups }: Site, { start, end }: Period): boolean {
  const days = sandbox
    .site(id)
    .state()
    .snapshots.filter(({ status }) => status === 'succeeded')
    .map(({ createdAt }) => dayIn(ZONE, Date.parse(createdAt)));
  const [first = '', last = ''] = [days[0], days.at(-1)];
  return backups.enabled && days.length > 0 && first <= start && last >= end;
}

async function run() {
  const { code, stdout } = await desk.run(['run', 'monthly-reports', '--json']);
  const { targets, ...facts } = JSON.parse(stdout);
  const outcomes = targets.map((one: { id: string; outcome: string; reason: string }) => [
    one.id,
    `${one.outcome} ${one.reason}`,
  ]);
  return { code, ...facts, outcomes: Object.fromEntries(outcomes) };
}

test('each client receives last month’s report once, and every exception has a reason', async () => {
  const sites = await listed<Site>('sites', 'sites');
  const period = periodOf('last_month', Date.now(), ZONE);
  const eligible = sites.filter((site) => site.client !== null && isCovered(site, period));
  expect(eligible.length).toBeGreaterThan(5);
  expect(eligible.length).toBeLessThan(sites.length - 5);

  // The plan lists every site, and changes nothing.
  const plan = JSON.parse((await desk.run(['plan', 'monthly-reports', '--json'])).stdout);
  expect(plan.targets.length + plan.settled.length).toBe(sites.length);
  expect(sandbox.journal.effects).toEqual([]);

  const first = await run();

  const expected = sites.map((site) => [
    site.id,
    eligible.includes(site) ? 'succeeded done' : 'skipped not-eligible',
  ]);
  expect(first.outcomes).toEqual(Object.fromEntries(expected));
  expect(first).toMatchObject({ code: 0, status: 'succeeded' });
  const reports = (await listed<Report>('reports', 'reports')).filter(
    ({ type, start_date, end_date }) =>
      type === 'one_time' && start_date === period.start && end_date === period.end,
  );
  const sent = reports.map(({ site, email }) => [
    site.id,
    email.subject,
    email.sender_email.email,
    email.recipients.map((mail) => mail.email),
  ]);
  expect(sent.sort()).toEqual(
    eligible
      .map(({ id, title, client }) => [
        id,
        `Your website in ${formatPeriod(period, 'en')}: ${title}`,
        'reports@agency.example',
        [client?.email],
      ])
      .sort(),
  );
  const { journal } = sandbox;
  expect(journal.effectsOf('createReport')).toHaveLength(eligible.length);
  expect(new Set(journal.effectsOf('sendReportEmail')).size).toBe(eligible.length);
  expect(journal.effects).toHaveLength(2 * eligible.length);
});
