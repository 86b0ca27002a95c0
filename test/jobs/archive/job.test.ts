/** archive: which entries of which lists are written into which files, once each. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseCsv } from '../../../jobs/archive/entries.ts';
import { archive } from '../../../jobs/archive/job.ts';
import type { Input } from '../../../src/contract/operations.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { aGate, around } from '../../support/between.ts';
import { aPolicy, aSchedule } from '../../support/builders.ts';
import { startWorld, until, type World, type WorldOptions } from '../../support/caretaker.ts';
import { memoryFolder } from '../../support/in-memory.ts';
import { asPerson, justBefore, targetsAfter } from '../acting.ts';
import { mistakesOf } from '../policies.ts';

const DAY = 86_400_000;
let world: World;
let dir: string;
let stop: (() => Promise<void>) | undefined;
beforeEach(() => {
  dir = mkdtempSync(join(memoryFolder(), 'caretaker-archive-'));
});
afterEach(async () => {
  await stop?.();
  stop = undefined;
  rmSync(dir, { recursive: true, force: true });
});

async function start(options: WorldOptions = {}) {
  // On a faster clock, a slow disk would let the time pass in which a step has to end.
  world = await startWorld({ sites: 2, speedUp: 10, ...options });
  stop = world.stop;
}

const archiving = (options: object = {}, select: object = {}, changes: Partial<Policy> = {}) =>
  aPolicy({
    name: 'logs',
    job: 'archive',
    select: {
      from: 'listSiteNotes',
      forEach: { list: 'listSites', filters: {} },
      filters: {},
      ...select,
    } as Policy['select'],
    options: archive.options.parse({ archive_dir: dir, ...options }),
    ...changes,
  });
const ofAccount = (from: string) => ({ from, forEach: undefined });

const runOf = (policy: Policy, only?: string[]) => targetsAfter(world, policy, only);
const call = asPerson(() => world);
const note = async (content: string, site_id = 'site-0001') =>
  (await call('createSiteNote', { site_id, body: { note: { content } } })).note;

const files = () =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)))
    .sort();
const textOf = (file: string) => readFileSync(join(dir, file), 'utf8');
/** The rows of a file as maps from column to cell. */
const rowsOf = (file: string) => {
  const [head = [], ...rows] = parseCsv(textOf(file));
  return rows.map((cells) => Object.fromEntries(head.map((name, i) => [name, cells[i]])));
};

interface Log {
  id: string;
  timestamp?: string;
  username?: string;
  event_details?: object;
}
/** Lets the service list these activity logs, as its specification says. */
function serving(logs: Log[]) {
  around(world.caretaker.link('default').client, 'call', (send, asked, input) => {
    if (asked !== 'listSiteActivityLogs') return send();
    const { page = 1, perPage = 100, filters = {}, sort } = input as Input<'listSiteActivityLogs'>;
    expect(sort).toBe('timestamp,asc');
    const { gte = '', lte = '' } = (filters['timestamp'] ?? {}) as { gte?: string; lte?: string };
    const within = logs
      .filter(({ timestamp = '' }) => timestamp === '' || (timestamp >= gte && timestamp <= lte))
      .sort((a, b) => ((a.timestamp ?? '') < (b.timestamp ?? '') ? -1 : 1));
    const activity_logs = within.slice((page - 1) * perPage, page * perPage);
    const totalPages = Math.max(1, Math.ceil(within.length / perPage));
    const pagination = { page, perPage, totalPages, totalItems: within.length };
    return Promise.resolve({ activity_logs, meta: { pagination } }) as never;
  });
}
const logsOf = (options: object = {}) => archiving(options, { from: 'listSiteActivityLogs' });
const atTime = (ms: number) => new Date(ms).toISOString();
const idsIn = (file: string) => rowsOf(file).map(({ id }) => id);

