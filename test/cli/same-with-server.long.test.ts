/**
 * Each command with `--server` against the same command on the machine of the server: what is printed is the same, on
 * both streams and in every format, and so is the exit code. A real daemon, and real commands.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Records } from '../../src/records/records.ts';
import type { Ended } from '../support/cli.ts';
import { alike, OPERATOR, ofSameMinutes, openPair } from './server-pair.ts';

const { desk, daemon, server, here, remote, same, sameEach, sameBut, clear } = await openPair(`policies:
  - name: sync
    description: Every night
    labels: { team: shop }
    job: site-sync
    select: { where: 'site.id in ["site-0001", "site-0002"]' }
    schedule: { cron: "0 2 * * *", timezone: Europe/Berlin, jitter: 10m }
  - name: after-sync
    job: site-sync
    select: { where: 'site.id == "site-0012"' }
    schedule: { after: { policy: sync } }
  - name: asked
    job: site-sync
    select: { where: 'site.id in ["site-0003", "site-0004"]' }
    schedule: { cron: "0 6 1 1 *", overlap: allow }
    approval: { when: always }
  - name: rolled
    job: site-sync
    select: { where: 'site.id in ["site-0005", "site-0006", "site-0007"]' }
    rollout: { batches: [1, 1], pause: 24h }
  - name: "off"
    job: site-sync
    select: { where: 'site.id == "site-0008"' }
    schedule: { cron: "0 5 * * 1", enabled: false }
  - name: single
    job: site-sync
    select: { where: 'site.id == "site-0011"' }
  - name: planned
    job: site-sync
    select: { where: 'site.id in ["site-0009", "site-0010"]' }
`);
afterAll(clear);

/** Resolves at the next event of any run, or after a second. */
async function untilNextEvent(records: Records): Promise<void> {
  let hear = () => {};
  const heard = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const stop = await records.listen(() => hear());
  await Promise.race([heard, systemClock.sleep(1_000)]);
  await stop();
}

/**
 * Resolves when the daemon has decided who follows the last end of `sync`, and no run moves on: what is active waits
 * for somebody.
 */
async function untilNothingMoves(): Promise<void> {
  const { records } = await desk.keepRedis();
  const isAtRest = async () => {
    const [[last], { cursor = 0 }, active] = await Promise.all([
      records.runs.list({ policy: 'sync', limit: 1 }),
      records.policies.state('after-sync'),
      records.runs.active('default'),
    ]);
    return (
      cursor >= (last?.finishedAt ?? 0) &&
      active.every(({ status, rollout }) => status === 'awaiting-approval' || rollout?.is === 'pausing')
    );
  };
  while (!(await isAtRest())) await untilNextEvent(records);
}

const idIn = ({ stdout }: Ended, policy: string): string =>
  new RegExp(`${policy}\\.\\d{8}T\\d+Z(?:-[\\w-]+)?`).exec(stdout)?.[0] ?? '';

test('a run is started, followed, listed and shown', async () => {
  const { away } = await sameBut(['run', 'sync']);
  expect(away).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sync\.\S+ succeeded in /m) });
  await sameBut(['run', 'single', '--target', 'site-0011', '--json']);
  await same(['run', 'single', '--target', 'nothing']);
  // The runs that follow those of `sync` would move on between the two commands.
  await untilNothingMoves();
  await sameEach([
    ...['runs', 'runs --json', 'runs --policy sync --status failed', 'runs --status finished'],
    ...['runs show last', 'runs show last --json', 'runs show last --target site-0001'],
    ...['runs show last -o csv', 'runs compare last', 'runs compare last --with 7d'],
    ...['runs show sink', 'runs show sync.', 'runs watch last', 'runs retry last', 'status'],
    ...['sites', 'sites show site-0001', 'site show site-0012 --json'],
    ...['sites --outcome succeeded --json'],
  ]);
});

test('a run that waits for an approval is left with the commands that decide it, and shown with it', async () => {
  const { local, away } = await sameBut(['run', 'asked', '--json']);
  expect(away).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Approve it: +caretaker approvals approve asked\./m),
  });
  const [first, second] = [idIn(local, 'asked'), idIn(away, 'asked')];
  await sameEach(['approvals', 'approvals --json']);
  const shown = await same(['runs', 'show', first]);
  expect(shown.stdout).toMatch(
    /^It waits for an approval until .*Every run of the policy needs an approval\.$/m,
  );
  await same(['runs', 'show', first, '--json']);
  await same(['runs', 'show', first, '--target', 'site-0003']);
  await same(['runs', 'asked']);

  const part = ['--target', 'site-0003'];
  expect(alike(await remote(['approvals', 'reject', first, ...part]))).toEqual(
    alike(await here(['approvals', 'reject', second, ...part])),
  );
  expect(alike(await remote(['approvals', 'approve', first]))).toEqual(
    alike(await here(['approvals', 'approve', second])),
  );
  await untilNothingMoves();
  await same(['approvals', 'approve', first]);
});

