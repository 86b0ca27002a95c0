/** The search of the dashboard: what it finds, for whom, and how one gets there. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { workedOn } from '../support/worked-on.ts';
import { type Ask, aPolicy, aRun, ended, startWorld, usersOf, type World } from './world.ts';

let world: World;
let ask: Ask;

type Suggestion = Record<'kind' | 'title' | 'about' | 'href', string>;

async function suggestions(ask: Ask, query: string): Promise<Suggestion[]> {
  const answer = await ask(`/search/suggestions?q=${encodeURIComponent(query)}`);
  return ((await answer.json()) as { results: Suggestion[] }).results;
}
const titles = async (ask: Ask, query: string) => (await suggestions(ask, query)).map(({ title }) => title);

const NOW = Date.now();
const dental = ended('site-0047', 'succeeded', { label: 'https://old-town-dental-47.example' });
const bakery = ended('site-0048', 'failed', { label: 'https://Harbour-Bakery.example', reason: 'timeout' });

/** Read by most tests, and added to by those at the end. */
beforeAll(async () => {
  world = await startWorld({
    policies: () => [
      aPolicy('nightly-sync', { description: 'What the daily sync has left behind' }),
      aPolicy('monthly-reports'),
    ],
  });
  const run = aRun({ id: 'nightly-sync.20261122T020000Z', createdAt: NOW });
  const effectsOf = ({ id }: { id: string }) => [{ operation: 'syncSite', id: `task-of-${id}` }];
  await workedOn(world.records, run, [dental, bakery], { effectsOf });
  ask = await world.signedIn();
});
afterAll(() => world.stop());

test('a policy is found by its name and by its description', async () => {
  expect((await suggestions(ask, 'left BEHIND'))[0]).toMatchObject({
    kind: 'Policies',
    title: 'nightly-sync',
    href: '/policies/nightly-sync',
  });
  expect(await titles(ask, 'reports')).toEqual(['monthly-reports']);
});

test('a site is found by parts of its address in any order, and by its id', async () => {
  expect((await suggestions(ask, '47 dental'))[0]).toMatchObject({
    title: dental.label,
    href: '/targets/default/site-0047',
  });
  expect(await titles(ask, 'bakery')).toEqual([bakery.label]);
  expect(await titles(ask, 'site-0048')).toEqual([bakery.label]);
  const page = await (await ask('/search?q=bakery')).text();
  expect(page).toContain('href="/targets/default/site-0048"');
});

test('a run is found by a part of its id', async () => {
  expect(await titles(ask, '20261122')).toEqual(['nightly-sync.20261122T020000Z']);
  // Patterns of Redis are ordinary characters.
  expect(await titles(ask, '*2026*')).toEqual([]);
});

test('a task is found by its whole id, with the site and the run that it was for', async () => {
  expect((await suggestions(ask, 'task-of-site-0047'))[0]).toMatchObject({
    kind: 'Tasks',
    title: dental.label,
    href: '/targets/default/site-0047?run=nightly-sync.20261122T020000Z',
  });
  expect(await titles(ask, 'task-of-site-00')).toEqual([]);
});

test('a reason leads to the latest run in which targets ended for it', async () => {
  const [found] = await suggestions(ask, 'timeout');
  expect(found).toMatchObject({ kind: 'Reasons', title: 'timeout' });
  expect(found?.about).toContain('1 target in the last 24 hours');
  expect((await ask(found?.href ?? '')).status).toBe(200);
});

test('a site is found as long as any run of it is stored', async () => {
  const { records } = world;
  const old = aRun({ id: 'nightly-sync.old', createdAt: 1_000 });
  await workedOn(records, old, [dental, ended('site-0050', 'succeeded')]);
  await records.runs.move(old, 'succeeded', { at: 2_000 });
  expect(await records.labels.count()).toBe(3);

  expect(await records.runs.prune(10_000)).toBe(1);

  const left: string[] = [];
  for await (const page of records.labels.pages()) left.push(...page.map(({ target }) => target));
  expect(left.sort()).toEqual(['site-0047', 'site-0048']);
});

test('a site of a new run is found at once', async () => {
  expect(await titles(ask, 'harbour')).toEqual([bakery.label]);

  const later = aRun({ id: 'nightly-sync.20261123T020000Z', createdAt: NOW + 1 });
  const florist = ended('site-0049', 'succeeded', { label: 'https://florist.example' });
  await workedOn(world.records, later, [florist]);

  expect(await titles(ask, 'florist')).toEqual([florist.label]);
});

test('somebody with limits finds nothing of others', async () => {
  const world = await startWorld({
    password: null,
    policies: () => [aPolicy('inside'), aPolicy('outside')],
    access: () =>
      usersOf({ limited: [{ role: 'viewer', policies: ['inside'] }], whole: [{ role: 'viewer' }] }),
  });
  onTestFinished(world.stop);
  for (const name of ['inside', 'outside']) {
    const run = aRun({ id: `${name}.20261122T020000Z`, policy: name, createdAt: NOW });
    const site = ended(`site-${name}`, 'failed', {
      reason: 'timeout',
      label: `https://dental-${name}.example`,
    });
    const effectsOf = () => [{ operation: 'syncSite', id: `task-${name}` }];
    await workedOn(world.records, run, [site], { effectsOf });
  }
  const [limited, whole] = [await world.signedIn('limited'), await world.signedIn('whole')];
  for (const query of ['dental', '20261122', 'side', 'task-outside', 'timeout', 'site-outside']) {
    expect(JSON.stringify(await suggestions(limited, query))).not.toContain('outside');
    if (query !== 'timeout') expect(JSON.stringify(await suggestions(whole, query))).toContain('outside');
    const page = await (await limited(`/search?q=${query}`)).text();
    expect(page.replaceAll(query, '')).not.toContain('outside');
  }
  expect((await suggestions(limited, 'timeout'))[0]?.about).toContain('1 target in the last 24 hours');
  expect((await suggestions(whole, 'timeout'))[0]?.about).toContain('2 targets in the last 24 hours');
  expect(await titles(limited, 'dental')).toEqual(['https://dental-inside.example']);
});
