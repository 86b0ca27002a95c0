import { afterEach, expect, test } from 'vitest';
import { sandboxOfFile } from './desk-of-file.ts';

const { sandbox, desk } = await sandboxOfFile({ sites: 2, speed: 200 });
const { records } = await desk.keepRedis();
afterEach(() => records.freeze.end(Date.now()));

const DAY = 86_400_000;

test.each([
  ['freeze', 'add', '--for', '3d'],
  ['freeze', 'end'],
  ['policies', 'pause', 'nightly-sync', 'update-check'],
  ['policies', 'resume', '--all'],
  ['queues', 'resume'],
])(
  'what is recorded where no daemon has ever run may be meant for another Redis: %s %s',
  async (...words) => {
    const { code, stderr } = await desk.run(words);

    expect(code).toBe(0);
    const said = /^warning: No daemon has ever run on this Redis \(.+\)\. If one runs, it uses another/gm;
    expect(stderr.match(said)).toHaveLength(1);
  },
);

test('every command shows the end, the author and the reason of a freeze, and the next runs are after it', async () => {
  const before = Date.now();
  const frozen = await desk.run(['freeze', 'add', '--for', '3d', '--reason', 'the big sale']);
  expect(frozen.code).toBe(0);
  expect(frozen.stderr).toMatch(/^Everything is frozen until \S+ \S+Z: no policy starts a run/m);

  const words = /everything is frozen by \S+ from \S+ \S+Z until \S+ \S+Z \(the big sale\)/;
  const listed = await desk.run(['policies', '--json']);
  expect(listed.stderr).toMatch(words);
  for (const { next } of JSON.parse(listed.stdout))
    expect(Date.parse(next)).toBeGreaterThanOrEqual(before + 3 * DAY);
  expect((await desk.run(['runs'])).stderr).toMatch(words);
  expect((await desk.run(['policies', 'show', 'nightly-sync'])).stdout).toMatch(words);
  expect((await desk.run(['doctor'])).stdout).toMatch(
    /^warning {2}freeze: frozen by .*\(the big sale\): no run starts/m,
  );
});

test('a manual run is refused during a freeze in one sentence, and started with --ignore-freeze', async () => {
  await desk.run(['freeze', 'add', '--for', '1h']);

  const refused = await desk.run(['run', 'nightly-sync']);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(
    /error: No run was started: everything is frozen by .*"caretaker freeze end" ends that; --ignore-freeze starts this one anyway\. \[FROZEN\]$/m,
  );
  expect(sandbox.journal.effects).toEqual([]);

  expect((await desk.run(['run', 'nightly-sync', '--ignore-freeze'])).code).toBe(0);
});

test('a freeze can be ended early, and replaces an earlier one', async () => {
  await desk.run(['freeze', 'add', '--for', '1h', '--reason', 'the big sale']);
  expect((await desk.run(['freeze', 'add', '--for', '2h'])).stderr).toMatch(
    /^This replaces an earlier freeze: everything was frozen by .*\(the big sale\)\.$/m,
  );

  expect((await desk.run(['freeze', 'end'])).stderr).toMatch(
    /^The freeze has ended, and policies run again\. Everything was frozen by .*\(the big sale\)\.$/m,
  );
  expect((await desk.run(['freeze', 'end'])).stderr).toContain('There is no freeze of everything.');
  expect((await desk.run(['policies'])).stderr).not.toContain('frozen');
});

test('a part is frozen beside other freezes, listed, shown where it matters, and ended by its number', async () => {
  const add = ['freeze', 'add', '--job', 'site-sync', '--for', '1h', '--reason', 'a new theme'];
  const job = await desk.run(add);
  expect(job.stderr).toMatch(
    /^Policies with the job site-sync are frozen until .*"caretaker freeze end (\d+)" ends the freeze early\.$/m,
  );
  const id = /freeze end (\d+)/.exec(job.stderr)?.[1] ?? '';
  const [{ name }] = (await desk.json(['api', 'listTags'])).tags;
  expect((await desk.run(['freeze', 'add', '--tag', name, '--for', '2h'])).stderr).toMatch(
    /^Targets with the tag ".+" are frozen until .*: runs that are planned until then skip them\./m,
  );

  const listed = await desk.json(['freeze', 'list']);
  expect(listed).toMatchObject([
    { id, job: 'site-sync', tag: null, reason: 'a new theme' },
    { job: null, tag: name },
  ]);
  expect((await desk.run(['freeze', 'list'])).stdout).toContain('the job site-sync');
  const words = /the job site-sync is frozen by \S+ from .* \(a new theme\)/;
  expect((await desk.run(['policies'])).stderr).toMatch(words);
  expect((await desk.run(['policies', 'show', 'nightly-sync'])).stdout).toMatch(words);
  expect((await desk.run(['policies', 'show', 'monthly-report'])).stdout).not.toMatch(words);
  expect((await desk.run(['doctor'])).stdout).toMatch(/^warning {2}freeze: the job site-sync is frozen by/m);
  expect((await desk.run(['next', 'nightly-sync', '--until', '1d'])).code).toBe(0);
  const refused = await desk.run(['run', 'nightly-sync']);
  expect(refused.stderr).toMatch(/error: No run was started: the job site-sync is frozen by .* \[FROZEN\]$/m);

  for (const one of listed) {
    const ended = await desk.run(['freeze', 'end', one.id]);
    expect(ended.stderr).toMatch(/^The freeze \d+ has ended: .* was frozen by/m);
  }
  expect(await desk.run(['freeze', 'end', id])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`There is no freeze ${id}.`),
  });
  expect((await desk.run(['freeze', 'list'])).stderr).toContain('Nothing is frozen.');
});

