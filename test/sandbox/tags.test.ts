import { expect, test } from 'vitest';
import { startCalling } from './calling.ts';

test('a request that changes nothing is no effect', async () => {
  const { sandbox, clock, get, post, remove } = await startCalling({ sites: 1 });
  const before = (await get('/tags/11')).body.tag;
  await clock.advance(1000);
  const update = async (name: string) => (await post('/tags/11/update', { tag: { name } })).body.tag;
  expect(await update(before.name)).toEqual(before);
  expect(sandbox.journal.effects).toEqual([]);
  expect((await update('summer')).updated_at > before.updated_at).toBe(true);
  const { id } = (await post('/tags', { tag: { name: 'new' } })).body.tag;
  await remove(`/tags/${id}`);
  expect((await remove(`/tags/${id}`)).status).toBe(404);
  expect(sandbox.journal.effects.map(({ operation, resource }) => [operation, resource])).toEqual([
    ['updateTag', '11'],
    ['createTag', id],
    ['deleteTag', id],
  ]);
});

test('an existing name and an invalid color are refused', async () => {
  const { post } = await startCalling({ sites: 1 });
  const codeOf = async (tag: object) => (await post('/tags', { tag })).body.error.code;
  expect(await codeOf({ name: 'Production' })).toBe('tag_name_taken');
  expect(await codeOf({ name: 'new', color: 'red' })).toBe('invalid_color');
});

test('assigning and removing again changes nothing; a site that is not there is reported', async () => {
  const { sandbox, post } = await startCalling({ sites: 1 });
  const { id } = (await post('/tags', { tag: { name: 'new' } })).body.tag;
  for (const way of ['assign', 'assign', 'remove', 'remove']) {
    const { body } = await post(`/tags/${id}/${way}`, { site_ids: ['site-0001', 'nowhere'] });
    expect(body.meta).toEqual({ requested: 2, succeeded: 1, failed: 1 });
    expect(body[way].errors).toEqual([{ id: 'nowhere', code: 'not_found', message: expect.any(String) }]);
  }
  expect(sandbox.journal.effectsOf('assignTag')).toEqual(['site-0001']);
  expect(sandbox.journal.effectsOf('removeTag')).toEqual(['site-0001']);
});
