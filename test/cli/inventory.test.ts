/** An account is saved in a file, and a policy is planned with this file only. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';

let sandbox: Sandbox;
let desk: Desk;
let elsewhere: Desk;
beforeAll(async () => {
  sandbox = await startSandbox({ sites: 30, rateLimit: 0 });
  desk = openDesk({ CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: sandbox.token });
  // A machine without an account and without Redis.
  elsewhere = openDesk({ REDIS_URL: 'redis://127.0.0.1:1' });
  await desk.keepRedis();
});
afterAll(async () => {
  await desk.clear();
  await elsewhere.clear();
  await sandbox.stop();
});

test('an inventory is saved, and shows its plan on a machine without account and Redis', async () => {
  const file = join(elsewhere.folder, 'fleet.json.gz');
  const saved = await desk.run(['inventory', 'save', file, '--json']);
  expect(saved).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(saved.stdout)).toMatchObject({ file, lists: { listSites: 30 }, incomplete: [] });

  const planned = await elsewhere.run(['plan', 'nightly-sync', '--inventory', file]);

  expect(planned.code).toBe(0);
  expect(planned.stdout).toMatch(/^nightly-sync \(site-sync\) would work on \d+ targets?\.\n/);
  // The cost is in the summary, before any table.
  expect(planned.stdout.split('\n\n')[0]).toMatch(
    /^Planning cost \d+ requests?\. A run would cost about \d+ more/m,
  );
  expect(planned.stderr).toMatch(
    /^Planned with fleet\.json\.gz \(saved .*Earlier runs are not taken into account\.$/m,
  );
  expect(existsSync(join(elsewhere.folder, '.caretaker'))).toBe(false);

  // What a check would report is counted once.
  elsewhere.write(
    'config/policies/away.yaml',
    [
      'policies:',
      `  - { name: away, job: check, select: { from: listSites, where: 'site.connection.status != "connected"' } }`,
    ].join('\n'),
  );
  const checked = await elsewhere.run(['plan', 'away', '--inventory', file]);
  expect(checked.stdout).toMatch(/^away \(check\) would report \d+ findings?\.\nAlso: \d+ excluded\.\n/);
});

test('a list that arrives incomplete is said to be so', async () => {
  const service = await startSandbox({ sites: 105, rateLimit: 0 });
  const trial = openDesk({ CARETAKER_BASE_URL: service.url, CARETAKER_API_TOKEN: service.token });
  await trial.keepRedis();
  try {
    service.outage.begin('unstable-order');
    for (const command of [
      ['inventory', 'save', 'part.json', '--policy', 'nightly-sync'],
      ['api', 'listSites', '--all'],
    ])
      expect((await trial.run(command)).stderr).toContain(
        'warning: listSites is incomplete: 100 of the 105 items that the service counts arrived.',
      );
  } finally {
    await trial.clear();
    await service.stop();
  }
});

test('an inventory of one policy names what it lacks for another policy', async () => {
  const saved = await desk.run(['inventory', 'save', 'syncs.json', '--policy', 'nightly-sync']);
  expect(saved.stderr).toMatch(/Saved syncs\.json \(\d+ KiB, without secrets\)\. It cost 1 request\./);

  const { code, stderr } = await desk.run(['plan', 'update-check', '--inventory', 'syncs.json']);

  expect(code).toBe(2);
  expect(stderr).toContain('syncs.json does not hold listAutoUpdateSchedules.');
  expect(stderr).toContain('[NOT_IN_INVENTORY]');
});

test('what an inventory lacks for another time is saved by the command that the error names', async () => {
  const plan = ['plan', 'monthly-reports', '--at', '2026-08-02', '--inventory'];
  const refused = await desk.run([...plan, 'syncs.json']);
  const [, advice = ''] = /"caretaker (inventory save [^"]*)"/.exec(refused.stderr) ?? [];
  expect(advice).toBe('inventory save --policy monthly-reports --at 2026-08-02T00:00:00Z');

  const [inventory = '', save = '', ...options] = advice.split(' ');
  await desk.run([inventory, save, 'reports.json', ...options]);
  expect(await desk.run([...plan, 'reports.json'])).toMatchObject({ code: 0 });
});

test('a time without an inventory, and an invalid time, are rejected', async () => {
  expect(await desk.run(['plan', 'nightly-sync', '--at', '2026-12-01'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('give --inventory too'),
  });
  expect(await desk.run(['plan', 'nightly-sync', '--at', 'soon', '--inventory', 'syncs.json'])).toMatchObject(
    { code: 2, stderr: expect.stringContaining('--at must be a time such as 2026-12-01') },
  );
});
