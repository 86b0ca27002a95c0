/**
 * The requests of a target after a real run with requests that fail: the page, the command line and the HTTP API show
 * the same.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import type { RequestReport, TargetReport } from '../../src/run/report.ts';
import { aPolicy } from '../support/builders.ts';
import { TestIo } from '../support/io.ts';
import { type DaemonWorld, startDaemonWorld } from './daemon-world.ts';
import { PASSWORD } from './world.ts';

let daemon: DaemonWorld;
let run = '';
let site = '';
beforeAll(async () => {
  daemon = await startDaemonWorld({ sites: 1, work: true, dashboard: { password: PASSWORD } });
  const { world } = daemon;
  [site = ''] = world.sandbox.siteIds();
  world.sandbox.site(site).underMaintenance(true);
  world.sandbox.failNext({ operation: 'syncSite' }, 'error-before');
  run = (await world.ended(await world.fire(aPolicy()))).id;
});
afterAll(() => daemon.stop());

async function caretaker(...args: string[]) {
  const io = new TestIo({ env: { CARETAKER_SERVER: daemon.url, CARETAKER_SERVER_TOKEN: PASSWORD } });
  return { code: await main(args, io), ...io.printed };
}

const served = async <T>(path: string): Promise<T> =>
  (await (await daemon.ask(`/api/v1${path}`)).json()) as T;

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
  const { text: page } = await daemon.look(`/targets/default/${site}`);
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
