/** The page of findings: what is wrong in the fleet, by policy and severity, then each finding. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findIn } from '../support/findings.ts';
import { heldClock, NOON } from '../support/held-clock.ts';
import {
  aPolicy,
  aRun,
  ended,
  pagesFrom,
  postForm,
  remember,
  rowsOf,
  startWorld,
  textOf,
  usersOf,
  type World,
} from './world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let world: World;
afterEach(() => world?.stop());

const findingsIn = (html: string) => rowsOf(html, 'id="findings"');
const groupsIn = (html: string) => rowsOf(html, 'id="finding-groups"');

const startAtNoon = () => startWorld({ clock: heldClock(), policies: () => [aPolicy('stale-backups')] });

test('the findings are grouped by policy and severity, and each is listed with its site and message', async () => {
  world = await startAtNoon();
  const { records } = world;
  const old = { target: 'a', message: 'Backup is 3 days old' };
  const warning = { target: 'w', severity: 'warning', about: 'core', message: 'An update waits' } as const;
  await findIn(records, { at: NOON - 3 * DAY, found: [old, { target: 'gone' }] });
  const { id } = await findIn(records, { at: NOON - HOUR, found: [old, { target: 'b' }, warning] });
  // Its policy is in another account now, so no run looks at it again.
  await findIn(records, { account: 'old', at: NOON - DAY, found: [{ severity: 'info' }] });
  await records.sites.replace('default', NOON, [{ id: 'a', title: 'The bakery', url: 'https://a.example' }]);

  const { html } = await world.look('/findings');

  expect(groupsIn(html)).toEqual([
    expect.stringMatching(/^error findings of stale-backups stale-backups default 2 1 1 3 d ago /),
    expect.stringMatching(/^warning findings of stale-backups stale-backups default 1 1 – 1 h ago /),
    expect.stringMatching(/^info findings of stale-backups stale-backups old, not active 1 – – 1 d ago /),
  ]);
  expect(html).toContain('Open over the last 4 days: from 2 to 2, at most 2');
  expect(findingsIn(html)).toEqual([
    'b.example error backup: The last backup is 3 days old stale-backups new 1 h ago Acknowledge https://b.example: backup',
    'a.example error backup: Backup is 3 days old stale-backups open 3 d ago Acknowledge https://a.example: backup',
    'w.example warning core: An update waits stale-backups new 1 h ago Acknowledge https://w.example: core',
    expect.stringMatching(/^site-0.example info /),
  ]);
  expect(html).toContain(`href="/targets/default/a?run=${id}"`);
  expect(html).toContain('title="https://a.example, The bakery, a"');
});

test('a finding that no run has seen for two days says when it was seen last', async () => {
  world = await startAtNoon();
  await findIn(world.records, { at: NOON - 3 * DAY, found: [{ target: 'a' }] });

  const { html } = await world.look('/findings');

  expect(findingsIn(html)).toEqual([
    expect.stringMatching(/^a\.example error seen 3 d ago : backup: The last backup/),
  ]);
});

test('how many are resolved is said as far as it is known', async () => {
  world = await startAtNoon();
  const { records } = world;
  const found = Array.from({ length: 230 }, (_, index) => ({ target: `s-${index}` }));
  await findIn(records, { at: NOON - 3 * DAY, found: [{ target: 'a' }, ...found] });
  await findIn(records, { at: NOON - HOUR, found: [{ target: 'a' }] });

  const { html } = await world.look('/findings');

  expect(groupsIn(html)).toEqual([expect.stringMatching(/ default 1 – ≥ 200 3 d ago /)]);
});

describe('of four findings', () => {
  let four: World;
  beforeAll(async () => {
    four = await startAtNoon();
    const { records } = four;
    const warning = { target: 'w', severity: 'warning', message: 'An update waits' } as const;
    await findIn(records, { at: NOON - 3 * DAY, found: [{ target: 'a' }, { target: 'gone' }] });
    await findIn(records, { at: NOON - HOUR, found: [{ target: 'a' }, { target: 'b' }, warning] });
  });
  afterAll(() => four.stop());

  test.each([
    ['state=new', ['b', 'w']],
    ['state=open', ['a']],
    ['state=resolved', ['gone']],
    ['severity=warning', ['w']],
    ['policy=stale-backups&severity=error', ['b', 'a']],
    ['policy=stale', []],
    ['account=other', []],
    ['q=UPDATE', ['w']],
    ['q=b.example', ['b']],
    // Redis has its slashes, as of what is written in Lua, with a backslash.
    ['q=https://B.', ['b']],
  ])('with %s only these are listed', async (query, sites) => {
    const { html } = await four.look(`/findings?${query}`);

    expect(findingsIn(html).map((row) => row.split('.example')[0])).toEqual(sites);
  });
});

test('every finding is on exactly one page', async () => {
  world = await startAtNoon();
  const found = Array.from({ length: 120 }, (_, index) => ({ target: `s-${index}` }));
  await findIn(world.records, { at: NOON - HOUR, found });
  await findIn(world.records, { at: NOON - HOUR, policy: 'other', found: found.slice(0, 5) });

  const pages = await pagesFrom(await world.signedIn(), '/findings', 'Next');
  const seen = pages.flatMap(findingsIn);

  expect(seen).toHaveLength(125);
  expect(new Set(seen).size).toBe(125);
});

test('a finding is acknowledged from its row, after a question, and counts again from there', async () => {
  world = await startAtNoon();
  await findIn(world.records, { at: NOON - HOUR, found: [{ target: 'a' }, { target: 'b' }] });
  const ask = await world.signedIn();
  const post = (path: string, fields: Record<string, string>) =>
    postForm(ask, world.dashboard.url, path, fields);
  const linkIn = (html: string, what: string) =>
    new RegExp(`href="(/findings/${what}\\?[^"]*site=a[^"]*)"`).exec(html)?.[1]?.replaceAll('&amp;', '&') ??
    '';
  const question = linkIn(await (await ask('/findings')).text(), 'acknowledge');
  const list = '/findings?severity=error&q=a';
  const asked = await (await ask(question, { headers: { referer: world.dashboard.url + list } })).text();
  expect(textOf(asked)).toContain('Acknowledge this finding?');
  const [, to = ''] = /action="(\/findings\/acknowledge[^"]*)"/.exec(asked) ?? [];
  const fields = Object.fromEntries(new URL(question, world.dashboard.url).searchParams);

  expect((await post('/findings/acknowledge', { ...fields, reason: 'known', for: 'soon' })).status).toBe(400);
  const done = await post(to, { ...fields, reason: 'known', for: '7d' });
  // Filters and page of the list are kept.
  expect([done.status, done.headers.get('location')]).toEqual([303, list]);

  const html = await (await ask('/findings')).text();
  expect(groupsIn(html)[0]).toMatch(/ 1 \+1 acknowledged 1 /);
  expect(html).toContain('title="anna, until'.replace('anna', 'admin'));
  expect(textOf(await (await ask('/')).text())).toContain('1 error');
  const end = linkIn(html, 'unacknowledge');
  expect(textOf(await (await ask(end)).text())).toContain('End this acknowledgement?');
  expect((await post('/findings/unacknowledge', fields)).status).toBe(303);
  expect(await (await ask('/findings')).text()).not.toContain('+1');
  expect(
    (await ask('/findings/acknowledge?policy=stale-backups&account=default&site=x&about=y')).status,
  ).toBe(404);
});

test('all findings that the filters match are acknowledged after one question, and none that came after it', async () => {
  const clock = heldClock();
  world = await startWorld({ clock, policies: () => [aPolicy('stale-backups'), aPolicy('old-php')] });
  const found = ['a', 'b'].map((target) => ({ target }));
  await findIn(world.records, { at: NOON - HOUR, found });
  await findIn(world.records, {
    at: NOON - 40 * DAY,
    policy: 'old-php',
    found: [{ target: 'a' }, { target: 'c' }],
  });
  const ask = await world.signedIn();
  const stateOf = async (query: string) =>
    findingsIn((await world.look(`/findings${query}`)).html)
      .map((row) => row.split('.')[0])
      .sort();
  expect(await stateOf('?from=31d')).toEqual(['a', 'b']);
  expect(await stateOf('?to=31d')).toEqual(['a', 'c']);

  const asked = await (await ask('/bulk/acknowledge?q=a')).text();
  expect(textOf(asked)).toContain('Acknowledge 4 findings? old-php 2, stale-backups 2.');
  const narrow = await (await ask('/bulk/acknowledge?from=31d')).text();
  expect(textOf(narrow)).toContain('Acknowledge 2 findings? stale-backups 2.');
  const fields = Object.fromEntries(
    [...narrow.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  await clock.advance(HOUR);
  await findIn(world.records, { at: NOON + HOUR / 2, found: [...found, { target: 'late' }] });
  const post = (more: object) =>
    postForm(ask, world.dashboard.url, '/bulk/acknowledge', { ...fields, reason: 'known', ...more });
  expect((await post({ for: 'soon' })).status).toBe(400);
  expect((await post({ for: '7d' })).status).toBe(303);

  expect(await stateOf('?state=acknowledged')).toEqual(['a', 'b']);
  expect(await stateOf('?state=new')).toEqual(['late']);
  expect((await ask('/bulk/acknowledge?q=nothing-has-this')).status).toBe(404);
});

test('without findings the page says what would be here; an address that is not the one of a page is refused', async () => {
  world = await startAtNoon();

  expect((await world.look('/findings')).text).toContain('No finding is open.');
  expect((await world.look('/findings?after=nonsense')).status).toBe(400);
});

test('somebody with limits sees the findings of what they cover, and nothing of others', async () => {
  world = await startWorld({
    clock: heldClock(),
    policies: () => [aPolicy('inside'), aPolicy('outside')],
    access: () => usersOf({ ana: [{ role: 'viewer', policies: ['inside'] }] }),
    password: null,
  });
  await findIn(world.records, { at: NOON, policy: 'inside', found: [{ target: 'in' }] });
  await findIn(world.records, { at: NOON, policy: 'outside', found: [{ target: 'out-1' }] });

  for (const query of ['', '?policy=outside', '?state=resolved']) {
    const { html } = await world.look(`/findings${query}`, 'ana');
    expect(html).not.toContain('out-1');
    expect(groupsIn(html).join()).not.toContain('outside');
    if (query === '') expect(findingsIn(html)).toEqual([expect.stringContaining('in.example')]);
  }
});

test('new errors of active policies are counted beside the page, and the overview groups what is open', async () => {
  world = await startAtNoon();
  const { records } = world;
  const warnings = ['w1', 'w2'].map((target) => ({ target, severity: 'warning' }) as const);
  await findIn(records, { at: NOON - 3 * DAY, found: [{ target: 'a' }] });
  await findIn(records, { at: NOON - HOUR, found: [{ target: 'a' }, { target: 'b' }, ...warnings] });
  await findIn(records, { at: NOON - HOUR, policy: 'removed', found: [{ target: 'c' }] });

  const { text: overview } = await world.look('/');

  expect(overview).toMatch(/Findings 1 new errors/);
  expect(overview).toContain(
    '2 errors stale-backups 2 errors open, 1 of them new; 2 warnings open, 2 of them new 3 d ago',
  );
  expect(overview).not.toMatch(/errors? removed/);
});

test('the page of a target shows its open findings of all policies, and not those of other targets', async () => {
  world = await startAtNoon();
  const { records } = world;
  const run = await findIn(records, { at: NOON - HOUR, found: [{ target: 'a' }, { target: 'a-2' }] });
  const plugin = { target: 'a/plugin', site: 'a', about: 'plugin', message: 'It is vulnerable' };
  await findIn(records, { at: NOON - HOUR, policy: 'plugins', found: [plugin] });
  for (const id of ['a', 'a/plugin']) {
    const worked = aRun({ id: `${run.id}.${id.length}`, createdAt: NOON });
    await remember(records, worked, [ended(id, 'succeeded')]);
  }

  const { text: site } = await world.look(`/targets/default/a?run=${run.id}.1`);
  const { text: item } = await world.look(`/targets/default/a%2Fplugin?run=${run.id}.8`);

  expect(site).toContain('Open findings error plugin: It is vulnerable plugins , since 1 h ago');
  expect(site).toContain('backup: The last backup is 3 days old stale-backups , since 1 h ago');
  expect(site.split('The last backup')).toHaveLength(2);
  expect(item).toContain('plugin: It is vulnerable');
  expect(item).not.toContain('The last backup');
});

test('page, HTTP API and CSV list the same findings', async () => {
  world = await startAtNoon();
  const { records } = world;
  const found = Array.from({ length: 70 }, (_, index) => ({
    target: `s-${index}`,
    message: 'Down, "again"',
  }));
  await findIn(records, { at: NOON - 3 * DAY, found: [...found, { target: 'gone' }] });
  await findIn(records, { at: NOON - HOUR, found: [...found, { target: 'new', severity: 'warning' }] });
  const ask = await world.signedIn();
  const json = async (query: string) => (await ask(`/api/v1/findings?${query}`)).json();

  const first = (await json('limit=50')) as { findings: { target: string }[]; next: string };
  const second = (await json(`limit=50&after=${first.next}`)) as typeof first;
  const listed = [...first.findings, ...second.findings].map(({ target }) => target);
  const csv = await (await ask('/findings.csv')).text();
  const lines = csv.trim().split('\r\n');

  expect(listed).toHaveLength(71);
  expect(new Set(listed).size).toBe(71);
  expect(second.next).toBeNull();
  expect(lines[0]).toBe(
    'account,policy,target,label,about,severity,message,state,since,last_run,last_seen_at,resolved_at,acknowledged_by,acknowledged_until,acknowledged_reason',
  );
  expect(lines.slice(1).map((line) => line.split(',')[2])).toEqual(listed);
  expect(csv).toContain('"Down, ""again"""');
  expect(await json('state=resolved')).toMatchObject({
    findings: [{ target: 'gone', state: 'resolved', resolved_at: '2026-11-21T11:00:00.000Z' }],
    next: null,
  });
  const severe = async (query: string) =>
    ((await json(`limit=100&${query}`)) as typeof first).findings.map(({ target }) => target);
  expect(await severe('severity=error&severity=warning&severity=info')).toEqual(listed);
  expect(await severe('severity=warning&state=new&state=open')).toContain('new');
  expect(await severe('state=new&state=acknowledged')).toEqual(['new']);
  const html = await (await ask('/findings')).text();
  expect(findingsIn(html).map((row) => /https:\/\/(\S+)\.example/.exec(row)?.[1])).toEqual(
    listed.slice(0, 50),
  );
  expect(html).toContain('href="/findings.csv"');
});
