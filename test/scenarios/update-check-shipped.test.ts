/**
 * The shipped policy update-check by the command line: what it tells of each schedule and site, against the
 * account itself.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, OperationId } from '../../src/contract/operations.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';

const HOUR = 3_600_000;
/**
 * The service's clock has just struck the hour: its schedules begin their next runs long after these tests.
 */
const AHEAD_MS = HOUR - (Date.now() % HOUR) + 60_000;

let sandbox: Sandbox;
let desk: Desk;

beforeAll(async () => {
  sandbox = await startSandbox({ sites: 60, seed: 1, rateLimit: 0, token: 't', clockOffsetMs: AHEAD_MS });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 't' });
  await desk.keepRedis();
  // A site whose core is behind and which the schedule for all sites leaves out.
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

/** Asks the account itself. */
async function ask<Id extends OperationId>(_: Id, path: string): Promise<Answer<Id>> {
  const headers = { authorization: `Bearer ${sandbox.token}` };
  return (await (await fetch(`${sandbox.url}${path}`, { headers })).json()) as Answer<Id>;
}

interface Told {
  id: string;
  outcome: string;
  reason: string;
  findings: { severity: string; about: string; message: string; task?: string }[];
}
const run = async (policy: string) => {
  const { code, stdout } = await desk.run(['run', policy, '--json']);
  const report = JSON.parse(stdout) as { status: string; targets: Told[] };
  return { code, status: report.status, told: new Map(report.targets.map((target) => [target.id, target])) };
};

const FORTNIGHT = 14 * 86_400_000;

/**
 * What is to be told of each schedule, and of each site whose core is vulnerable, by what the account message.
 */
async function promised(): Promise<Record<string, string>> {
  const { auto_update_schedules: schedules } = await ask('listAutoUpdateSchedules', '/auto-update-schedules');
  const { auto_update_history: history } = await ask('listAutoUpdateHistory', '/auto-update-history');
  const promises: Record<string, string> = { 'site:site-0050': 'failed uncovered' };
  for (const { id, status } of schedules) {
    const own = history.filter(({ auto_update_schedule: of }) => of?.id === id);
    const lately = own.filter(
      ({ performed_on: at }) => Date.parse(at ?? '') > Date.now() + AHEAD_MS - FORTNIGHT,
    );
    const bad = lately.some((entry) => entry.status === 'failed' || entry.status === 'aborted');
    promises[id] = bad
      ? 'failed update-failed'
      : status === 'paused'
        ? 'skipped schedule-paused'
        : own.length === 0
          ? 'skipped no-history'
          : 'succeeded done';
  }
  for (const id of sandbox.siteIds()) {
    const { site } = await ask('showSite', `/sites/${id}`);
    if (site.wp?.core?.vulnerable) promises[`site:${id}`] = 'failed vulnerable';
  }
  return promises;
}

/** All that was changed in the account since the test prepared it. */
function changes() {
  const { journal } = sandbox;
  const [enabled, disabled] = [
    journal.effectsOf('enableAutoUpdateSchedule'),
    journal.effectsOf('disableAutoUpdateSchedule').sort(),
  ];
  expect(journal.effects).toHaveLength(1 + enabled.length + disabled.length);
  return { enabled, disabled };
}

const endsOf = (told: ReadonlyMap<string, Told>) =>
  Object.fromEntries([...told].map(([id, { outcome, reason }]) => [id, `${outcome} ${reason}`]));

test('the account is told as it is, nothing in it is changed, and what failed is not told twice', async () => {
  const promises = await promised();
  const plan = JSON.parse((await desk.run(['plan', 'update-check', '--json'])).stdout);

  const first = await run('update-check');

  expect(first).toMatchObject({ code: 1, status: 'partial' });
  expect(endsOf(first.told)).toEqual(promises);
  // A plan shows all that a run would tell without following anything.
  expect(plan.targets).toEqual([]);
  expect(plan.settled.map(({ id }: Told) => id)).toEqual([...first.told.keys()]);
  // Each site at which an update went wrong has a line, with the error of its step.
  const { tasks } = await ask('listTasks', '/tasks?filters[type:eq]=wp_site_update');
  const failing = [...first.told.values()].filter(({ reason }) => reason === 'update-failed');
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
      expect({ url, told: mine.length > 0 }).toEqual({ url, told: true });
      sites += 1;
    }
  }
  expect(sites).toBeGreaterThan(3);

  const second = await run('update-check');
  const onceTold = Object.entries(promises).map(([id, end]) => [
    id,
    end.replace(/.* update-failed/, 'succeeded done'),
  ]);
  expect(endsOf(second.told)).toEqual(Object.fromEntries(onceTold));
  expect(changes()).toEqual({ enabled: [], disabled: [] });
});

test('asked to, it enables what is paused and pauses what fails too much, once', async () => {
  const shipped = readFileSync(join(desk.folder, 'config/policies/update-check.yaml'), 'utf8');
  desk.write(
    'config/policies/acting.yaml',
    shipped
      .replace('name: update-check', 'name: acting')
      .replace('enable_paused: false', 'enable_paused: true\n      pause_on_failed_rate: 20%'),
  );
  const { auto_update_schedules: before } = await ask('listAutoUpdateSchedules', '/auto-update-schedules');
  const idOf = (name: string) => before.find((schedule) => schedule.name === name)?.id ?? '';
  const [hosting, rebuilt] = [idOf('Old hosting'), idOf('Being rebuilt')];
  const paused = before.filter(({ status }) => status === 'paused').map(({ id }) => id);

  const first = await run('acting');
  const second = await run('acting');

  expect(changes()).toEqual({ enabled: paused, disabled: [hosting, rebuilt].sort() });
  for (const { id, name } of before) {
    const status = [hosting, rebuilt].includes(id) ? 'paused' : 'active';
    expect({ name, status: sandbox.schedule(id).state().status }).toEqual({ name, status });
  }
  expect(first.told.get(hosting)?.findings[0]?.message).toContain('Paused by this check');
  expect(endsOf(second.told)).toMatchObject({
    [hosting]: 'skipped schedule-paused',
    [rebuilt]: 'skipped schedule-paused',
  });
});
