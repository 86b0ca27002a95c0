/**
 * The commands that everybody uses, and the messages of errors, in this process. Only whole commands show how their
 * parts fit.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fastClock } from '../support/caretaker.ts';
import { NOWHERE, sandboxOfFile } from './desk-of-file.ts';

const SECRET = 'a-secret-token';
const { sandbox, desk } = await sandboxOfFile({ sites: 30, clock: fastClock(5), token: SECRET });

describe('the command line', () => {
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

  test('plans without changing anything, runs a policy, and prints each as one JSON object', async () => {
    const plan = await desk.json(['plan', 'nightly-sync']);
    expect(plan.targets.length + plan.settled.length).toBe(30);
    expect(plan.cost.planning).toBe(1);
    expect(sandbox.journal.effects).toEqual([]);

    const { code, stdout } = await desk.run(['run', 'nightly-sync', '--json']);
    const run = JSON.parse(stdout);
    expect(code).toBe(run.status === 'succeeded' ? 0 : 1);
    expect(Object.keys(run)).toEqual(
      expect.arrayContaining(
        'run policy job status trigger scheduled_for started_at finished_at requests counts'.split(' '),
      ),
    );
    const spent = Object.values<number>(run.requests_by_operation);
    expect(spent.reduce((sum, count) => sum + count, 0)).toBe(run.requests);
    expect(run.targets).toHaveLength(30);
    expect(Object.keys(run.targets[0]).sort()).toEqual(
      [
        ...['attempts', 'detail', 'failed_attempts', 'finished_at', 'id', 'label', 'outcome', 'reason'],
        ...['started_at', 'state', 'task_id'],
      ].sort(),
    );
    const synced = sandbox.journal.effectsOf('syncSite');
    expect(new Set(synced).size).toBe(synced.length);

    expect(await desk.json(['runs', 'show', run.run])).toEqual(run);
    expect((await desk.json(['runs', '--policy', 'nightly-sync']))[0].run).toBe(run.run);
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
    const failed = await desk.json(['run', 'nightly-sync', '--target', site]);
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

  test('calls any operation by its name', async () => {
    expect(await desk.json(['api', '--list'])).toHaveLength(106);
    const filter = ['--filter', 'connection_status:eq=disconnected', '--param', 'perPage=1'];
    const sites = await desk.run(['api', 'listSites', ...filter]);
    expect(JSON.parse(sites.stdout).sites[0].connection.status).toBe('disconnected');
    const all = await desk.run(['api', 'listTags', '--all']);
    expect(JSON.parse(all.stdout).tags.length).toBeGreaterThan(1);
    const gone = await desk.run(['api', 'showSite', '--param', 'site_id=nowhere']);
    expect(gone.code).toBe(1);
    expect(gone.stderr).toContain('404');
  });

  test('prints no secret', async () => {
    const outputs = await Promise.all([
      desk.run(['doctor', '--verbose']),
      desk.run(['api', 'listTags', '--verbose']),
      desk.run(['policies', '--verbose']),
    ]);
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(SECRET);
  });
});

describe('error messages', () => {
  test('a wrong token: exit 3 and one sentence, and with --json the report of the run that was cancelled', async () => {
    const wrong = { CARETAKER_API_TOKEN: 'a-wrong-token' };
    const { code, stdout, stderr } = await desk.run(['run', 'nightly-sync', '--json'], wrong);
    expect(code).toBe(3);
    expect(stderr).toContain('The account "default" refuses our token (HTTP 401): check its token.');
    expect(stdout + stderr).not.toContain('a-wrong-token');
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ status: 'cancelled', policy: 'nightly-sync', targets: [] },
      detail: 'Nothing was started. The account "default" refuses our token (HTTP 401): check its token.',
    });
  });

  test('an unreachable API: exit 3, and no run stays active', async () => {
    const there = { CARETAKER_BASE_URL: NOWHERE.CARETAKER_BASE_URL };
    const move = ['accounts', 'move', 'default', '--yes'];
    expect((await desk.run(move, there)).code).toBe(0);
    const { code, stderr } = await desk.run(['run', 'nightly-sync'], there);
    expect((await desk.run(move)).code).toBe(0);
    expect(code).toBe(3);
    expect(stderr).toContain('nothing listens at http://127.0.0.1:9 (connection refused)');
    const [last] = await desk.json(['runs']);
    expect(last.status).toBe('cancelled');
  });

  test.each([
    ['an unreachable Redis', 'runs', { REDIS_URL: 'redis://127.0.0.1:9' }, 3, 'at redis://127.0.0.1:9'],
    ['no token', 'run nightly-sync', { CARETAKER_API_TOKEN: '' }, 2, 'CARETAKER_API_TOKEN'],
    ['an unknown policy', 'run nightly-snc', {}, 2, 'did you mean nightly-sync?'],
    ['no daemon', 'run nightly-sync --detach', {}, 2, 'caretaker daemon'],
  ])(
    '%s at "%s": the exit code, and one sentence that says what to do',
    async (_, words, env, code, says) => {
      const ended = await desk.run(words.split(' '), env);
      expect(ended.code).toBe(code);
      expect(ended.stderr).toContain(says);
      expect(ended.stderr).not.toMatch(/\n\s+at /);
    },
  );
});