describe('the entries of a list', () => {
  test('are written into one file for each site and month, and a second run adds only what is new', async () => {
    await start();
    const first = await note('Maintenance begins');
    await note('Elsewhere', 'site-0002');

    const before = await runOf(archiving());
    world.clock.leap(DAY / 2);
    const second = await note('Maintenance ends');
    const after = await runOf(archiving());
    const unchanged = await runOf(archiving());

    expect(files()).toEqual(['logs/notes/site-0001/2026-11.csv', 'logs/notes/site-0002/2026-11.csv']);
    const [head] = textOf('logs/notes/site-0001/2026-11.csv').split('\r\n');
    expect(head).toBe(
      'site_id,site,id,created_at,content,user.name,user.email,updated_at,versions.available',
    );
    expect(before['site-0001']).toMatchObject({ outcome: 'succeeded', reason: 'done' });
    const rows = rowsOf('logs/notes/site-0001/2026-11.csv');
    expect(rows.filter(({ id }) => id === first.id || id === second.id)).toMatchObject([
      {
        site_id: 'site-0001',
        site: expect.stringContaining('https://'),
        id: first.id,
        created_at: first.created_at,
        content: 'Maintenance begins',
        'user.email': first.user?.email,
      },
      { id: second.id, content: 'Maintenance ends' },
    ]);
    expect(after['site-0001']?.detail).toBe('1 new entry.');
    expect(after['site-0002']?.detail).toBe('No new entries.');
    expect(unchanged['site-0001']?.detail).toBe('No new entries.');
    const ids = rows.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('are those that the filters let through, as the service shows them or as a spreadsheet reads them, without secrets', async () => {
    await start();
    const made = await note('=HYPERLINK("https://evil.example")');
    await note('See https://me:hunter22@shop.example/admin');
    await note('keep this');
    await runOf(archiving());
    await runOf(archiving({ format: 'jsonl' }, {}, { name: 'json' }));
    await runOf(archiving({ format: 'jsonl' }, {}, { name: 'json' }));
    await runOf(archiving({}, { filters: { content: { contains: 'keep' } } }, { name: 'kept' }));

    const contents = rowsOf('logs/notes/site-0001/2026-11.csv').map(({ content }) => content);
    expect(contents).toContain(`'=HYPERLINK("https://evil.example")`);
    expect(textOf('logs/notes/site-0001/2026-11.csv')).not.toContain('hunter22');
    const lines = textOf('json/notes/site-0001/2026-11.jsonl').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line)).filter(({ id }) => id === made.id)).toEqual([
      { site_id: 'site-0001', site: expect.stringContaining('https://'), ...made },
    ]);
    expect(rowsOf('kept/notes/site-0001/2026-11.csv').map(({ content }) => content)).toEqual(['keep this']);
  });

  test('of the account go into one folder', async () => {
    await start({ sites: 6 });

    const tasks = await runOf(archiving({}, ofAccount('listTasks')));
    const history = await runOf(archiving({ period: 'day' }, ofAccount('listAutoUpdateHistory')));
    const again = await runOf(archiving({ period: 'day' }, ofAccount('listAutoUpdateHistory')));

    const listed = await call('listAutoUpdateHistory', {});
    const recent = listed.auto_update_history.filter(
      ({ performed_on = '' }) => Date.parse(performed_on) > world.clock.now() - 30 * DAY,
    );
    expect(tasks).toMatchObject({ listTasks: { outcome: 'succeeded', label: 'listTasks' } });
    expect(history['listAutoUpdateHistory']?.detail).toBe(`${recent.length} new entries.`);
    expect(again['listAutoUpdateHistory']?.detail).toBe('No new entries.');
    const rows = files()
      .filter((file) => file.startsWith('logs/auto-update-history/'))
      .flatMap(rowsOf);
    expect(rows).toHaveLength(recent.length);
    expect(rows[0]).toMatchObject({ performed_on: expect.any(String), status: expect.any(String) });
  });
});