test('a run with batches is shown with them, and is continued manually', async () => {
  const local = await here(['run', 'rolled', '--detach']);
  const id = local.stdout.trim();
  const away = await remote(['run', 'rolled', '--detach']);
  expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining(`its run ${id} has not ended`) });
  // The daemon has no log line when a batch has ended.
  const { records } = await desk.keepRedis();
  const isPausing = async () => (await records.runs.get(id))?.rollout?.is === 'pausing';
  while (!(await isPausing())) await untilNextEvent(records);
  const shown = await same(['runs', 'show', id]);
  expect(shown.stdout).toMatch(/^It pauses after batch 1 of 3 /m);
  expect(await remote(['runs', 'resume', id])).toMatchObject({
    code: 0,
    stderr: `The pause of ${id} has ended: its gate is asked next.\n`,
  });
});

test('policies are listed, shown and explained', async () => {
  await untilNothingMoves();
  await sameEach([
    ...['policies', 'policies --label team=shop --label team', 'policies --label team=other'],
    ...['policies --graph', 'policies --graph --json', 'policies show sync --json'],
    ...['policies show sync --expanded'],
  ]);
  const shown = await here(['policies', 'show', 'sync']);
  // The file is on the machine of the server, so its path is complete.
  const away = await remote(['policies', 'show', 'sync']);
  expect(away.stdout.replace(`${desk.folder}/`, '')).toBe(shown.stdout);
  await sameEach([
    ...['next', 'next sync --until 2d --json', 'why sync tomorrow'],
    ...['why sync yesterday --json', 'why sync 2026-02-30'],
    ...['backfill sync --from 3d --dry-run', 'backfill rolled --from 3d'],
  ]);
});

test('a policy that the server does not have is named with what is close to it', async () => {
  for (const args of [
    ['next', 'synk'],
    ['why', 'synk', 'today'],
    ['policies', 'show', 'synk'],
    ['run', 'synk'],
  ]) {
    const { code, stderr } = await remote(args);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `error: There is no policy "synk" on ${server}: did you mean sync?\n`,
    });
  }
});

test('past scheduled times are run, one after the other', async () => {
  // The second backfill shows what became of the first.
  const state = (ended: Ended) => ({
    ...alike(ended),
    stdout: alike(ended).stdout.replaceAll(/^(.* UTC +run +).*$/gm, '$1<state>'),
  });
  const range = ['backfill', 'off', '--from', '7d', '--reprocess', 'all'];
  expect(state(await remote(range))).toEqual(state(await here(range)));
});

test('a plan is saved here and applied there, once, with its checks', async () => {
  const [local, away] = [join(desk.folder, 'here.plan'), join(desk.folder, 'away.plan')];
  const words = ({ stdout }: Ended) => stdout.replaceAll(/took? about.*/g, '');
  await sameEach([
    ...['plan planned', 'plan planned --detailed-exitcode', 'plan planned --expires 3d'],
    ...['plan planned --out x.plan --expires 31d'],
  ]);
  const made = await here(['plan', 'planned', '--out', local, '--detailed-exitcode']);
  const there = await remote(['plan', 'planned', '--out', away, '--detailed-exitcode']);
  expect(there.code).toBe(2);
  expect(ofSameMinutes({ ...there, stdout: words(there) }, { ...made, stdout: words(made) })).toMatchObject({
    code: made.code,
    stdout: words(made),
  });
  expect(there.stderr).toMatch(
    /^Saved as .*away\.plan: 2 requests for 2 targets\. It can be applied until /m,
  );
  await same(['apply', away]);

  const edited = join(desk.folder, 'edited.plan');
  desk.write('edited.plan', readFileSync(away, 'utf8').replace('site-0009', 'site-0011'));
  await same(['apply', edited, '--yes']);

  const applied = await remote(['apply', away, '--yes', '--reason', 'agreed']);
  expect(applied.code).toBe(0);
  expect(applied.stdout).toMatch(/^planned\.\S+-plan-\w+ succeeded in .*: 2 succeeded/m);
  const appliedHere = alike(await here(['apply', local, '--yes']));
  expect(appliedHere.stdout).toBe(ofSameMinutes(alike(applied), appliedHere).stdout);
  const again = await same(['apply', away, '--yes']);
  expect(again).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/applied already.*\[ALREADY_APPLIED\]$/m),
  });
});

test('a plan of a policy that was changed since is applied only by an admin without limits', async () => {
  const file = join(desk.folder, 'old.plan');
  await here(['plan', 'planned', '--out', file]);
  const policies = readFileSync(join(desk.folder, 'config/mine/all.yaml'), 'utf8');
  desk.write('config/mine/all.yaml', policies.replace('name: planned', 'name: planned\n    priority: low'));
  await daemon.line(/policies read again/);

  const refused = await remote(['apply', file, '--yes'], OPERATOR);
  expect(refused).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /^error: The policy planned is not defined here as in this plan\..*\[SAVED_PLAN\]$/m,
    ),
  });
  const applied = await remote(['apply', file, '--yes']);
  expect(applied.stderr).toContain('The policy planned has changed since the plan was made.');
  expect(applied.stdout).toMatch(/^planned\.\S+-plan-/m);
});

test('the targets of a run are exported', async () => {
  await sameEach(['runs export last', 'runs export last -o jsonl', 'runs export last -o json']);
});
