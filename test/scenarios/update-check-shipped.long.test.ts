/** The shipped policy update-check on the command line: what it reports, compared with the account. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, OperationId } from '../../src/contract/operations.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';

const DAY = 86_400_000;
/** Sets the service's clock to noon: schedules start their runs at night, so none is in progress during these tests. */
const AHEAD_MS = DAY - ((Date.now() + DAY / 2) % DAY);

let sandbox: Sandbox;
let desk: Desk;

beforeAll(async () => {
  sandbox = await startSandbox({ sites: 60, seed: 1, rateLimit: 0, token: 't', clockOffsetMs: AHEAD_MS });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 't' });
  await desk.keepRedis();
  // A site whose core is outdated, and which is removed from the schedule for all sites.
  sandbox.site('site-0050').coreIs({ current: '6.8.2' });
  const { auto_update_schedules: schedules } = await ask('listAutoUpdateSchedules', '/auto-update-schedules');
  const everything = schedules.find(({ name }) => name === 'Everything')?.id;
  const ids = sandbox.siteIds().filter((id) => id !== 'site-0050');
  const changes = { auto_update_schedule: { scope: { sites: { selection: 'specific', ids } } } };
  await fetch(`${sandbox.url}/auto-update-schedules/${everything}/update`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(changes),
  });
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

/** Reads from the account itself. */
async function ask<Id extends OperationId>(_: Id, path: string): Promise<Answer<Id>> {
  const headers = { authorization: `Bearer ${sandbox.token}` };
  return (await (await fetch(`${sandbox.url}${path}`, { headers })).json()) as Answer<Id>;
}

interface Reported {
  id: string;
  outcome: string;
  reason: string;
  findings: { severity: string; about: string; message: string; task?: string }[];
}
const run = async () => {
  const { code, stdout } = await desk.run(['run', 'update-check', '--json']);
  const report = JSON.parse(stdout) as { status: string; targets: Reported[] };
  return {
    code,
    status: report.status,
    reported: new Map(report.targets.map((target) => [target.id, target])),
  };
};

const FORTNIGHT = 14 * DAY;

/** The outcome that each schedule, and each site with a vulnerable core, should have according to the account. */
async function expectedEnds(): Promise<Record<string, string>> {
  const { auto_update_schedules: schedules } = await ask('listAutoUpdateSchedules', '/auto-update-schedules');
  const { auto_update_history: history } = await ask('listAutoUpdateHistory', '/auto-update-history');
  const expected: Record<string, string> = { 'site:site-0050': 'failed uncovered' };
  for (const { id, status } of schedules) {
    const own = history.filter(({ auto_update_schedule: of }) => of?.id === id);
    const recent = own.filter(
      ({ performed_on: at }) => Date.parse(at ?? '') > Date.now() + AHEAD_MS - FORTNIGHT,
    );
    const bad = recent.some((entry) => entry.status === 'failed' || entry.status === 'aborted');
    expected[id] = bad
      ? 'failed update-failed'
      : status === 'paused'
        ? 'skipped schedule-paused'
        : own.length === 0
          ? 'skipped no-history'
          : 'succeeded done';
  }
  for (const id of sandbox.siteIds()) {
    const { site } = await ask('showSite', `/sites/${id}`);
    if (site.wp?.core?.vulnerable) expected[`site:${id}`] = 'failed vulnerable';
  }
  return expected;
}

const endsOf = (reported: ReadonlyMap<string, Reported>) =>
  Object.fromEntries([...reported].map(([id, { outcome, reason }]) => [id, `${outcome} ${reason}`]));

test('the report agrees with the account, nothing is changed, and failures are not reported twice', async () => {
  const expected = await expectedEnds();
  const plan = JSON.parse((await desk.run(['plan', 'update-check', '--json'])).stdout);

  const first = await run();

  expect(first).toMatchObject({ code: 1, status: 'partial' });
  expect(endsOf(first.reported)).toEqual(expected);
  // A plan shows everything that a run reports without following tasks.
  expect(plan.targets).toEqual([]);
  expect(plan.settled.map(({ id }: Reported) => id)).toEqual([...first.reported.keys()]);
  // Each site on which an update failed has a finding with the error of its step.
  const { tasks } = await ask('listTasks', '/tasks?filters[type:eq]=wp_site_update');
  const failing = [...first.reported.values()].filter(({ reason }) => reason === 'update-failed');
  const known = new Set(failing.flatMap(({ findings }) => findings.map(({ task }) => task)));
  const lines = failing.flatMap(({ findings }) =>
    findings.map(({ about, message }) => `${about} ${message}`),
  );
  let sites = 0;
  for (const { id } of tasks.filter((task) => known.has(task.id))) {
    const { task } = await ask('showTask', `/tasks/${id}`);
    for (const site of task.details?.sites ?? []) {
      if (site.status !== 'failed' && site.status !== 'aborted') continue;
      const { url } = (await ask('showSite', `/sites/${site.id}`)).site;
      const error = site.steps?.find(({ error }) => Object.keys(error ?? {}).length > 0)?.error;
      const mine = lines.filter((line) => line.startsWith(url) && line.includes(String(error?.['message'])));
      expect({ url, reported: mine.length > 0 }).toEqual({ url, reported: true });
      sites += 1;
    }
  }
  expect(sites).toBeGreaterThan(3);

  const second = await run();
  const expectedNext = Object.entries(expected).map(([id, end]) => [
    id,
    end.replace(/.* update-failed/, 'succeeded done'),
  ]);
  expect(endsOf(second.reported)).toEqual(Object.fromEntries(expectedNext));
  // The one with which the test prepared the account.
  expect(sandbox.journal.effects).toHaveLength(1);
});
