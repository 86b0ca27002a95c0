/** Commands that change policies, freezes, runs and announcements: with `--server` as on the machine of the server. */
import { afterAll, expect, test, vi } from 'vitest';
import type { Ended } from '../support/cli.ts';
import { alike, openPair, type Pair } from './server-pair.ts';

// Each test starts some twenty processes.
vi.setConfig({ testTimeout: 360_000 });

const pair = await openPair(`policies:
  - { name: one, job: site-sync, schedule: { cron: "0 2 1 1 *" } }
  - { name: other, job: site-sync, schedule: { cron: "0 2 1 1 *" } }
  - name: asked
    job: site-sync
    select: { where: 'site.id in ["site-0003", "site-0004"]' }
    schedule: { cron: "0 6 1 1 *", overlap: allow }
    approval: { when: always }
  - name: ringed
    job: update-rings
    with: { rings: [{ name: canary, percent: 50% }, { name: rest }] }
  - name: removals
    job: api-call
    select: { from: listSites, where: 'site.id in ["site-0001", "site-0002"]' }
    with: { operation: deleteSite, confirm: deleteSite, grace: 3d }
`);
const { same, sameEach } = pair;
afterAll(pair.clear);

/** Without times to the minute: the two commands may run in different ones. */
const atSomeTime = ({ code, stdout, stderr }: Ended): Ended => {
  const text = (output: string) =>
    output.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\dZ/g, '<minute>').replaceAll(/by (admin|root)/g, 'by <who>');
  return { code, stdout: text(stdout), stderr: text(stderr) };
};

/** The two commands on two things, one each: what they print differs in the names alone. */
async function sameOn(names: readonly [string, string], args: (name: string) => string[]): Promise<Ended> {
  const local = await pair.here(args(names[0]));
  const away = await pair.remote(args(names[1]));
  const unnamed = (ended: Ended, name: string) =>
    JSON.parse(JSON.stringify(atSomeTime(alike(ended))).replaceAll(name, '<name>'));
  expect(unnamed(away, names[1])).toEqual(unnamed(local, names[0]));
  return local;
}

test('rings are shown, held and released', async () => {
  expect((await same(['policies', 'rings', 'one'])).stderr).toContain('has no rings');
  await pair.here(['run', 'ringed']);
  expect((await same(['policies', 'rings', 'ringed'])).stdout).toMatch(/canary, \d+ sites?: it updates/);
  await same(['policies', 'hold', 'ringed', 'early']);
  for (const args of [
    ['hold', 'ringed', 'rest', '--reason', 'busy'],
    ['unhold', 'ringed', 'rest'],
  ]) {
    const local = await pair.here(['policies', ...args]);
    expect(alike(await pair.remote(['policies', ...args])).code).toBe(local.code);
    expect(local).toMatchObject({ code: 0, stderr: expect.stringContaining('eld: rest.') });
  }
  await same(['policies', 'release', 'ringed', 'core', '6.9']);
});

test('policies are paused and resumed', async () => {
  const both = ['one', 'other'] as const;
  const until = ['--until', '2099-01-01', '--reason', 'moving'];
  const paused = await sameOn(both, (name) => ['policies', 'pause', name, ...until]);
  expect(paused).toMatchObject({ code: 0, stderr: expect.stringContaining('paused') });
  await same(['policies']);
  await sameOn(both, (name) => ['policies', 'pause', name]);
  await sameOn(both, (name) => ['policies', 'resume', name]);
  await sameOn(both, (name) => ['policies', 'resume', name]);
  await sameOn(['on*', 'oth*'], (pattern) => ['policies', 'resume', pattern]);
  await same(['policies', 'pause', 'one', '--until', '2020-01-01']);
});

