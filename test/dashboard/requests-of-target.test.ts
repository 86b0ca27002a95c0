/**
 * The requests of a target after a real run with requests that fail: the page, the command line and the HTTP API show
 * the same.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../src/app/daemon.ts';
import { main } from '../../src/cli/main.ts';
import type { RequestReport, TargetReport } from '../../src/run/report.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { TestIo } from '../support/io.ts';
import { postForm, sessionOf, textOf } from './world.ts';

const PASSWORD = 'correct horse';

let world: World;
let daemon: Daemon;
let url = '';
let run = '';
let site = '';
beforeAll(async () => {
  world = await startWorld({ sites: 1, dashboard: { password: PASSWORD } });
  daemon = await startDaemon({ caretaker: world.caretaker, roles: ['dashboard'] });
  url = daemon.dashboard?.url ?? '';
  [site = ''] = world.sandbox.siteIds();
  world.sandbox.site(site).underMaintenance(true);
  world.sandbox.failNext({ operation: 'syncSite' }, 'error-before');
  const fired = await world.fire(aPolicy());
  run = (await world.ended(fired)).id;
});
afterAll(async () => {
  await daemon.stop();
  await world.stop();
});

async function caretaker(...args: string[]) {
  const io = new TestIo({ env: { CARETAKER_SERVER: url, CARETAKER_SERVER_TOKEN: PASSWORD } });
  return { code: await main(args, io), ...io.printed };
}

const served = async <T>(path: string): Promise<T> =>
  (await (
    await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${PASSWORD}` } })
  ).json()) as T;

async function shown(): Promise<string> {
  const ask = (path: string, init?: RequestInit) => fetch(url + path, { redirect: 'manual', ...init });
  const cookie = sessionOf(await postForm(ask, url, '/sign-in', { password: PASSWORD }));
  return textOf(await (await ask(`/targets/default/${site}`, { headers: { cookie } })).text()).replaceAll(
    '&nbsp;',
    ' ',
  );
}

test('the page, the command line and the HTTP API show the same requests of a target', async () => {
  const ofRun = await served<{ targets: TargetReport[] }>(`/runs/${run}`);
  const ofTarget = await served<{ runs: { target: TargetReport }[] }>(`/targets/default/${site}`);
  const ofCli = JSON.parse((await caretaker('runs', 'show', run, '--target', site, '--json')).stdout);
  const target = ofRun.targets.find(({ id }) => id === site);
  const requests: readonly RequestReport[] = target?.requests ?? [];

  const syncs = requests.filter(({ operation }) => operation === 'syncSite');
  expect(syncs.map(({ status, error }) => [status, error])).toEqual([
    [500, { code: 'internal_error', message: 'Something went wrong on our side.' }],
    [422, { code: 'site_under_maintenance', message: 'The site is under maintenance.' }],
  ]);
  expect(ofTarget.runs[0]?.target).toEqual(target);
  expect(ofCli.targets).toEqual([target]);
  const { stdout: text } = await caretaker('runs', 'show', run, '--target', site);
  const page = await shown();
  for (const { operation, status, ms, request_id } of requests) {
    expect(text).toMatch(new RegExp(`${operation} +${status} +${ms} +${request_id}`));
    expect(page).toMatch(new RegExp(`${operation} +HTTP ${status} +${ms}.ms +after .*${request_id}`));
  }
  for (const { error } of syncs) {
    expect(text).toContain(`${error?.code}: ${error?.message}`);
    expect(page).toMatch(new RegExp(`${error?.code} +${error?.message}`));
  }
});

test('a target that the run does not have is an error that names it', async () => {
  expect(await caretaker('runs', 'show', run, '--target', 'nowhere')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`The run ${run} has no target "nowhere".`),
  });
});
