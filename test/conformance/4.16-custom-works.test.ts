/** Section 4.16, and the limits of section 8 for custom works. */
import { expect } from 'vitest';
import { casesOfFile, type Tools } from './harness.ts';
import { listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.16 Custom works');
const path = async ({ need }: Tools) => `/sites/${(await need('/sites')).id}/custom-works`;

/** Entries of our own, deleted when the case ends. */
async function write(tools: Tools, ...custom_works: object[]) {
  const list = await path(tools);
  const { status, body } = await tools.call('POST', list, { custom_works });
  for (const { id } of body.custom_works ?? []) tools.cleanUp('DELETE', `${list}/${id}`);
  return { list, status, works: body.custom_works };
}
const work = (fields: object = {}) => ({ title: 'Logo replaced', performed_on: '2026-11-20', ...fields });

listCases(conform, {
  path: async (tools) => {
    const three = [
      work({ description: 'Bigger' }),
      work({ title: 'Other' }),
      work({ performed_on: '2026-10-01' }),
    ];
    return (await write(tools, ...three)).list;
  },
  key: 'custom_works',
  filters: {
    search: {
      operators: ['contains'],
      read: (item) => [item.title, item.description],
      try: ['_bigge', 'xOther'],
    },
    title: { operators: ['contains'] },
    description: { operators: ['contains'], try: ['_Bigger'] },
    performed_on: { operators: ['eq', 'gte', 'lte'], wrong: '2026-11-20T00:00:00Z', try: ['2026-11-20'] },
    created_at: moment,
    updated_at: moment,
  },
  sorts: ['performed_on', 'created_at', 'updated_at', 'title', 'description'],
  defaultSort: 'performed_on,desc',
  timezone: true,
});

conform('several are written down at once, with 201, and shown', async (tools) => {
  const { list, status, works } = await write(tools, work({ description: 'For the fair' }), work());
  expect([status, works.length]).toEqual([201, 2]);
  expect(works[0]).toMatchObject(work({ description: 'For the fair' }));
  expect(works[1].description).toBe('');
  for (const one of works) {
    expect((await tools.call('GET', `${list}/${one.id}`)).body.custom_work).toEqual(one);
  }
});

conform('what is wrong is refused, and nothing of it is kept', async (tools) => {
  const list = await path(tools);
  const before = (await tools.call('GET', list)).body.meta.pagination.totalItems;
  const send = async (...works: object[]) => (await write(tools, ...works)).status;
  expect(await send(work(), work({ title: ' ' }))).toBe(422);
  expect(await send(work(), work({ title: 'a'.repeat(151) }))).toBe(422);
  expect(await send(work(), work({ description: 'a'.repeat(501) }))).toBe(422);
  expect(await send(work(), work({ performed_on: '2026-02-30' }))).toBe(422);
  expect(await send(work(), work({ performed_on: '2199-01-01' }))).toBe(422);
  expect(await send(work(), { title: 'No day' })).toBe(400);
  expect(await send(work(), { performed_on: '2026-11-20' })).toBe(400);
  expect(await send()).toBe(422);
  expect((await tools.call('GET', list)).body.meta.pagination.totalItems).toBe(before);
  expect(await send(work({ title: 'a'.repeat(150), description: 'a'.repeat(500) }))).toBe(201);
});

conformHeld('the day may be today, but not tomorrow', async (tools) => {
  expect((await write(tools, work({ performed_on: '2026-11-21' }))).status).toBe(201);
  expect((await write(tools, work({ performed_on: '2026-11-22' }))).status).toBe(422);
});

conform('a change keeps what is left out, and "" clears the description', async (tools) => {
  const { list, works } = await write(tools, work({ description: 'Old' }));
  const { id } = works[0];
  const update = (custom_work: object) => tools.call('POST', `${list}/${id}/update`, { custom_work });
  expect((await update({ title: 'New' })).body.custom_work).toMatchObject({
    title: 'New',
    description: 'Old',
  });
  expect((await update({ description: '' })).body.custom_work).toMatchObject({
    title: 'New',
    description: '',
  });
  expect((await update({ performed_on: '2026-11-19' })).body.custom_work.performed_on).toBe('2026-11-19');
  for (const wrong of [{}, { title: '' }, { performed_on: '' }, { performed_on: '2199-01-01' }]) {
    expect([wrong, (await update(wrong)).status]).toEqual([wrong, 422]);
  }
  expect((await update({ hours: 2 })).status).toBe(400);
});

conform('deleting answers 204', async (tools) => {
  const { list, works } = await write(tools, work());
  expect((await tools.call('DELETE', `${list}/${works[0].id}`)).status).toBe(204);
  expect((await tools.call('GET', `${list}/${works[0].id}`)).status).toBe(404);
});

conform('unknown entries, and entries of another site, answer 404', async (tools) => {
  const { works } = await write(tools, work());
  const other = await tools.need('/sites?sort=created_at,asc', ({ id }) => !works[0].id.includes(id));
  const update = { custom_work: { title: 'New' } };
  for (const one of [`/sites/${other.id}/custom-works/${works[0].id}`, `${await path(tools)}/unknown-one`]) {
    expect((await tools.call('GET', one)).status).toBe(404);
    expect((await tools.call('DELETE', one)).status).toBe(404);
    expect((await tools.call('POST', `${one}/update`, update)).status).toBe(404);
  }
});
