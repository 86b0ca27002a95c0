import { expect, test } from 'vitest';
import { startCalling } from './calling.ts';

test('a tag is created, shown, changed and deleted', async () => {
  const { sandbox, clock, get, post, remove } = await startCalling({ sites: 2 });
  const created = await post('/tags', { tag: { name: 'spring', color: '#00ff00' } });
  expect(created.status).toBe(201);
  const { tag } = created.body;
  expect(tag).toMatchObject({ name: 'spring', color: '#00ff00', site_ids: [] });
  expect(tag.id).toMatch(/^\d+$/);

  await clock.advance(1000);
  const changed = (await post(`/tags/${tag.id}/update`, { tag: { name: 'summer' } })).body.tag;
  expect(changed).toMatchObject({ name: 'summer', color: '#00ff00', created_at: tag.created_at });
  expect(changed.updated_at > tag.updated_at).toBe(true);
  expect((await get(`/tags/${tag.id}`)).body.tag).toEqual(changed);

  const removed = await remove(`/tags/${tag.id}`);
  expect([removed.status, removed.body]).toEqual([204, undefined]);
  expect((await get(`/tags/${tag.id}`)).status).toBe(404);
  expect((await remove(`/tags/${tag.id}`)).status).toBe(404);
  expect(sandbox.journal.effects.map(({ operation }) => operation)).toEqual([
    'createTag',
    'updateTag',
    'deleteTag',
  ]);
});

test('a request that changes nothing is no effect', async () => {
  const { sandbox, clock, get, post } = await startCalling({ sites: 1 });
  const before = (await get('/tags/11')).body.tag;
  await clock.advance(1000);
  const { body } = await post('/tags/11/update', { tag: { name: before.name } });
  expect(body.tag).toEqual(before);
  expect(sandbox.journal.effects).toEqual([]);
});

test('a blank or existing name, and an invalid color, are refused', async () => {
  const { post } = await startCalling({ sites: 1 });
  const codeOf = async (tag: object) => (await post('/tags', { tag })).body.error.code;
  expect(await codeOf({ name: 'Production' })).toBe('tag_name_taken');
  expect(await codeOf({ name: ' ' })).toMatch(/tag_name_blank|invalid_value/);
  expect(await codeOf({ name: 'new', color: 'red' })).toBe('invalid_color');
});

test('a tag is assigned site by site: errors are reported, and the status is 200', async () => {
  const { sandbox, get, post } = await startCalling({ sites: 3 });
  const { id } = (await post('/tags', { tag: { name: 'new' } })).body.tag;

  const { status, body } = await post(`/tags/${id}/assign`, {
    site_ids: ['site-0001', 'nowhere', 'site-0003'],
  });

  expect(status).toBe(200);
  expect(body).toEqual({
    assign: {
      site_ids: ['site-0001', 'site-0003'],
      errors: [{ id: 'nowhere', code: 'not_found', message: expect.any(String) }],
    },
    meta: { requested: 3, succeeded: 2, failed: 1 },
  });
  expect((await get(`/tags/${id}`)).body.tag.site_ids).toEqual(['site-0001', 'site-0003']);
  expect((await get('/sites/site-0001')).body.site.tags).toContainEqual({ id, name: 'new' });
  expect(sandbox.journal.effectsOf('assignTag')).toEqual(['site-0001', 'site-0003']);
});

test('assigning and removing again changes nothing', async () => {
  const { sandbox, post } = await startCalling({ sites: 1 });
  const { id } = (await post('/tags', { tag: { name: 'new' } })).body.tag;
  for (const way of ['assign', 'assign', 'remove', 'remove']) {
    const { body } = await post(`/tags/${id}/${way}`, { site_ids: ['site-0001'] });
    expect(body.meta).toEqual({ requested: 1, succeeded: 1, failed: 0 });
  }
  expect(sandbox.journal.effectsOf('assignTag')).toEqual(['site-0001']);
  expect(sandbox.journal.effectsOf('removeTag')).toEqual(['site-0001']);
});

test('a site takes ten tags and no more', async () => {
  const { get, post } = await startCalling({ sites: 1 });
  const held = (await get('/sites/site-0001')).body.site.tags.length;
  for (let count = held; count < 10; count += 1) {
    const { id } = (await post('/tags', { tag: { name: `tag ${count}` } })).body.tag;
    const { body } = await post(`/tags/${id}/assign`, { site_ids: ['site-0001'] });
    expect(body.meta.succeeded).toBe(1);
  }
  const { id } = (await post('/tags', { tag: { name: 'one too many' } })).body.tag;
  const { status, body } = await post(`/tags/${id}/assign`, { site_ids: ['site-0001'] });
  expect([status, body.assign.errors[0].code]).toEqual([200, 'tag_limit_reached']);
});

test('deleting a tag removes it from its sites', async () => {
  const { get, ids, remove } = await startCalling();
  const [site] = (await get('/sites?filters[tags:in][]=12')).body.sites;
  await remove('/tags/12');
  const { tags } = (await get(`/sites/${site.id}`)).body.site;
  expect(tags.map(({ id }: { id: string }) => id)).not.toContain('12');
  expect(await ids('/sites?filters[tags:in][]=12')).toEqual([]);
});

test('tags are found by name, color and site', async () => {
  const { get, ids } = await startCalling();
  expect(await ids('/tags?filters[name:eq]=shop')).toEqual(['12']);
  expect(await ids('/tags?filters[name:contains]=LAND')).toHaveLength(1);
  expect(await ids('/tags?filters[color:eq]=%23c0392b')).toEqual(['11']);
  const { tags } = (await get('/tags')).body;
  const tagged = tags.find(({ site_ids }: { site_ids: string[] }) => site_ids.length > 0);
  expect(await ids(`/tags?filters[site_id:in][]=${tagged.site_ids[0]}`)).toContain(tagged.id);
});
