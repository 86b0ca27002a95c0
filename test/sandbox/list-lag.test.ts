import { expect, test } from 'vitest';
import { startCalling } from './calling.ts';

test('a list that lags shows a new item later, and its single view shows it immediately', async () => {
  const { clock, get, post, ids } = await startCalling({ sites: 2, listLagMs: 3_000 });
  await clock.advance(60_000);
  const { id } = (await post('/tags', { tag: { name: 'new' } })).body.tag;
  expect(await ids('/tags')).not.toContain(id);
  expect((await get(`/tags/${id}`)).status).toBe(200);
  await clock.advance(2_999);
  expect(await ids('/tags')).not.toContain(id);
  await clock.advance(1);
  expect(await ids('/tags')).toContain(id);
});

test('a list that lags shows a change later, and a deleted item longer', async () => {
  const { clock, get, post, remove } = await startCalling({ sites: 2, listLagMs: 3_000 });
  const { id } = (await post('/tags', { tag: { name: 'first' } })).body.tag;
  await clock.advance(10_000);
  const names = async () =>
    (await get('/tags')).body.tags
      .filter((tag: { id: string }) => tag.id === id)
      .map((tag: { name: string }) => tag.name);

  await post(`/tags/${id}/update`, { tag: { name: 'second' } });
  expect(await names()).toEqual(['first']);
  await clock.advance(3_000);
  expect(await names()).toEqual(['second']);

  await remove(`/tags/${id}`);
  expect((await get(`/tags/${id}`)).status).toBe(404);
  expect(await names()).toEqual(['second']);
  await clock.advance(3_000);
  expect(await names()).toEqual([]);
});

test('automatic changes and changes by tests also appear in the list later', async () => {
  const { sandbox, clock, get, post } = await startCalling({ sites: 2, listLagMs: 3_000 });
  const inList = async () => {
    const { sites } = (await get('/sites?sort=created_at,asc')).body;
    return sites.find(({ id }: { id: string }) => id === 'site-0001').sync.in_progress;
  };
  const alone = async () => (await get('/sites/site-0001')).body.site.sync.in_progress;
  sandbox.site('site-0001').syncTakes(20_000);
  await post('/sites/site-0001/sync');
  expect([await inList(), await alone()]).toEqual([false, true]);
  await clock.advance(3_000);
  expect([await inList(), await alone()]).toEqual([true, true]);
  await clock.advance(17_000);
  expect([await inList(), await alone()]).toEqual([true, false]);
  await clock.advance(3_000);
  expect(await inList()).toBe(false);

  sandbox.site('site-0001').startSync();
  expect([await inList(), await alone()]).toEqual([false, true]);
  await clock.advance(3_000);
  expect(await inList()).toBe(true);
});

test('a list below an item that no list shows yet is up to date', async () => {
  const { post, ids } = await startCalling({ sites: 0, listLagMs: 3_000 });
  const { id } = (await post('/sites', { site: { url: 'https://new.example' } })).body.site;
  const { note } = (await post(`/sites/${id}/notes`, { note: { content: 'made now' } })).body;
  expect(await ids('/sites')).toEqual([]);
  expect(await ids(`/sites/${id}/notes`)).toEqual([note.id]);
});

test('the ids that a lagging list shows are those of the items themselves', async () => {
  const { clock, post, ids } = await startCalling({ sites: 5, listLagMs: 3_000 });
  const made: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    const { note } = (await post(`/sites/site-0001/notes`, { note: { content: `number ${count}` } })).body;
    made.push(note.id);
    await clock.advance(700);
  }
  await clock.advance(3_000);
  expect((await ids('/sites/site-0001/notes')).sort()).toEqual(expect.arrayContaining(made.sort()));
});
