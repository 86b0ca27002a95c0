/** An account is saved in a file, and a policy is planned with this file only. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { deskOfFile, sandboxOfFile } from './desk-of-file.ts';

const { desk } = await sandboxOfFile({ sites: 30 });
// A machine without an account and without Redis.
const elsewhere = deskOfFile({ REDIS_URL: 'redis://127.0.0.1:1' });

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
  onTestFinished(() => service.stop());
  service.outage.begin('unstable-order');
  const there = { CARETAKER_BASE_URL: service.url };
  for (const command of [
    ['inventory', 'save', 'part.json', '--policy', 'nightly-sync'],
    ['api', 'listSites', '--all'],
  ])
    expect((await desk.run(command, there)).stderr).toContain(
      'warning: listSites is incomplete: 100 of the 105 items that the service counts arrived.',
    );
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
