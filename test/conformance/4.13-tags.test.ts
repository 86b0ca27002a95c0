/** Section 4.13, sentence by sentence. */
import { expect } from 'vitest';
import { unused } from './fixtures.ts';
import { casesOfFile, type Tools } from './harness.ts';
import { listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.13 Tags');
listCases(conform, {
  path: '/tags',
  key: 'tags',
  filters: {
    name: { operators: ['eq', 'contains'] },
    color: { operators: ['eq'] },
    created_at: moment,
    updated_at: moment,
    site_id: { operators: ['in'], read: ({ site_ids }) => site_ids },
  },
  sorts: ['name', 'created_at', 'updated_at'],
  defaultSort: 'created_at,desc',
  timezone: true,
});

/** A tag of our own with a name that no other case uses. */
async function makeTag({ call, cleanUp }: Tools, color?: string) {
  const name = unused('conformance');
  const { status, body } = await call('POST', '/tags', { tag: { name, ...(color && { color }) } });
  expect([status, body.error]).toEqual([201, undefined]);
  cleanUp('DELETE', `/tags/${body.tag.id}`);
  return body.tag;
}

conform('the list sorts by color', async ({ call }) => {
  const colors = async (direction: string) =>
    (await call('GET', `/tags?sort=color,${direction}`)).body.tags
      .map(({ color }: { color: string | null }) => color)
      .filter((color: string | null) => color !== null);
  const up = await colors('asc');
  expect(up).toEqual([...up].sort());
  expect(await colors('desc')).toEqual([...up].reverse());
});

conform('createTag answers 201 with the tag, its site_ids empty and its id numeric', async (tools) => {
  const tag = await makeTag(tools, '#123456');
  expect(tag).toMatchObject({ color: '#123456', site_ids: [] });
  expect(tag.id).toMatch(/^\d+$/);
  expect((await tools.call('GET', `/tags/${tag.id}`)).body.tag).toEqual(tag);
});

conform('createTag and updateTag need a body (400)', async (tools) => {
  const { id } = await makeTag(tools);
  for (const path of ['/tags', `/tags/${id}/update`]) {
    expect((await tools.call('POST', path)).status).toBe(400);
    expect((await tools.call('POST', path, { name: 'x' })).status).toBe(400);
    expect((await tools.call('POST', path, { tag: { name: 7 } })).status).toBe(400);
    expect((await tools.call('POST', path, '{"tag":')).status).toBe(400);
  }
  expect((await tools.call('POST', `/tags/${id}/update`, { tag: {} })).status).toBe(422);
});

conform('a name that is blank cannot be (422)', async (tools) => {
  const tag = await makeTag(tools);
  for (const path of ['/tags', `/tags/${tag.id}/update`]) {
    expect((await tools.call('POST', path, { tag: { name: ' ' } })).status).toBe(422);
  }
  expect((await tools.call('GET', `/tags/${tag.id}`)).body.tag).toEqual(tag);
});

conform('updateTag changes the name, the color or both', async (tools) => {
  const tag = await makeTag(tools, '#123456');
  const update = async (fields: object) => {
    const { status, body } = await tools.call('POST', `/tags/${tag.id}/update`, { tag: fields });
    expect(status).toBe(200);
    return body.tag;
  };
  const [first, second] = [unused('renamed'), unused('renamed')];
  expect(await update({ name: first })).toMatchObject({ id: tag.id, name: first, color: '#123456' });
  expect(await update({ color: '#654321' })).toMatchObject({ name: first, color: '#654321' });
  const both = await update({ name: second, color: '#000000' });
  expect(both).toMatchObject({ name: second, color: '#000000', created_at: tag.created_at });
  expect((await tools.call('GET', `/tags/${tag.id}`)).body.tag).toEqual(both);
});

conform('deleteTag answers 204 and clears all site assignments', async (tools) => {
  const { call, need } = tools;
  const site = await need('/sites', ({ tags }) => tags.length < 5);
  const { id } = (await call('POST', '/tags', { tag: { name: unused('short-lived') } })).body.tag;
  await call('POST', `/tags/${id}/assign`, { site_ids: [site.id] });
  expect((await call('DELETE', `/tags/${id}`)).status).toBe(204);
  expect((await call('GET', `/tags/${id}`)).status).toBe(404);
  expect((await call('GET', `/sites/${site.id}`)).body.site.tags).toEqual(site.tags);
});

conform('assign and remove answer 200 with sites, errors and counts', async (tools) => {
  const { call, need } = tools;
  const site = await need('/sites', ({ tags }) => tags.length < 5);
  const { id, name } = await makeTag(tools);
  for (const way of ['assign', 'remove'] as const) {
    const site_ids = [site.id, 'nothing-has-this-id'];
    const { status, body } = await call('POST', `/tags/${id}/${way}`, { site_ids });
    expect(status).toBe(200);
    expect(body[way].site_ids).toEqual([site.id]);
    expect(body[way].errors).toHaveLength(1);
    expect(body.meta).toEqual({ requested: 2, succeeded: 1, failed: 1 });
    const carries = way === 'assign';
    expect((await call('GET', `/tags/${id}`)).body.tag.site_ids).toEqual(carries ? [site.id] : []);
    const { tags } = (await call('GET', `/sites/${site.id}`)).body.site;
    expect(tags).toEqual(carries ? expect.arrayContaining([{ id, name }]) : site.tags);
    expect((await call('POST', `/tags/${id}/${way}`)).status).toBe(400);
  }
});

conformHeld('a site with the maximum number of tags is reported in assign.errors', async (tools) => {
  const { call } = tools;
  for (let count = 0; count < 200; count += 1) {
    const { id } = await makeTag(tools);
    const { status, body } = await call('POST', `/tags/${id}/assign`, {
      site_ids: ['site-0001', 'site-0002'],
    });
    expect(status).toBe(200);
    if (body.meta.failed === 0) continue;
    const [full] = body.assign.errors;
    expect(full.code).toBe('tag_limit_reached');
    expect((await call('GET', `/tags/${id}`)).body.tag.site_ids).not.toContain(full.id);
    expect((await call('GET', `/sites/${full.id}`)).body.site.tags).toHaveLength(10);
    return;
  }
  expect.fail('no number of tags was too many');
});
