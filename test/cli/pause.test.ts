import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OpenRecords } from '../../src/app/open-records.ts';
import { type Desk, openDesk } from '../support/cli.ts';

let desk: Desk;
let known: OpenRecords;
beforeAll(async () => {
  desk = openDesk({});
  known = await desk.keepRedis();
});
afterAll(() => desk.clear());

const pausedOf = async () =>
  JSON.parse((await desk.run(['policies', '--json'])).stdout).find(
    ({ name }: { name: string }) => name === 'nightly-sync',
  );

test('a second pause without a word changes nothing and tells who paused, when and why', async () => {
  await desk.run(['policies', 'pause', 'nightly-sync', '--reason', 'moving house']);

  const again = await desk.run(['policies', 'pause', 'nightly-sync']);

  expect(again.code).toBe(0);
  expect(again.stderr).toMatch(
    /^nightly-sync is paused already: paused by \S+ since \S+ \S+Z \(moving house\)\. Nothing was changed\.$/m,
  );
  expect(await pausedOf()).toMatchObject({ paused: { reason: 'moving house', until: null }, next: null });

  const longer = await desk.run(['policies', 'pause', 'nightly-sync', '--for', '3d']);
  expect(longer.stderr).toContain('This replaces an earlier pause: paused by');
  const { paused, next } = await pausedOf();
  expect(paused.reason).toBe('moving house');
  // Three days on it fires again by itself.
  expect(Date.parse(paused.until) - Date.parse(paused.at)).toBe(3 * 86_400_000);
  expect(Date.parse(next)).toBeGreaterThanOrEqual(Date.parse(paused.until));

  const resumed = await desk.run(['policies', 'resume', 'nightly-sync']);
  expect(resumed.stderr).toMatch(/^nightly-sync fires again; it was paused by .* \(moving house\)\.$/m);
  expect((await desk.run(['policies', 'resume', 'nightly-sync'])).stderr).toContain('was not paused');
});

test.each([
  [['--until', 'tomorow'], '--until must be a time or a duration'],
  [['--until', '2020-01-01'], 'must be in the future; 2020-01-01 00:00Z is not'],
  [['--for', '3'], '--for must be a duration'],
  [['--for', '3d', '--until', '2d'], 'Give either --until or --for.'],
])('a pause with %j is refused in one sentence', async (options, sentence) => {
  const { code, stderr } = await desk.run(['policies', 'pause', 'nightly-sync', ...options]);
  expect(code).toBe(2);
  expect(stderr).toContain(sentence);
  expect((await known.records.policies.state('nightly-sync')).pause).toBeUndefined();
});

test('pausing or resuming a policy that is not there names the one that was meant', async () => {
  for (const verb of ['pause', 'resume']) {
    const { code, stderr } = await desk.run(['policies', verb, 'nightly-synk']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: There is no policy "nightly-synk" in \S+: did you mean nightly-sync\?$/m);
  }
});

test('what somebody gave as a reason does not steer the terminal of whoever reads it', async () => {
  await desk.run(['policies', 'pause', 'nightly-sync', '--reason', 'gone\u001b[2J']);
  const { stdout } = await desk.run(['policies', 'show', 'nightly-sync']);
  expect(stdout).toContain('(gone\\u001b[2J)');
  await desk.run(['policies', 'resume', 'nightly-sync']);
});

const shipped = ['activity-logs', 'monthly-reports', 'nightly-sync', 'staging-cleanup', 'update-check'];

/** The shipped policies that are paused, by what is remembered of them. */
async function paused(): Promise<string[]> {
  const states = await known.records.policies.many(shipped);
  return shipped.filter((name) => states.get(name)?.pause);
}

test('several policies are paused at once, by names, by a pattern, by job, or all', async () => {
  await desk.run([
    'policies',
    'pause',
    'nightly-sync',
    'update-check',
    '--for',
    '3d',
    '--reason',
    'moving house',
  ]);
  expect(await paused()).toEqual(['nightly-sync', 'update-check']);
  const resumed = await desk.run(['policies', 'resume', '*-sync', 'update-?heck']);
  expect(resumed.stderr).toMatch(
    /^nightly-sync fires again; .*\(moving house\)\.\nupdate-check fires again; /m,
  );

  await desk.run(['policies', 'pause', '--job', 'staging-cleanup']);
  expect(await paused()).toEqual(['staging-cleanup']);
  await desk.run(['policies', 'pause', '--all']);
  expect(await paused()).toEqual(shipped);
  await desk.run(['policies', 'resume', '--all']);
  expect(await paused()).toEqual([]);
  expect((await desk.run(['policies', 'resume', '--all'])).stderr).toMatch(
    /^None of these \d+ policies was paused\.$/m,
  );
});

test.each([
  [[], 'Say which policies: by name, by a pattern'],
  [['never-*'], 'None of the policies is one of those you mean'],
  [['nightly-*', '--job', 'update-check'], 'None of the policies is one of those you mean'],
  [['nightly-sync', 'nightly-synk'], 'There is no policy "nightly-synk"'],
])('pausing %j is refused, and nothing is changed', async (words, sentence) => {
  const { code, stderr } = await desk.run(['policies', 'pause', ...words]);
  expect(code).toBe(2);
  expect(stderr).toContain(sentence);
  expect(await paused()).toEqual([]);
});