test('a freeze that recurs is listed with its next time and its rule, and ended for good by its number', async () => {
  const add = ['freeze', 'add', '--every', '0 22 1 1 *', '--for', '2h', '--timezone', 'Europe/Berlin'];
  const added = await desk.run([...add, '--policy', 'nightly-*', '--reason', 'New Year']);
  const [, id = ''] =
    /frozen for 2 h from each "0 22 1 1 \*" \(Europe\/Berlin\): .*"caretaker freeze end (\d+)" ends all/.exec(
      added.stderr,
    ) ?? [];
  expect(id).not.toBe('');

  const [listed] = await desk.json(['freeze', 'list']);
  expect(listed).toMatchObject({
    ...{ policy: 'nightly-*', reason: 'New Year' },
    rule: { id, cron: ['0 22 1 1 *'], timezone: 'Europe/Berlin', for: '2h' },
  });
  expect(listed.since).toMatch(/-01-01T21:00:00.000Z$/);
  expect((await desk.run(['freeze', 'list'])).stdout).toContain('the policy nightly-*');
  expect((await desk.run(['policies'])).stderr, 'it is not active').not.toContain('New Year');
  expect((await desk.run(['freeze', 'end', id])).stderr).toContain('was frozen by');
  expect((await desk.run(['freeze', 'list'])).stderr).toContain('Nothing is frozen.');
});

test('a freeze that begins later is listed, holds from its begin, and can be ended before', async () => {
  const later = ['freeze', 'add', '--from', '2098-01-01', '--for', '3d', '--job', 'site-sync'];
  expect((await desk.run(later)).stderr).toContain(
    'Policies with the job site-sync are frozen from 2098-01-01 00:00Z until 2098-01-04 00:00Z: they start no run in that time.',
  );
  const [listed] = await desk.json(['freeze', 'list']);
  expect(listed).toMatchObject({ since: '2098-01-01T00:00:00.000Z', until: '2098-01-04T00:00:00.000Z' });
  expect((await desk.run(['freeze', 'end', listed.id])).code).toBe(0);
  expect((await desk.run(['freeze', 'list'])).stderr).toContain('Nothing is frozen.');
});

test.each([
  [[], 'A freeze needs an end'],
  [['--until', '2020-01-01'], 'must be in the future'],
  // They would freeze nothing.
  [['--for', '1h', '--job', 'site-snyc'], 'There is no job "site-snyc": did you mean site-sync?'],
  [['--for', '1h', '--account', 'x'], 'There is no account "x"'],
  [['--for', '1h', '--tag', 'no such tag'], 'There is no tag "no such tag"'],
  [['--for', '1h', '--client', 'nobody'], 'There is no client "nobody"'],
  [
    ['--for', '1h', '--policy', 'nightyl-sync'],
    'There is no policy "nightyl-sync": did you mean nightly-sync?',
  ],
  [['--every', '0 22 * * fri', '--for', '2d'], 'give --policy, --account, --job, --client or --tag'],
  [['--every', '0 22 * * fri', '--job', 'site-sync'], '--every needs --for'],
  [['--for', '8h', '--timezone', 'Europe/Berlin'], '--timezone is that of --every, which is missing'],
  [['--every', '0 22 * * fri', '--for', '8d', '--job', 'site-sync'], 'must be at most 7d'],
  [['--every', 'often', '--for', '1h', '--job', 'site-sync'], 'cron'],
  [['--every', '0 0 31 2 *', '--for', '1h', '--job', 'site-sync'], 'never fires'],
  [
    ['--from', '2098-01-02', '--until', '2098-01-01', '--job', 'site-sync'],
    'The end (until) must be after the begin (from); 2098-01-01T00:00:00.000Z is not.',
  ],
  [['--from', '2098-01-01', '--for', '1h'], 'A freeze of everything begins at once'],
])('a freeze with %j is refused with what is wrong', async (options, sentence) => {
  const { code, stderr } = await desk.run(['freeze', 'add', ...options]);
  expect(stderr).toContain(sentence);
  expect(code).toBe(2);
});
