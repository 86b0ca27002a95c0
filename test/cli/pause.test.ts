import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deskOfFile } from './desk-of-file.ts';

const desk = deskOfFile({});
const known = await desk.keepRedis();

const pausedOf = async () =>
  (await desk.json(['policies'])).find(({ name }: { name: string }) => name === 'nightly-sync');

test('a second pause without options changes nothing and shows who paused, when and why', async () => {
  await desk.run(['policies', 'pause', 'nightly-sync', '--reason', 'moving house']);

  const again = await desk.run(['policies', 'pause', 'nightly-sync']);

  expect(again.code).toBe(0);
  expect(again.stderr).toMatch(
    /^nightly-sync is already paused by \S+ since \S+ \S+Z \(moving house\)\. Nothing was changed\.$/m,
  );
  expect(await pausedOf()).toMatchObject({ paused: { reason: 'moving house', until: null }, next: null });

  const longer = await desk.run(['policies', 'pause', 'nightly-sync', '--for', '3d']);
  expect(longer.stderr).toContain('This replaces an earlier pause: paused by');
  expect(longer.stderr).toMatch(
    /^nightly-sync is paused until \S+ \S+Z, and is then resumed automatically\.$/m,
  );
  const { paused, next } = await pausedOf();
  expect(paused.reason).toBe('moving house');
  // Three days later it runs again automatically.
  expect(Date.parse(paused.until) - Date.parse(paused.at)).toBe(3 * 86_400_000);
  expect(Date.parse(next)).toBeGreaterThanOrEqual(Date.parse(paused.until));

  const resumed = await desk.run(['policies', 'resume', 'nightly-sync']);
  expect(resumed.stderr).toMatch(/^nightly-sync is resumed; it was paused by .* \(moving house\)\.$/m);
  expect(await pausedOf()).toMatchObject({ paused: null, next: expect.stringMatching(/T\d\d:\d\d:/) });
  expect((await desk.run(['policies', 'resume', 'nightly-sync'])).stderr).toContain('was not paused');
});

test.each([
  [['--until', 'tomorow'], '--until must be a time or a duration'],
  [['--until', '2020-01-01'], 'must be in the future; 2020-01-01 00:00Z is not'],
  [['--for', '3'], '--for must be a duration'],
  [['--for', '3d', '--until', '2d'], 'Use either --until or --for, not both.'],
])('a pause with %j is rejected in one sentence', async (options, sentence) => {
  const { code, stderr } = await desk.run(['policies', 'pause', 'nightly-sync', ...options]);
  expect(code).toBe(2);
  expect(stderr).toContain(sentence);
  expect((await known.records.policies.state('nightly-sync')).pause).toBeUndefined();
});

test('pausing or resuming an unknown policy suggests a similar name', async () => {
  for (const verb of ['pause', 'resume']) {
    const { code, stderr } = await desk.run(['policies', verb, 'nightly-synk']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: There is no policy "nightly-synk" in \S+: did you mean nightly-sync\?$/m);
  }
});

test('the reason of a pause cannot control the terminal of a reader', async () => {
  await desk.run(['policies', 'pause', 'nightly-sync', '--reason', 'gone\u001b[2J']);
  const { stdout } = await desk.run(['policies', 'show', 'nightly-sync']);
  expect(stdout).toContain('(gone\\u001b[2J)');
  await desk.run(['policies', 'resume', 'nightly-sync']);
});

const shipped = ['activity-logs', 'monthly-reports', 'nightly-sync', 'staging-cleanup', 'update-check'];

/** The shipped policies that are paused according to the records. */
async function paused(): Promise<string[]> {
  const states = await known.records.policies.many(shipped);
  return shipped.filter((name) => states.get(name)?.pause);
}

test('several policies can be paused together: by names, by a pattern, by job, by label, or all', async () => {
  const both = ['nightly-sync', 'update-check', '--for', '3d', '--reason', 'moving house'];
  await desk.run(['policies', 'pause', ...both]);
  expect(await paused()).toEqual(['nightly-sync', 'update-check']);
  const resumed = await desk.run(['policies', 'resume', '*-sync', 'update-?heck']);
  expect(resumed.stderr).toMatch(
    /^nightly-sync is resumed; .*\(moving house\)\.\nupdate-check is resumed; /m,
  );

  await desk.run(['policies', 'pause', '--job', 'staging-cleanup']);
  expect(await paused()).toEqual(['staging-cleanup']);
  const file = 'config/policies/nightly-sync.yaml';
  const before = readFileSync(join(desk.folder, file), 'utf8');
  desk.write(file, before.replace('    job: ', '    labels: { team: shop }\n    job: '));
  await desk.run(['policies', 'pause', '--label', 'team=shop', '--until', '2099-01-01']);
  expect(await paused()).toEqual(['nightly-sync', 'staging-cleanup']);
  const none = await desk.run(['policies', 'resume', '--label', 'team=other']);
  expect(none.stderr).toContain('No policy matches. Nothing was changed.');
  expect((await desk.run(['policies', 'resume', '--label', '=shop'])).code).toBe(2);
  desk.write(file, before);
  await desk.run(['policies', 'pause', '--all']);
  expect(await paused()).toEqual(shipped);
  await desk.run(['policies', 'resume', '--all']);
  expect(await paused()).toEqual([]);
  expect((await desk.run(['policies', 'resume', '--all'])).stderr).toMatch(
    /^None of these \d+ policies was paused\.$/m,
  );
});

test.each([
  [[], 'Select policies by name, by a pattern'],
  [['never-*'], 'No policy matches. Nothing was changed.'],
  [['nightly-*', '--job', 'update-check'], 'No policy matches. Nothing was changed.'],
  [['nightly-sync', 'nightly-synk'], 'There is no policy "nightly-synk"'],
])('pausing %j is rejected, and nothing is changed', async (words, sentence) => {
  const { code, stderr } = await desk.run(['policies', 'pause', ...words]);
  expect(code).toBe(2);
  expect(stderr).toContain(sentence);
  expect(await paused()).toEqual([]);
});
