/** `policies diff` shows what a change of policy files changes, before a daemon reads it. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { sandboxOfFile } from './desk-of-file.ts';

const before = `policies:
  - name: sync
    job: site-sync
    schedule: { cron: "0 2 * * *", timezone: UTC }
    with: { mode: stale, max_age: 20h }
  - { name: manual, job: site-sync }
`;

const { sandbox, desk } = await sandboxOfFile({ sites: 12, speed: 20 });
for (const id of sandbox.siteIds()) sandbox.site(id).lastSynced(25 * 3_600_000);
desk.write('config/caretaker.yaml', 'dashboard: { port: 0 }\n');
rmSync(join(desk.folder, 'config/policies'), { recursive: true });
mkdirSync(join(desk.folder, 'config/policies'));
desk.write('config/policies/a.yaml', before);
git('init', '-q');
git('add', 'config');
git('-c', 'user.email=a@example.com', '-c', 'user.name=a', 'commit', '-qm', 'first');
beforeEach(() => desk.write('config/policies/a.yaml', before));

function git(...args: string[]): void {
  const { status, stderr } = spawnSync('git', ['-C', desk.folder, ...args], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
}

const diff = (...words: string[]) => desk.run(['policies', 'diff', ...words]);

describe('compared with a git revision', () => {
  test('files that mean the same differ in nothing, with a default written down and other keys first: exit code 0', async () => {
    const same = { code: 0, stdout: '', stderr: 'No difference from HEAD.\n' };
    expect(await diff('--against', 'HEAD')).toEqual(same);
    desk.write(
      'config/policies/a.yaml',
      before.replace('job: site-sync }', 'priority: normal, job: site-sync }'),
    );
    expect(await diff('--against', 'HEAD')).toEqual(same);
  });

  test('policies that are added and removed, keys and scheduled times are shown: exit code 1', async () => {
    const after = before
      .replace('0 2 * * *', '0 3 * * *')
      .replace('with: { mode: stale, max_age: 20h }', 'limits: { concurrency: 5 }')
      .replace('manual', 'other');
    desk.write('config/policies/a.yaml', after);

    const { code, stdout } = await diff('--against', 'HEAD', '--at', '2026-11-21T00:00Z');

    expect(code).toBe(1);
    expect(stdout).toBe(`- manual
+ other (config/policies/a.yaml)
~ sync (config/policies/a.yaml)
    ~ schedule.cron: 0 2 * * * -> 0 3 * * *
    ~ with.mode: stale -> all
    ~ limits.concurrency: 20 -> 5
    - with.max_age: 20h
    next: 2026-11-21 02:00Z, 2026-11-22 02:00Z, 2026-11-23 02:00Z -> 2026-11-21 03:00Z, 2026-11-22 03:00Z, 2026-11-23 03:00Z
`);
    const csv = (await diff('--against', 'HEAD', '-o', 'csv')).stdout.split('\r\n');
    expect(csv[0]).toBe('policy,change,key,before,after');
    expect(csv).toContain('sync,key,limits.concurrency,20,5');
  });

  test('with an inventory, the targets that are gained and lost are shown, without a request', async () => {
    expect((await desk.run(['inventory', 'save', 'fleet.json'])).code).toBe(0);
    desk.write('config/policies/a.yaml', before.replace('20h', '30h'));
    const requests = sandbox.journal.requests.length;

    const { code, stdout } = await diff('--against', 'HEAD', '--inventory', 'fleet.json', '--json');

    expect(code).toBe(1);
    const [{ policy, targets }] = JSON.parse(stdout).policies;
    expect(policy).toBe('sync');
    expect(targets.gained).toEqual([]);
    expect(targets.lost.length).toBeGreaterThan(3);
    expect(sandbox.journal.requests).toHaveLength(requests);
  });

  test('a word that is neither a folder nor a revision is a usage error', async () => {
    const { code, stderr } = await diff('--against', 'nowhere');
    expect(code).toBe(2);
    expect(stderr).toContain('"nowhere" is neither a folder nor a revision of the git repository');
  });
});

test('a folder can be compared, and a policy whose file has errors there is unknown, not added', async () => {
  cpSync(join(desk.folder, 'config/policies'), join(desk.folder, 'old'), { recursive: true });
  desk.write('old/a.yaml', before.replace('2 * * *', '99 * * *'));
  const { code, stdout } = await diff('--against', 'old');
  expect(code).toBe(1);
  expect(stdout).toBe('? sync (config/policies/a.yaml): its file has errors in old\n');
});

test('files with errors are reported, and nothing is compared: exit code 2', async () => {
  desk.write('config/policies/a.yaml', before.replace('max_age', 'max_ago'));
  const { code, stdout, stderr } = await diff('--against', 'HEAD');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('max_age');
});

test('without --against, the files are compared with what the running daemons fire', async () => {
  const none = await diff();
  expect(none.code).toBe(2);
  expect(none.stderr).toContain('No daemon with the role scheduler is running');

  // It has read the files of another folder, so it does not read the change.
  cpSync(join(desk.folder, 'config'), join(desk.folder, 'other/config'), { recursive: true });
  const daemon = desk.start(
    ['daemon', '--roles', 'scheduler'],
    { CARETAKER_DATA_DIR: join(desk.folder, '.caretaker') },
    join(desk.folder, 'other'),
  );
  await daemon.line(/the daemon is running/);
  expect((await diff()).stderr).toBe('No difference from the running daemons.\n');
  desk.write('config/policies/a.yaml', before.replace('20h', '30h'));

  const changed = await diff();

  daemon.signal('SIGTERM');
  await daemon.ended;
  expect(changed.code).toBe(1);
  expect(changed.stdout).toBe('~ sync (config/policies/a.yaml)\n    ~ with.max_age: 20h -> 1d6h\n');
});
