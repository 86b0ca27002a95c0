/** One run: its pace, its end, its file; and a site whose state cannot be read. */
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { paceOf, readEnds } from '../../src/dashboard/queries/pace.ts';
import { openReader } from '../../src/dashboard/queries/reader.ts';
import type { Run } from '../../src/run/run.ts';
import { aTarget } from '../support/builders.ts';
import { aPolicy, aRun, ended, remember, showDaemon, startWorld, textOf, type World } from './world.ts';

const MINUTE = 60_000;
const NOW = Date.now();
let world: World;
afterEach(() => world?.stop());

/** A running run, started twenty minutes ago, with 40 of 100 targets ended. */
const aRunning = (changes: Partial<Run> = {}): Run =>
  aRun({
    status: 'running',
    planComplete: true,
    startedAt: NOW - 20 * MINUTE,
    counts: { planned: 100, succeeded: 40, failed: 0, skipped: 0, cancelled: 0 },
    ...changes,
  });
const ends = (count: number, ago: number) =>
  Array.from({ length: count }, () => ({ at: NOW - ago, outcome: 'succeeded' as const, worked: true }));

test('the pace is that of the last ten minutes', () => {
  const pace = paceOf(aRunning(), [...ends(20, 15 * MINUTE), ...ends(20, MINUTE)], NOW);
  expect(pace).toEqual({ perMinute: 2, overMs: 10 * MINUTE });
});

test('targets that ended while the run was planned do not count for its pace', () => {
  const skipped = ends(30, MINUTE).map((end) => ({ ...end, worked: false }));
  expect(paceOf(aRunning(), [...skipped, ...ends(10, MINUTE)], NOW).perMinute).toBe(1);
});

