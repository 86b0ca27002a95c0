/** The commands about runs while no daemon is running. */
import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { untilSeen } from '../support/cli.ts';
import { type FileDesk, sandboxOfFile } from './desk-of-file.ts';

/** A service whose syncs take an hour, and a desk at which a run of it was interrupted. */
async function interruptARun(): Promise<{ sandbox: Sandbox; desk: FileDesk; interrupted: string }> {
  const { sandbox, desk } = await sandboxOfFile({ sites: 12 });
  for (const id of sandbox.siteIds()) sandbox.site(id).syncTakes(3_600_000);
  const started = desk.start(['run', 'nightly-sync']);
  await untilSeen(() => sandbox.journal.effects.length > 0);
  started.signal('SIGINT');
  const { stderr } = await started.ended;
  return { sandbox, desk, interrupted: /caretaker runs resume (\S+)/.exec(stderr)?.[1] ?? '' };
}
const { desk, interrupted } = await interruptARun();
const refusing = await interruptARun();

describe('after an interrupted run', () => {
  test('the next one is skipped; the active run, that no process works on it, and what to do are printed', async () => {
    const { code, stderr } = await desk.run(['run', 'nightly-sync']);
    expect(code).toBe(1);
    expect(stderr).toContain(`nightly-sync was skipped: its run ${interrupted} has not ended (running, `);
    expect(stderr).toContain('no process works on it');
    expect(stderr).toContain(`caretaker runs resume ${interrupted}`);
    expect(stderr).toContain(`caretaker runs cancel ${interrupted}`);
  });

  test('runs and runs show print that no process works on it', async () => {
    const list = await desk.run(['runs']);
    expect(list.stderr).toContain(`No process works on ${interrupted}, because no daemon`);
    const show = await desk.run(['runs', 'show', interrupted]);
    expect(show.stderr).toContain('no process works on it');
    expect(show.stderr).toContain(`caretaker runs resume ${interrupted}`);
  });
});

test('a truncated list of runs has a notice, and a complete one does not', async () => {
  const cut = await desk.run(['runs', '--limit', '1', '--json']);
  expect(JSON.parse(cut.stdout)).toHaveLength(1);
  expect(cut.stderr).toContain('There are older runs. Use --limit to show more than 1.');

  const whole = await desk.run(['runs', '--limit', '50']);
  expect(whole.stderr).not.toContain('There are older runs');
});

test('a list takes a filter several times and with commas; a filter of one value is refused twice', async () => {
  const statusesOf = async (...args: string[]) =>
    (await desk.json<{ status: string }[]>(['runs', ...args])).map(({ status }) => status);
  await desk.run(['run', 'nightly-sync']);
  const both = (await statusesOf('--limit', '50')).filter((status) =>
    ['running', 'skipped'].includes(status),
  );
  expect(new Set(both)).toEqual(new Set(['running', 'skipped']));
  expect(await statusesOf('--status', 'running', '--status', 'skipped', '--limit', '50')).toEqual(both);
  expect(await statusesOf('--status', 'skipped, running,failed', '--limit', '50')).toEqual(both);
  expect(await statusesOf('--policy', 'nightly-sync', '--status', 'running,running')).toEqual(['running']);

  const none = await desk.run(['runs', '--status', 'failed,partial', '--policy', 'nightly-sync']);
  expect(none.stderr).toContain('No failed or partial runs of nightly-sync.');
  const twice = await desk.run(['findings', '--search', 'a', '--search', 'b']);
  expect(twice.code).toBe(2);
  expect(twice.stderr).toContain('It was given before, and takes one value.');
});

test('the help of a command below a list has each option once, and none of the list', async () => {
  const { stdout } = await desk.run(['runs', 'retry', '--help']);
  expect(stdout.match(/-o, --output/g)).toHaveLength(1);
  expect(stdout).not.toContain('--status');
  expect(stdout).toContain('--config');
});