test('freezes begin, are listed, and end', async () => {
  await same(['freeze', 'list']);
  const everything = ['freeze', 'add', '--until', '2099-01-01', '--reason', 'Christmas'];
  await pair.here(everything);
  const ends = (on: Pair['here']) => on(['freeze', 'end']).then(atSomeTime);
  const ended = await ends(pair.here);
  await pair.remote(everything);
  expect(await ends(pair.remote)).toEqual(ended);
  await pair.remote(everything);
  await same(['freeze', 'list']);
  await same(['freeze', 'list', '--json']);
  await same(['freeze', 'add']);
  await same(['freeze', 'add', '--for', '1h', '--job', 'site-snyc']);
  await same(['freeze', 'add', '--for', '1h', '--tag', 'no such tag']);
  await sameOn(['1', '2'], () => ['freeze', 'add', '--until', '2099-01-01', '--account', 'default']);
  const listed = JSON.parse((await pair.here(['freeze', 'list', '--json'])).stdout) as {
    id: string | null;
  }[];
  const ids = listed.flatMap(({ id }) => id ?? []);
  expect(ids).toHaveLength(2);
  await sameOn([ids[0] ?? '', ids[1] ?? ''], (id) => ['freeze', 'end', id]);
  await same(['freeze', 'end', '4711']);
  await pair.here(['freeze', 'end']);
  await sameEach(['freeze end', 'freeze list']);
});

test('runs are cancelled and resumed, or it is said why not', async () => {
  const ids = [];
  for (const on of [pair.here, pair.remote]) {
    const { stdout } = await on(['run', 'asked', '--json']);
    ids.push(/asked\.\d{8}T\d+Z(?:-[\w-]+)?/.exec(stdout)?.[0] ?? '');
  }
  const both = [ids[0] ?? '', ids[1] ?? ''] as const;
  await sameOn(both, (id) => ['runs', 'resume', id, '--reason', 'checked']);
  expect(await sameOn(both, (id) => ['runs', 'cancel', id, '--reason', 'not today'])).toMatchObject({
    code: 0,
  });
  for (const command of ['cancel', 'resume']) await sameOn(both, (id) => ['runs', command, id]);
  await same(['runs', 'cancel', 'nothing']);
});

test('queues are shown and resumed', async () => {
  await sameEach(['queues', 'queues --json', 'queues resume']);
});

test('notifications are listed and sent again, and a test message says what became of it', async () => {
  // The sandbox is no receiver of webhooks.
  const rejected = await same(['notify', 'test', 'ops']);
  expect(rejected.stderr).toMatch(/^"ops" was not notified: it answered with HTTP 4\d\d\.$/m);
  expect(rejected.code).not.toBe(0);
  await sameEach(['notify test opps', 'notify list', 'notify list --json', 'notify resend msg_unknown']);
});

test('announced changes are listed and cancelled', async () => {
  await same(['announcements']);
  await pair.here(['run', 'removals']);
  const listed = await same(['announcements']);
  expect(listed.stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\dZ +removals +deleteSite /m);
  const { stdout } = await same(['announcements', '--policy', 'removals', '--json']);
  await same(['announcements', '--policy', 'nothing']);
  const found = JSON.parse(stdout) as { id: string; label: string }[];
  const by = (id: string) => found.find((one) => one.id === id);
  const [first, second] = found.map(({ id }) => id);
  const both = [first ?? '', second ?? ''] as const;
  const words = (ended: Ended, id: string) => ended.stderr.replaceAll(by(id)?.label ?? '', '<label>');
  const local = await pair.here(['announcements', 'cancel', both[0], '--reason', 'a mistake']);
  const away = await pair.remote(['announcements', 'cancel', both[1], '--reason', 'a mistake']);
  expect(words(away, both[1])).toBe(words(local, both[0]));
  expect(local).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(
      /^Cancelled: removals does not make the change of .* UTC to .*\. Its note was removed\.$/m,
    ),
  });
  expect(away.code).toBe(0);
  await same(['announcements', 'cancel', '4711']);
  const run = await pair.here(['run', 'removals', '--json']);
  expect(run.stdout.match(/"announcement-removed"/g)?.length).toBeGreaterThanOrEqual(2);
});

test('the audit log shows what both did', async () => {
  await sameEach(['audit --limit 500', 'audit --what policies --json']);
  const audit = await same(['audit', '--what', 'announcements', '-o', 'csv']);
  expect(audit.stdout).toContain('a mistake');
  await sameEach(['audit --what nothing', 'audit --since yesterday-ish']);
});
