/** Lists as CSV files from their pages: what is in them, and what the audit log says about it. */
import { afterEach, expect, test } from 'vitest';
import { aSchedule } from '../support/builders.ts';
import { heldClock, NOON } from '../support/held-clock.ts';
import { aPolicy, aRun, auditOf, ended, remember, startWorld, usersOf, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The lines of a file, and its name. */
async function fileOf(answer: Response): Promise<{ name: string; lines: string[] }> {
  expect(answer.status).toBe(200);
  const [, name = ''] = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '') ?? [];
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(bytes.subarray(0, 3).toString('hex'), 'the mark by which Excel reads UTF-8').toBe('efbbbf');
  return { name, lines: bytes.subarray(3).toString().trimEnd().split('\r\n') };
}

const at = (hour: number) => ({ schedule: aSchedule({ cron: [`0 ${hour} * * *`] }) });

test('the sites that a page lists are a file with the columns of "caretaker sites", and no cell is run as a formula', async () => {
  world = await startWorld({ clock: heldClock() });
  const site = { connection: 'connected' as const, tags: [{ id: '7', name: '=Gold' }] };
  await world.records.sites.replace('default', NOON, [
    { id: 's-1', url: 'https://a.example', title: '=1+1,"x"', ...site },
    { id: 's-2', url: 'https://b.example', title: 'Shop', connection: 'disconnected' },
  ]);
  const ask = await world.signedIn();

  expect(await (await ask('/sites?connection=connected')).text()).toContain(
    'href="/sites.csv?connection=connected"',
  );
  const { name, lines } = await fileOf(await ask('/sites.csv?connection=connected'));

  expect(name).toMatch(/^sites-\d{4}-\d\d-\d\d\.csv$/);
  expect(lines[0]).toMatch(/^account,id,url,title,client\.id,client\.name,tags,last_sync_at,/);
  expect(lines.slice(1)).toEqual([expect.stringMatching(/^default,s-1,.*,"'=1\+1,""x""",,,/)]);
  expect((await ask('/sites.csv?not_synced=often')).status, 'before anything is sent').toBe(400);
});

test('the policies that a page lists are a file in the order of the page', async () => {
  const policies = [
    aPolicy('a', { ...at(20), owner: 'ops' }),
    aPolicy('b', at(15)),
    aPolicy('c', { job: 'backup' }),
  ];
  world = await startWorld({ clock: heldClock(), policies: () => policies });
  await world.records.policies.pause('a', { at: NOON, by: 'anna', reason: 'a move' });
  const ask = await world.signedIn();

  expect(await (await ask('/policies?q=&sort=next&page=1')).text()).toContain(
    'href="/policies.csv?sort=next"',
  );
  const { lines } = await fileOf(await ask('/policies.csv?sort=next&job=site-sync'));

  expect(lines[0]).toMatch(/^name,description,job,account,cron,/);
  expect(lines.slice(1).map((line) => line.split(',')[0])).toEqual(['b', 'a']);
  expect(lines[2]).toContain('anna,a move');
});

test('the schedule of a week is a file: what ran on each day with its result, and what is planned', async () => {
  const sync = aPolicy('sync', at(2));
  world = await startWorld({ clock: heldClock(), policies: () => [sync] });
  const { records } = world;
  // Sunday is in the week before. Monday is not the chosen day.
  const monday = Math.floor(NOON / DAY) * DAY - ((new Date(NOON).getUTCDay() + 6) % 7) * DAY + 2 * HOUR;
  const run = aRun({ id: 'sync.1', policy: 'sync', policyHash: sync.hash, createdAt: monday, requests: 9 });
  await remember(records, run, [ended('a', 'succeeded')]);
  await records.runs.move(run, 'running', { at: monday });
  await records.runs.move(run, 'succeeded', { at: monday + 60_000 });
  const ran = { scheduledFor: monday, is: 'ran', run: 'sync.1', at: monday } as const;
  await records.ledger.record('sync', [ran], { to: NOON, schedule: 'x' });

  const { name, lines } = await fileOf(await (await world.signedIn())('/schedule.csv?zone=UTC'));

  expect(name).toBe(`schedule-${new Date(monday).toISOString().slice(0, 10)}.csv`);
  expect(lines[0]).toBe(
    'policy,job,account,scheduled_for,starts_at,state,why,run,status,seconds,requests,deadline,late',
  );
  expect(lines[1]).toMatch(
    /^sync,site-sync,default,[^,]+T02:00:00[.]000Z,[^,]+,ran,,sync\.1,succeeded,60,9,,/,
  );
  expect(lines.at(-1)).toMatch(/,planned,,,,60,9,,$/);
});

test('the audit log is a file of the days that its page shows, and a time that cannot be understood is said', async () => {
  world = await startWorld({ clock: heldClock() });
  // The log is kept for a day here.
  const line = (act: string, hoursAgo: number) =>
    world.records.audit.append(
      {
        ...{ act, at: NOON - hoursAgo * HOUR, result: 'done', from: 'cli@host', what: 'runs.cancel' },
        who: { kind: 'local', name: 'anna' },
      },
      DAY,
    );
  for (const [act, hours] of Object.entries({ old: 20, within: 15, whole: 13, young: 1 }))
    await line(act, hours);
  const ask = await world.signedIn();
  const days = `from=18h&to=${new Date(NOON - DAY).toISOString().slice(0, 10)}`;

  const page = await (await ask(`/audit?what=runs&${days}`)).text();
  expect([...page.matchAll(/data-key="(\w+) done"/g)].map(([, act]) => act)).toEqual(['whole', 'within']);
  const { lines } = await fileOf(await ask(`/audit.csv?what=runs&${days}`));

  expect(lines[0]).toMatch(/^at,result,who\.kind,who\.name,/);
  expect(lines.slice(1).map((one) => one.split(',').at(-1))).toEqual(['whole', 'within']);
  expect(await (await ask('/audit?from=often')).text()).toContain('neither a time nor a duration');
  expect((await ask('/audit.csv?from=often')).status).toBe(400);
});

test('each file has a line in the audit log with who got it and the filters; one that is refused has none', async () => {
  world = await startWorld({ access: () => usersOf({ pia: [{ role: 'viewer' }] }) });
  const run = aRun({ id: 'nightly-sync.1', createdAt: Date.now() - HOUR });
  await remember(world.records, run, [ended('a', 'succeeded')]);
  const get = await world.signedIn('pia');

  for (const list of ['runs', 'findings', 'sites', 'policies', 'schedule'])
    await fileOf(await get(`/${list}.csv?account=default`));
  await fileOf(await get('/runs/nightly-sync.1/targets.csv'));
  expect((await get('/audit.csv')).status).toBe(403);

  const exports = (await auditOf(world)).filter(({ what }) => what.startsWith('export'));
  expect(exports.map(({ what }) => what)).toEqual(
    ['runs', 'findings', 'sites', 'policies', 'schedule', 'targets'].map((one) => `export.${one}`),
  );
  const who = { kind: 'user', name: 'pia' };
  expect(exports[0]).toMatchObject({ who, result: 'done', detail: 'account: default' });
  expect(exports[5]).toMatchObject({
    who,
    run: 'nightly-sync.1',
    policy: 'nightly-sync',
    account: 'default',
  });
});