test('audit --what finds what begins with it', async () => {
  await desk.run(['freeze', 'add', '--for', '3d', '--reason', 'a test']);
  await desk.run(['freeze', 'end']);
  const whatOf = async (what: string) =>
    (await desk.json<{ what: string }[]>(['audit', '--what', what])).map((line) => line.what);
  expect(await whatOf('freeze')).toEqual(['freezes.end', 'freezes.begin']);
  expect(await whatOf('freezes.b')).toEqual(['freezes.begin']);
  expect(await whatOf('end')).toEqual([]);
  expect(await whatOf('sign-in,freezes.b')).toEqual(['freezes.begin']);
  expect(await desk.json(['audit', '--until', '1h']), 'nothing is older than an hour').toEqual([]);
  const wrong = await desk.run(['audit', '--until', 'often']);
  expect(wrong.stderr).toContain('--until must be a duration or a time');
});

test.each([
  ['audit', '--what', 'freezes.e', 'freezes.b'],
  ['audit', '--who', 'nobody', 'root'],
  ['audit', '--result', 'failed', 'done'],
  ['audit', '--policy', 'a', 'b'],
  ['audit', '--run', 'a', 'b'],
  ['audit', '--account', 'a', 'b'],
  ['findings', '--severity', 'error', 'warning'],
  ['findings', '--state', 'new', 'acknowledged'],
  ['findings', '--policy', 'a', 'b'],
  ['findings', '--account', 'a', 'b'],
  ['notify list', '--state', 'dead', 'pending'],
  ['notify list', '--to', 'a', 'b'],
  ['announcements', '--policy', 'a', 'b'],
])('%s takes %s several times, and with commas', async (command, option, one, other) => {
  const several = await desk.run([...command.split(' '), option, one, option, other, '--json']);
  const commas = await desk.run([...command.split(' '), option, `${one},${other}`, '--json']);
  expect(several).toMatchObject({ code: 0 });
  expect(commas).toEqual(several);
});

test('a value that a list does not know is refused beside others', async () => {
  expect(await desk.run(['findings', '--severity', 'error,wrong'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Allowed choices are error, warning, info.'),
  });
  expect(await desk.run(['findings', '--state', 'resolved,new'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Resolved findings are listed alone'),
  });
});

describe('a run is found', () => {
  test('by a prefix of its id, and by "last", which ignores skipped runs', async () => {
    const beginning = interrupted.slice(0, -2);
    expect((await desk.json(['runs', 'show', beginning])).run).toBe(interrupted);
    const [newest] = await desk.json(['runs']);
    expect(newest).toMatchObject({ status: 'skipped' });
    expect((await desk.json(['runs', 'show', 'last'])).run).toBe(interrupted);
  });

  test('not by a prefix of several ids: these are listed, with exit 2', async () => {
    const { code, stderr } = await desk.run(['runs', 'cancel', 'nightly']);
    expect(code).toBe(2);
    expect(stderr).toContain('Several runs start with "nightly". Give a longer id:');
    expect(stderr).toContain(`  ${interrupted}\n`);
  });

  test('in lists by status, policy or time; for an unknown status or policy, the known ones are listed', async () => {
    const of = async (...args: string[]) => {
      const { code, stderr } = await desk.run(['runs', ...args]);
      return { code, stderr };
    };
    expect(await of('--status', 'faild')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/did you mean failed\?/i),
    });
    expect(await of('--policy', 'nightly-snc')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/did you mean nightly-sync\?/i),
    });
    expect(await of('--policy', 'nightly-sync', '--status', 'failed')).toEqual({
      code: 0,
      stderr: 'No failed runs of nightly-sync.\n',
    });
    expect(await of('--since', '3')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('such as 3d, 12h, yesterday, 2026-11-01'),
    });
    expect((await of('--since', '3d')).stderr).toContain(interrupted);
  });
});