test('every page and address that shows a run has the same answer when it ends, or for whom it waits', async () => {
  world = await startWorld();
  const going = aRun({ id: 'going', createdAt: NOW });
  const waiting = aRun({ id: 'waiting', createdAt: NOW, rollout: { is: 'closed', until: NOW, batches: [] } });
  const ask = await world.signedIn();
  const shown = async (run: Run) => {
    const pages = ['/', '/runs', `/runs/${run.id}`];
    const texts = await Promise.all(pages.map(async (path) => textOf(await (await ask(path)).text())));
    const answers = ['/api/v1/runs', `/api/v1/runs/${run.id}`, `/api/v1/runs/${run.id}?targets=false`];
    return [...texts, ...(await Promise.all(answers.map(async (path) => (await ask(path)).text())))];
  };

  await remember(world.records, waiting, [ended('a', 'succeeded'), aTarget('b')]);
  for (const text of await shown(waiting)) {
    expect(text).toContain('waits for a person, because the gate of its rollout is closed');
    expect(text).not.toMatch(/ ends (?:soon|in)|"expected_end":"/i);
  }
  await remember(world.records, going, [ended('a', 'succeeded'), ended('c', 'failed'), aTarget('b')]);
  await showDaemon(world.records, ['worker']);
  for (const text of await shown(going)) expect(text).toMatch(/ ends (?:soon|in)|"expected_end":"/i);

  await world.records.presence.withdraw('d');
  await world.records.accounts.noteSupervised('default', NOW - MINUTE);
  for (const text of await shown(going)) {
    expect(text).toMatch(/work has stopped|makes no progress: no process has worked on it since/);
    expect(text).not.toMatch(/ ends (?:soon|in)|"expected_end":"/i);
  }
});

test('a run shows how many targets ended when, and a run with too many says so', async () => {
  world = await startWorld();
  const run = aRun();
  await remember(world.records, run, [
    ...Array.from({ length: 6 }, (_, at) => ended(`s${at}`, 'succeeded')),
    ended('f', 'failed'),
    aTarget('open'),
  ]);
  const reader = openReader(world.records, systemClock);
  const stored = await reader.run(run.id);
  expect(stored && (await readEnds(reader, stored))?.map(({ outcome }) => outcome)).toEqual([
    ...Array.from({ length: 6 }, () => 'succeeded'),
    'failed',
  ]);
  const many = { ...aRun(), counts: { ...aRun().counts, planned: 2_001 } };
  expect(await readEnds(reader, many)).toBeUndefined();
});

test('the targets of a run are a file with the columns of the export', async () => {
  world = await startWorld();
  await remember(world.records, aRun(), [
    ended('a', 'failed', { reason: 'timeout', detail: '=cmd', label: 'a, b' }),
    aTarget('b'),
  ]);
  const { html: csv, headers } = await world.look(`/runs/${aRun().id}/targets.csv`);
  const lines = csv.trimEnd().split('\r\n');

  expect(headers.get('content-disposition')).toContain(`filename="${aRun().id}.csv"`);
  expect(lines[0]).toBe('run,id,label,outcome,reason,detail,task_id,attempts,started_at,finished_at');
  expect(lines[1]).toContain(`${aRun().id},a,"a, b",failed,timeout,'=cmd,`);
  expect(lines).toHaveLength(3);
});

test('a site whose state cannot be read is shown with its history, and says why the state is not known', async () => {
  world = await startWorld();
  await remember(world.records, aRun(), [
    ended('a', 'failed', { site: 'a', reason: 'timeout', attempts: 2 }),
  ]);
  const { text } = await world.look(`/targets/default/a?run=${aRun().id}`);

  expect(text).toContain('Not known: ');
  expect(text).toContain('no account can be asked here');
  expect(text).toMatch(/Failed attempts 2 .*Ended/);
});

test('the steps of a target are a list that follows the work, on its own page and on that of its run', async () => {
  world = await startWorld();
  const { records } = world;
  const steps = ['note', 'site-sync', 'api-call'].map((name) => ({ name, job: name }));
  const { id } = aRun();
  const run = aRun({ policyJson: JSON.stringify({ ...aPolicy('nightly-sync'), steps }) });
  await remember(records, run, [aTarget('a')]);
  const listOn = async (path: string) =>
    (await world.look(path)).html
      .split(/<li(?= |>)/)
      .map((item) =>
        textOf(`<li${item.split('</li>')[0]}`)
          .trim()
          .replaceAll(' : ', ': ')
          .replaceAll(' . ', '. '),
      )
      .filter((item) => /^(note|site-sync|api-call)\b/.test(item));
  const ofTarget = `/targets/default/a?run=${id}`;
  expect(await listOn(ofTarget)).toEqual([
    'note: not started',
    'site-sync: not started',
    'api-call: not started',
  ]);

  const [dispatched] = await records.targets.dispatch(id, Date.now(), 1);
  const claimed = dispatched && (await records.targets.claim(run, dispatched, Date.now()));
  const { fence = 0 } = claimed?.target ?? {};
  const startedAt = Date.now();
  const done = [
    { reason: 'done', at: startedAt, detail: 'The note was made.' },
    { reason: 'adopted', at: startedAt, taskId: 'task-7' },
  ] as const;
  await records.targets.move(
    run,
    aTarget('a', { state: 'waiting', fence, startedAt, steps: done.slice(0, 1) }),
    { from: ['acting'], at: startedAt, dueAt: startedAt },
  );
  expect(await listOn(ofTarget)).toEqual([
    'note: succeeded. The note was made.',
    'site-sync: in progress',
    'api-call: not started',
  ]);

  const failed = {
    state: 'ended',
    outcome: 'failed',
    reason: 'rejected',
    detail: 'It was refused.',
  } as const;
  await records.targets.move(
    run,
    aTarget('a', { ...failed, fence, startedAt, finishedAt: startedAt, steps: [...done] }),
    { from: ['waiting'], at: startedAt },
  );
  for (const path of [ofTarget, `/runs/${id}`])
    expect(await listOn(path), path).toEqual([
      'note: succeeded. The note was made.',
      expect.stringMatching(/^site-sync: succeeded \( adopted .+ \) task task-7$/),
      'api-call: failed',
    ]);
});

test('the page names the findings that are new and those that are resolved, and links their targets', async () => {
  world = await startWorld();
  const found = { label: 'a.example', about: 'site', severity: 'error', since: 1 } as const;
  const findings = {
    ...{ open: 5, new: 12, resolved: 1 },
    firstNew: [{ ...found, target: 'site-0001', message: 'No <i>backup</i> for 3 days' }],
    firstResolved: [{ ...found, target: 'site-0002', label: 'b.example', message: 'It was hacked' }],
  };
  await remember(world.records, aRun({ findings }), []);

  const { html } = await world.look(`/runs/${aRun().id}`);
  const text = html.replace(/<[^>]+>/g, '').replace(/\s+/g, ' ');

  expect(text).toContain('5 open, 12 new, 1 resolved');
  expect(text).toContain('New: error a.example (site): No &lt;i&gt;backup&lt;/i&gt; for 3 days');
  expect(text).toContain('Resolved: error b.example (site): It was hacked');
  expect(text).toContain('and 11 more');
  expect(html).toContain('href="/targets/default/site-0002"');
});
