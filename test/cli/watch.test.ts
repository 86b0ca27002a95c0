/** `runs watch` follows what another process does; `runs show --failed` shows what went wrong. */
import { expect, test } from 'vitest';
import { fastClock } from '../support/caretaker.ts';
import { untilSeen } from '../support/cli.ts';
import { sandboxOfFile } from './desk-of-file.ts';

const { sandbox, desk } = await sandboxOfFile({ sites: 6, clock: fastClock(5) });
desk.write(
  'config/policies/sync.yaml',
  `policies:
  - { name: sync, job: site-sync }
  - { name: impossible, job: api-call, select: { from: listSites }, with: { operation: createSiteCustomWorks, body: { custom_works: [{ title: Work, performed_on: "2099-01-01" }] } } }
`,
);

test('watching a run shows its result when another process has ended it, and sends nothing itself', async () => {
  const before = sandbox.journal.effects.length;
  const working = desk.start(['run', 'sync']);
  await untilSeen(() => sandbox.journal.effects.length > before);

  const watching = await desk.run(['runs', 'watch', '--json'], { CARETAKER_API_TOKEN: 'of-nobody' });

  const { code } = await working.ended;
  expect(watching.code).toBe(code);
  const report = JSON.parse(watching.stdout);
  expect(report).toEqual(await desk.json(['runs', 'show', 'last']));
  expect(report.finished_at).not.toBeNull();
});

test('a run that has ended is shown at once, with the exit code of its status', async () => {
  const failed = await desk.run(['run', 'impossible']);
  expect(failed.code).toBe(1);

  const { code, stdout } = await desk.run(['runs', 'watch']);

  expect(code).toBe(1);
  expect(stdout).toBe(failed.stdout);
});

test('--failed shows only the targets that failed, with reason and detail, in every format', async () => {
  const all = (await desk.json(['runs', 'show', 'last'])).targets;
  const failed = all.filter(({ outcome }: { outcome: string }) => outcome === 'failed');
  expect(failed.length).toBeGreaterThan(0);

  const { stdout } = await desk.run(['runs', 'show', 'last', '--failed', '-o', 'jsonl']);

  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows.map(({ id }) => id)).toEqual(failed.map(({ id }: { id: string }) => id));
  expect(rows[0]).toMatchObject({ reason: expect.any(String), detail: expect.any(String) });
  const table = (await desk.run(['runs', 'show', 'last', '--failed'])).stdout;
  expect(table).toContain(rows[0].detail);
});

test('Ctrl-C stops watching and leaves the run as it is', async () => {
  for (const id of sandbox.siteIds()) sandbox.site(id).lastSynced(30 * 3_600_000);
  const before = sandbox.journal.effects.length;
  const working = desk.start(['run', 'sync']);
  await untilSeen(() => sandbox.journal.effects.length > before);
  working.signal('SIGINT');
  await working.ended;

  const watching = desk.start(['runs', 'watch']);
  await watching.line(/No process works on sync\./);
  await watching.line(/caretaker runs resume sync\./);
  watching.signal('SIGINT');

  expect((await watching.ended).code).toBe(130);
  const [{ status }] = await desk.json(['runs']);
  expect(status).toBe('running');
});
