/** What the audit log shows in addition to commands, from a real daemon. */
import { appendFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { signInsTo } from '../../src/app/audit-events.ts';
import { startDaemon } from '../../src/app/daemon.ts';
import type { Role } from '../../src/app/roles.ts';
import { openAudit, openAuditFile } from '../../src/control/audit.ts';
import { folderWith } from '../settings/folder.ts';
import { until, type World, type WorldOptions } from '../support/caretaker.ts';
import { keptLog } from '../support/quiet.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { auditLines } from './acting.ts';

let world: World;
const start = async (options: WorldOptions = {}) => {
  world = await worldOfTest({ sites: 1, work: false, ...options });
};
const startWithDaemon = async (role: Role, options?: WorldOptions) => {
  await start(options);
  const daemon = await startDaemon({ caretaker: world.caretaker, roles: [role] });
  onTestFinished(() => daemon.stop());
  return daemon;
};
const lines = () => auditLines(world);

test('a changed, an added and a removed policy have lines with the hashes of their versions', async () => {
  const policiesDir = folderWith({ 'sync.yaml': 'policies:\n  - { name: sync, job: site-sync }\n' });
  const file = join(policiesDir, 'sync.yaml');
  await startWithDaemon('worker', { policiesDir });
  appendFileSync(file, '  - { name: other, job: site-sync }\n');
  await until(world, async () => (await lines()).length === 1);
  writeFileSync(file, 'policies:\n  - { name: sync, job: site-sync, limits: { max_targets: 5 } }\n');
  await until(world, async () => (await lines()).length === 3);

  expect(await lines()).toMatchObject([
    { what: 'policy-file.changed', policy: 'other', detail: expect.stringMatching(/^added: \w+$/) },
    { what: 'policy-file.changed', policy: 'sync', detail: expect.stringMatching(/^\w+ -> \w+$/) },
    { what: 'policy-file.changed', policy: 'other', detail: expect.stringMatching(/^removed: \w+$/) },
  ]);
  expect(new Set((await lines()).map(({ who }) => who.kind))).toEqual(new Set(['daemon']));
});

test('signing in, failing to sign in and signing out have lines', async () => {
  const { dashboard } = await startWithDaemon('dashboard', { policiesDir: folderWith({}) });
  const { url = '', signInLink = '' } = dashboard ?? {};
  await fetch(`${url}/sign-in?key=wrong`, { redirect: 'manual' });
  const signedIn = await fetch(signInLink, { redirect: 'manual' });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  await fetch(`${url}/sign-out`, { method: 'POST', redirect: 'manual', headers: { cookie, origin: url } });
  await until(world, async () => (await lines()).some(({ what }) => what === 'sign-out'));

  expect(await lines()).toMatchObject([
    { what: 'sign-in', result: 'refused', code: 'SIGN_IN', from: '127.0.0.1' },
    { what: 'sign-in', result: 'done', who: { kind: 'user', name: 'admin' } },
    { what: 'sign-out', result: 'done', who: { kind: 'user', name: 'admin' } },
  ]);
});

test('attempts that are refused unread cannot fill the log', async () => {
  await start();
  const { audit, clock } = world.caretaker;
  const note = signInsTo(audit, clock.now);
  for (let index = 0; index < 50; index += 1)
    note({ address: '192.0.2.1', ok: false, why: 'too many attempts' });
  await until(world, async () => (await lines()).length > 0);
  expect(await lines()).toHaveLength(1);
});

test('lines are appended to a file, which can be renamed at any time', async () => {
  await start();
  const { records, clock } = world.caretaker;
  const path = join(folderWith({}), 'logs', 'audit.jsonl');
  const log = keptLog();
  const audit = openAudit({ records, clock, keptMs: 3_600_000, log, file: openAuditFile(path, log) });
  const event = { result: 'done', who: { kind: 'user', name: 'anna' }, from: '192.0.2.1' } as const;
  await audit.note({ ...event, what: 'first' });
  renameSync(path, `${path}.1`);
  await audit.note({ ...event, what: 'second' });

  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as object;
  expect(read(`${path}.1`)).toMatchObject({ what: 'first', who: { name: 'anna' }, error: null });
  expect(read(path)).toMatchObject({ what: 'second' });
});

test('a file that cannot be written does not stop an act', async () => {
  await start();
  const { records, clock } = world.caretaker;
  const log = keptLog();
  const folder = folderWith({ 'no-folder': '' });
  const file = openAuditFile(join(folder, 'no-folder', 'audit.jsonl'), log);
  const audit = openAudit({ records, clock, keptMs: 3_600_000, log, file });
  await audit.note({ result: 'done', who: { kind: 'user', name: 'anna' }, from: 'here', what: 'first' });
  expect(await lines()).toHaveLength(1);
  expect(log.lines.join()).toContain('cannot be written to');
  expect(log.lines.join()).toContain('a part of its path is not a folder');
});

test('no code but the store of the log uses its key, and the store only adds lines and lets old ones expire', () => {
  const src = join(import.meta.dirname, '../../src');
  const users = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .filter((file) => /keys\.audit\b/.test(readFileSync(join(src, file), 'utf8')));
  expect(users).toEqual(['records/audit-store.ts']);
  const store = readFileSync(join(src, 'records/audit-store.ts'), 'utf8');
  const commands = [...store.matchAll(/redis\.call\('(\w+)'|\bstore\.(\w+)\(/g)].map(
    ([, inScript, called]) => inScript ?? called,
  );
  expect(new Set(commands)).toEqual(
    new Set(['XREVRANGE', 'XADD', 'XTRIM', 'PEXPIRE', 'xrevrange', 'xrange']),
  );
});