describe('nothing is lost and nothing is stored twice', () => {
  test('when there are more entries than one step reads, in whatever order and some of them in the same second', async () => {
    await start({ sites: 1 });
    const logs = Array.from({ length: 1_750 }, (_, i) => ({
      id: `log-${String(i).padStart(4, '0')}`,
      timestamp: atTime(world.clock.from - 10 * DAY + Math.floor(i / 600) * 60_000),
    }));
    serving(logs);

    const targets = await runOf(logsOf());

    expect(targets['site-0001']?.detail).toBe('1750 new entries.');
    expect(idsIn('logs/activity-logs/site-0001/2026-11.csv')).toEqual(logs.map(({ id }) => id));

    // The service orders them otherwise than asked.
    around(world.caretaker.link('default').client, 'call', async (send, asked) => {
      const answer = (await send()) as { activity_logs?: unknown[] };
      return (
        asked === 'listSiteActivityLogs'
          ? { ...answer, activity_logs: answer.activity_logs?.toReversed() }
          : answer
      ) as never;
    });
    await runOf(archiving({}, { from: 'listSiteActivityLogs' }, { name: 'reversed' }));

    expect(idsIn('reversed/activity-logs/site-0001/2026-11.csv')).toEqual(logs.map(({ id }) => id));
  });

  test('when a file cannot be written: the next run writes it', async () => {
    await start({ sites: 1 });
    serving([
      { id: 'october', timestamp: '2026-10-30T12:00:00Z' },
      { id: 'november', timestamp: '2026-11-02T12:00:00Z' },
    ]);
    const inTheWay = join(dir, 'logs/activity-logs/site-0001/2026-11.csv');
    justBefore(world, 'listSiteActivityLogs', () => mkdirSync(inTheWay, { recursive: true }));

    const failed = await runOf(logsOf());
    expect(files()).toEqual(['logs/activity-logs/site-0001/2026-10.csv']);
    rmdirSync(inTheWay);
    const done = await runOf(logsOf());

    expect(failed['site-0001']).toMatchObject({ outcome: 'failed', reason: 'archive-failed' });
    expect(done['site-0001']?.detail).toBe('1 new entry.');
    expect(files().flatMap(idsIn)).toEqual(['october', 'november']);
  });

  test('when an entry is shown late, or changes, within the overlap, or does not show its time', async () => {
    await start({ sites: 1 });
    const base = world.clock.from - 5 * DAY;
    const logs: Log[] = [{ id: 'b', timestamp: atTime(base), username: 'before' }, { id: 'undated' }];
    serving(logs);
    await runOf(logsOf({ overlap: '2d' }));
    logs.push({ id: 'a', timestamp: atTime(base - DAY) });
    logs.push({ id: 'too-late', timestamp: atTime(base - 3 * DAY) });
    logs[0] = { id: 'b', timestamp: atTime(base), username: 'after' };

    const targets = await runOf(logsOf({ overlap: '2d' }));

    expect(targets['site-0001']?.detail).toBe('1 new entry, 1 changed.');
    expect(rowsOf('logs/activity-logs/site-0001/2026-11.csv')).toMatchObject([
      { id: 'a' },
      { id: 'b', username: 'after' },
    ]);
    expect(idsIn('logs/activity-logs/site-0001/undated.csv')).toEqual(['undated']);
  });

  test('when the records are lost, or the worker is another: the files decide', async () => {
    await start({ sites: 1 });
    const logs = [{ id: 'a', timestamp: atTime(world.clock.from - 5 * DAY) }];
    serving(logs);
    await runOf(logsOf());
    await stop?.();
    await start({ sites: 1 });
    serving([...logs, { id: 'b', timestamp: atTime(world.clock.from - 4 * DAY) }]);

    expect((await runOf(logsOf()))['site-0001']?.detail).toBe('1 new entry.');
    expect(files().flatMap(idsIn)).toEqual(['a', 'b']);
  });

  test('when the clocks differ by minutes', async () => {
    await start({ sites: 1, serviceAheadMs: 420_000 });
    const made = await note('written just now');
    await runOf(archiving());

    expect(files().flatMap(idsIn)).toContain(made.id);
  });
});

describe('two runs', () => {
  test('never write the same files at the same time: the second waits', async () => {
    await start({ sites: 1 });
    serving([{ id: 'a', timestamp: atTime(world.clock.from - DAY) }]);
    const gate = aGate();
    justBefore(world, 'listSiteActivityLogs', gate.pass);
    const policy = archiving(
      {},
      { from: 'listSiteActivityLogs' },
      { schedule: aSchedule({ overlap: 'allow' }) },
    );
    const first = await world.fire(policy);
    await gate.reached;
    const second = await world.fire(policy);
    await until(world, async () => (await world.targets(second)).some(({ reason }) => reason === 'conflict'));
    expect(files()).toEqual([]);
    gate.open();

    expect(await world.ended(first)).toMatchObject({ status: 'succeeded' });
    expect(await world.ended(second)).toMatchObject({ status: 'succeeded' });
    expect(files().flatMap(idsIn)).toEqual(['a']);
  });
});

