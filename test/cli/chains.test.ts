/** Policies that follow another (`schedule.after`), as the commands show them. */
import { expect, test } from 'vitest';
import { deskOfFile } from './desk-of-file.ts';

const desk = deskOfFile();
const policy = (name: string, schedule: string) =>
  `  - name: ${name}\n    job: site-sync\n    schedule: { ${schedule} }\n`;
desk.write(
  'config/policies/mine.yaml',
  `policies:\n${[
    policy('reports', 'after: { policy: check, status: [failed, succeeded, partial] }, enabled: false'),
    policy('sync', 'cron: "0 3 * * *"'),
    policy('check', 'after: { policy: sync, within: 6h }'),
  ].join('')}`,
);

test('policies --graph shows each policy below the one that it follows', async () => {
  const { stdout } = await desk.run(['policies', '--graph']);
  expect(stdout).toMatch(/^sync +site-sync +0 3 \* \* \* UTC +\d{4}-\d\d-\d\d 03:00Z/m);
  expect(stdout).toMatch(/^ {2}check +site-sync +after sync +after \d{4}-\d\d-\d\d 03:00Z/m);
  expect(stdout).toMatch(/^ {4}reports +site-sync +after check \(failed, succeeded or partial\)/m);
  const tree = await desk.json(['policies', '--graph']);
  expect(tree.find(({ name }: { name: string }) => name === 'sync')).toMatchObject({
    after: null,
    followed_by: [{ name: 'check', followed_by: [{ name: 'reports' }] }],
  });
});

test('policies show names what it follows and what follows it', async () => {
  expect(await desk.json(['policies', 'show', 'check'])).toMatchObject({
    policy: { schedule: { after: { policy: 'sync', status: ['succeeded'], within: '6h' } } },
    next: [],
    followed_by: ['reports'],
  });
  const { stdout } = await desk.run(['policies', 'show', 'check']);
  expect(stdout).toContain('# next: after sync\n# followed by: reports\n');
});

test('next lists a policy below each scheduled time of the one that it follows, without a time', async () => {
  const rows = await desk.json(['next', 'sync', 'check', 'reports', '--until', '1d']);
  expect(rows.map(({ policy }: { policy: string }) => policy)).toEqual(['sync', 'check', 'reports']);
  expect(rows[1]).toMatchObject({
    after: 'sync',
    not_before: rows[0].fires_at,
    scheduled_for: null,
    fires_at: null,
    skipped: null,
  });
  expect(rows[2]).toMatchObject({ after: 'check', skipped: { why: 'disabled' } });
  const { stdout } = await desk.run(['next', 'check', '--until', '1d']);
  expect(stdout).toMatch(/^ {2}after sync +check +site-sync/m);
});