describe('targets named on the command line', () => {
  test('none of which the policy selects: exit 2, and no run is created', async () => {
    const before = (await desk.json(['runs'])).length;
    const { code, stderr } = await desk.run(['run', 'nightly-sync', '--target', 'site-9999']);
    expect(code).toBe(2);
    expect(stderr).toContain('nightly-sync selects none of the targets that you named');
    expect(stderr).toContain('site-9999: It is not in the account');
    expect(await desk.json(['runs'])).toHaveLength(before);
  });

  test('some of which it does not select are listed', async () => {
    const { stderr } = await desk.run(['run', 'nightly-sync', '--target', 'site-0001', 'site-9999']);
    expect(stderr).toContain('nightly-sync does not select 1 target of those that you named:\n  site-9999: ');
  });
});

test('a manual run of a paused policy starts, and the pause is mentioned', async () => {
  await desk.run(['policies', 'pause', 'nightly-sync', '--reason', 'moving house']);
  const { stderr } = await desk.run(['run', 'nightly-sync']);
  expect(stderr).toMatch(/^nightly-sync is paused by .* \(moving house\)\. It runs anyway/m);
  await desk.run(['policies', 'resume', 'nightly-sync']);
});

describe('cancelling a run that no process works on', () => {
  test('is completed by the command; Ctrl-C exits with 130 and prints how to end it', async () => {
    const cancelling = desk.start(['runs', 'cancel', interrupted]);
    await cancelling.line(/No other process works on it, so this command completes the cancellation/);
    cancelling.signal('SIGINT');
    const { code, stderr } = await cancelling.ended;
    expect(code).toBe(130);
    expect(stderr).toContain(`caretaker runs cancel ${interrupted} --force`);
    const list = await desk.run(['runs']);
    expect(list.stderr).toContain(`Follow it to its end: caretaker runs resume ${interrupted}`);
    expect(list.stderr).toContain(`Force-end it:         caretaker runs cancel ${interrupted} --force`);
    expect(list.stderr).not.toContain('Cancel it');
  });

  test('with --force ends it immediately, with an outcome for every site', async () => {
    const { code, stderr } = await desk.run(['runs', 'cancel', interrupted, '--force']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/\d+ targets? may still be in progress in the service/);
    const run = await desk.json(['runs', 'show', interrupted]);
    expect(run.status).toBe('cancelled');
    expect(run.targets.map(({ outcome }: { outcome: string }) => outcome)).not.toContain(null);
  });

  test('ends it for other commands too, which report that in one line', async () => {
    for (const command of ['resume', 'cancel']) {
      const { code, stdout, stderr } = await desk.run(['runs', command, interrupted]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toBe(
        `error: The run ${interrupted} has already ended: cancelled. "caretaker runs show ${interrupted}" shows it. [RUN]\n`,
      );
    }
  });
});

test('the outcome of each target can be exported, one per line', async () => {
  const csv = (await desk.run(['runs', 'export', interrupted])).stdout.trimEnd().split('\r\n');
  expect(csv[0]).toBe('run,id,label,outcome,reason,detail,task_id,attempts,started_at,finished_at');
  const jsonl = (await desk.run(['runs', 'export', interrupted, '-o', 'jsonl'])).stdout.trimEnd();
  const targets = jsonl.split('\n').map((line) => JSON.parse(line));
  expect(targets).toHaveLength(csv.length - 1);
  const shown = await desk.json(['runs', 'show', interrupted]);
  expect(targets).toEqual(shown.targets.map((target: object) => ({ run: interrupted, ...target })));
});

test('cancelling a run whose account refuses access says that its tasks cannot be followed', async () => {
  const { sandbox, desk, interrupted: id } = refusing;
  sandbox.account.deactivate();
  const refused = await desk.run(['runs', 'resume', id]);
  expect(refused.code).toBe(3);

  const { code, stderr } = await desk.run(['runs', 'cancel', id]);

  expect(code).toBe(0);
  expect(stderr).toContain('cannot be followed to their end. This is recorded.');
  const run = await desk.json(['runs', 'show', id]);
  expect(run.status).toBe('cancelled');
  const underWay = run.targets.filter(
    ({ detail }: { detail: string | null }) => detail === 'It was still under way in the service.',
  );
  expect(underWay.length).toBeGreaterThan(0);
});
