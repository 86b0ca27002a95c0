/** The commands that everybody uses, from help to the messages of errors, in this process. Only whole commands show how their parts fit. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { fastClock } from '../support/caretaker.ts';
import { type Desk, openDesk } from '../support/cli.ts';

let sandbox: Sandbox;
let desk: Desk;

beforeAll(async () => {
  const clock = fastClock(5);
  sandbox = await startSandbox({ sites: 30, clock, rateLimit: 0, token: 'a-secret-token' });
  for (const id of sandbox.siteIds()) sandbox.site(id).syncTakes(1_000);
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 'a-secret-token' }, clock);
  await desk.keepRedis();
});
afterAll(async () => {
  await desk.clear();
  await sandbox.stop();
});

describe('the command line', () => {
  test('shows help, and suggests a correction for a misspelled command', async () => {
    const help = await desk.run(['--help']);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain('validate');
    const typo = await desk.run(['validat']);
    expect(typo).toMatchObject({ code: 2, stdout: '' });
    expect(typo.stderr).toContain('did you mean validate?');
  });

  test('a policy with filter instead of filters is shown with its position and a suggestion', async () => {
    desk.write(
      'config/policies/typo.yaml',
      'policies:\n  - name: typo\n    job: site-sync\n    select:\n      filter: { connection_status: { eq: connected } }\n',
    );
    try {
      const { code, stderr } = await desk.run(['validate']);
      expect(code).toBe(2);
      expect(stderr).toContain('config/policies/typo.yaml:5:7');
      expect(stderr).toMatch(/did you mean filters\?/i);
      // The other policies are still valid.
      expect((await desk.run(['plan', 'nightly-sync'])).code).toBe(0);
      expect((await desk.run(['run', 'typo'])).code).toBe(2);
    } finally {
      rmSync(join(desk.folder, 'config/policies/typo.yaml'));
    }
  });

  test('plans without changing anything', async () => {
    const { code, stdout } = await desk.run(['plan', 'nightly-sync', '--json']);
    expect(code).toBe(0);
    const plan = JSON.parse(stdout);
    expect(plan.targets.length + plan.settled.length).toBe(30);
    expect(plan.cost.planning).toBe(1);
    expect(sandbox.journal.effects).toEqual([]);
  });

  test('runs a policy and prints the run as one JSON object', async () => {
    const { code, stdout } = await desk.run(['run', 'nightly-sync', '--json']);
    const run = JSON.parse(stdout);
    expect(code).toBe(run.status === 'succeeded' ? 0 : 1);
    expect(Object.keys(run)).toEqual(
      expect.arrayContaining([
        'run',
        'policy',
        'job',
        'status',
        'trigger',
        'scheduled_for',
        'started_at',
        'finished_at',
        'requests',
        'requests_by_operation',
        'counts',
        'targets',
      ]),
    );
    const spent = Object.values<number>(run.requests_by_operation);
    expect(spent.reduce((sum, count) => sum + count, 0)).toBe(run.requests);
    expect(run.targets).toHaveLength(30);
    expect(Object.keys(run.targets[0]).sort()).toEqual(
      [
        'attempts',
        'failed_attempts',
        'detail',
        'finished_at',
        'id',
        'label',
        'outcome',
        'reason',
        'started_at',
        'state',
        'task_id',
      ].sort(),
    );
    const synced = sandbox.journal.effectsOf('syncSite');
    expect(new Set(synced).size).toBe(synced.length);

    const shown = await desk.run(['runs', 'show', run.run, '--json']);
    expect(JSON.parse(shown.stdout)).toEqual(run);
    const list = await desk.run(['runs', '--policy', 'nightly-sync', '--json']);
    expect(JSON.parse(list.stdout)[0].run).toBe(run.run);
  });

  test('retries only the targets that failed', async () => {
    const [site = ''] = sandbox.siteIds().filter((id) => {
      const { connected, locked, paused, underMaintenance, lastSyncStatus, syncsToday } = sandbox
        .site(id)
        .state();
      const fit = connected && !locked && !paused && !underMaintenance;
      return fit && lastSyncStatus === 'succeeded' && syncsToday < 3;
    });
    sandbox.site(site).lastSynced(30 * 3_600_000);
    sandbox.site(site).failNextSync('The disk is full.');
    const failed = JSON.parse((await desk.run(['run', 'nightly-sync', '--target', site, '--json'])).stdout);
    expect(failed.targets[0]).toMatchObject({
      outcome: 'failed',
      reason: 'task-failed',
      detail: 'The disk is full.',
    });

    const { code, stdout } = await desk.run(['runs', 'retry', failed.run, '--json']);

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ trigger: 'retry', counts: { planned: 1, succeeded: 1 } });
    expect((await desk.run(['runs', 'retry', 'no-such-run'])).code).toBe(2);
  });

  test('pauses and resumes a policy, and records who did', async () => {
    await desk.run(['policies', 'pause', 'nightly-sync', '--reason', 'moving house']);
    const shown = async () =>
      JSON.parse((await desk.run(['policies', '--json'])).stdout).find(
        ({ name }: { name: string }) => name === 'nightly-sync',
      );
    expect(await shown()).toMatchObject({ next: null, paused: { reason: 'moving house' } });
    await desk.run(['policies', 'resume', 'nightly-sync']);
    expect(await shown()).toMatchObject({ paused: null, next: expect.stringMatching(/T\d\d:\d\d:/) });
  });

  test('calls any operation by its name', async () => {
    const list = await desk.run(['api', '--list', '--json']);
    expect(JSON.parse(list.stdout)).toHaveLength(106);
    const sites = await desk.run([
      'api',
      'listSites',
      '--filter',
      'connection_status:eq=disconnected',
      '--param',
      'perPage=1',
    ]);
    expect(JSON.parse(sites.stdout).sites[0].connection.status).toBe('disconnected');
    const all = await desk.run(['api', 'listTags', '--all']);
    expect(JSON.parse(all.stdout).tags.length).toBeGreaterThan(1);
    expect((await desk.run(['api', 'listSite'])).stderr).toMatch(/did you mean listSites\?/i);
    const wrong = await desk.run(['api', 'listSites', '--filter', 'colour:eq=red']);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('cannot filter by "colour"');
    const gone = await desk.run(['api', 'showSite', '--param', 'site_id=nowhere']);
    expect(gone.code).toBe(1);
    expect(gone.stderr).toContain('404');
  });

  test('checks everything it needs', async () => {
    const { code, stdout } = await desk.run(['doctor']);
    expect({ code, wrong: stdout.match(/wrong/g) }).toEqual({ code: 0, wrong: null });
    expect(stdout).toContain('contract: all 106 operations');
  });

  test('prints no secret', async () => {
    const outputs = await Promise.all([
      desk.run(['doctor', '--verbose']),
      desk.run(['api', 'listTags', '--verbose']),
      desk.run(['policies', '--verbose']),
    ]);
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain('a-secret-token');
  });
});

describe('error messages', () => {
  test('a wrong token: exit 3 and one sentence', async () => {
    const { code, stdout, stderr } = await desk.run(['run', 'nightly-sync'], {
      CARETAKER_API_TOKEN: 'a-wrong-token',
    });
    expect(code).toBe(3);
    expect(stderr).toContain('The account "default" refuses our token (HTTP 401): check its token.');
    expect(stdout + stderr).not.toContain('a-wrong-token');
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test('a wrong token with --json: the report of the run that was cancelled', async () => {
    const { code, stdout } = await desk.run(['run', 'nightly-sync', '--json'], {
      CARETAKER_API_TOKEN: 'wrong',
    });
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ status: 'cancelled', policy: 'nightly-sync', targets: [] },
      detail: 'Nothing was started. The account "default" refuses our token (HTTP 401): check its token.',
    });
  });

  test('an unreachable API: exit 3, and no run stays active', async () => {
    const there = { CARETAKER_BASE_URL: 'http://127.0.0.1:9/api/v6' };
    const move = ['accounts', 'move', 'default', '--yes'];
    expect((await desk.run(move, there)).code).toBe(0);
    const { code, stderr } = await desk.run(['run', 'nightly-sync'], there);
    expect((await desk.run(move)).code).toBe(0);
    expect(code).toBe(3);
    expect(stderr).toContain('nothing listens at http://127.0.0.1:9 (connection refused)');
    const [last] = JSON.parse((await desk.run(['runs', '--json'])).stdout);
    expect(last.status).toBe('cancelled');
  });

  test('an unreachable Redis: exit 3 and one sentence', async () => {
    const { code, stderr } = await desk.run(['runs'], { REDIS_URL: 'redis://127.0.0.1:9' });
    expect(code).toBe(3);
    expect(stderr).toContain('Redis cannot be reached at redis://127.0.0.1:9');
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test('no token: exit 2, and the variable to set', async () => {
    const { code, stderr } = await desk.run(['run', 'nightly-sync'], { CARETAKER_API_TOKEN: '' });
    expect(code).toBe(2);
    expect(stderr).toContain('CARETAKER_API_TOKEN');
  });

  test('an unknown policy: exit 2, and a suggestion', async () => {
    const { code, stderr } = await desk.run(['run', 'nightly-snc']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/did you mean nightly-sync\?/i);
  });

  test('--detach without a daemon: exit 2, and what to do', async () => {
    const { code, stderr } = await desk.run(['run', 'nightly-sync', '--detach']);
    expect(code).toBe(2);
    expect(stderr).toContain('caretaker daemon');
  });
});