describe('the files', () => {
  test('are removed when their period ended longer ago than keep, and left alone when they are not of this archive', async () => {
    await start({ sites: 1 });
    const logs = [0, 40, 80].map((days) => ({
      id: `${days}`,
      timestamp: atTime(world.clock.from - days * DAY),
    }));
    serving(logs);
    await runOf(logsOf({ lookback: '90d' }));
    expect(files()).toHaveLength(3);

    const targets = await runOf(logsOf({ lookback: '90d', keep: '45d' }));

    expect(targets['site-0001']?.detail).toBe('No new entries, 1 old file removed.');
    expect(files().flatMap(idsIn)).toEqual(['40', '0']);

    const file = join(dir, 'logs/activity-logs/site-0001/2026-11.csv');
    writeFileSync(file, 'id\r\n"open\r\n');
    expect((await runOf(logsOf()))['site-0001']).toMatchObject({
      reason: 'archive-failed',
      detail: expect.stringContaining(`${file} is not a file of this archive: it is not CSV`),
    });
    expect(readFileSync(file, 'utf8')).toBe('id\r\n"open\r\n');
  });
});

test('a site that for_each excludes is not archived, and one that refuses its list or is gone is skipped', async () => {
  await start();
  await note('Elsewhere', 'site-0002');
  const forEach = { list: 'listSites', filters: {}, where: 'site.id == "site-0002"' };
  await call('disableSiteActivityLogs', { site_id: 'site-0001' });

  const excluded = await runOf(archiving({}, { forEach }));
  const listed = world.sandbox.journal.countOf('listSiteNotes');
  const refused = await runOf(logsOf(), ['site-0001']);
  justBefore(world, 'listSiteNotes', () => call('deleteSite', { site_id: 'site-0001' }));
  const gone = await runOf(archiving(), ['site-0001']);

  expect(Object.keys(excluded)).toEqual(['site-0002']);
  expect(listed).toBe(1);
  expect(refused['site-0001']).toMatchObject({
    outcome: 'skipped',
    reason: 'not-eligible',
    detail: expect.stringContaining('Activity logging is not enabled'),
  });
  expect(gone['site-0001']).toMatchObject({ outcome: 'skipped', reason: 'gone' });
});

describe('when its policy is loaded', () => {
  /** Each with its line, counted from the options. */
  const faultsOf = (select: string, options = '{ archive_dir: /srv/archive }') =>
    mistakesOf(archive, select, options).map((mistake) => mistake.replace(/:-?\d+ /, ': '));

  test.each([
    '{ from: listSiteActivityLogs, for_each: listSites }',
    '{ from: listSiteSnapshots, for_each: { list: listSites, where: site.backups.enabled } }',
    '{ from: listAutoUpdateHistory, filters: { status: { in: [failed, aborted] } } }',
  ])('select is accepted: %s', (select) => {
    expect(faultsOf(select)).toEqual([]);
  });

  test.each([
    [
      '{ from: listBackupDestinations }',
      ['0: listBackupDestinations cannot be archived: it cannot be read by the time of its entries.'],
    ],
    [
      '{ from: listTasks, filters: { created_at: { gte: 2026-11-01T00:00:00Z } } }',
      [
        '0: archive itself filters listTasks by created_at. remove select.filters.created_at, and use lookback',
      ],
    ],
    [
      '{ from: listTasks, where: task.status == "failed", sort: "created_at,asc" }',
      [
        '-1: The job archive works on whole lists, so "where" does not apply to their items. use filters, or for_each.where for the sites',
        '-1: The job archive works on whole lists, so "sort" does not apply to their items. remove it',
      ],
    ],
  ])('select is rejected: %s', (select, faults) => {
    expect(faultsOf(select)).toEqual(faults);
  });

  test('keep has to be longer than overlap', () => {
    const options = '{ archive_dir: /srv/archive, overlap: 7d, keep: 7d }';
    expect(faultsOf('{ from: listTasks }', options)).toEqual(['0: "keep" must be longer than "overlap".']);
  });
});
