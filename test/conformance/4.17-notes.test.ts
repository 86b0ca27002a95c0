/** Section 4.17, and the limits of section 8 for notes. */
import { expect } from 'vitest';
import { casesOfFile, SECOND, type Tools } from './harness.ts';
import { listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.17 Notes');
const path = async ({ need }: Tools) => `/sites/${(await need('/sites')).id}/notes`;

/** A note of our own, deleted when the case ends. */
async function write(tools: Tools, content: string) {
  const list = await path(tools);
  const { status, body } = await tools.call('POST', list, { note: { content } });
  if (status === 201) tools.cleanUp('DELETE', `${list}/${body.note.id}`);
  return { list, status, note: body.note };
}

listCases(conform, {
  path: async (tools) => {
    for (const content of ['Zebra', 'apple pie', 'Middle']) await write(tools, content);
    return path(tools);
  },
  key: 'notes',
  filters: {
    user_email: { operators: ['eq', 'contains'], read: (item) => item.user.email },
    content: { operators: ['contains'], try: ['_APPLE'] },
    created_at: moment,
    updated_at: moment,
  },
  sorts: ['updated_at', 'created_at', 'content'],
  defaultSort: 'updated_at,desc',
  timezone: true,
});

conform('a new note is answered 201, attributed to the caller, without versions', async (tools) => {
  const first = await write(tools, 'Call before updates.');
  const second = await write(tools, 'Twice.');
  expect(first.status).toBe(201);
  expect(first.note).toMatchObject({ content: 'Call before updates.', versions: { available: false } });
  expect(first.note.user).toEqual(second.note.user);
  expect((await tools.call('GET', `${first.list}/${first.note.id}`)).body.note).toEqual(first.note);
  expect((await tools.call('GET', `${first.list}/${first.note.id}/versions`)).body).toEqual({
    versions: [],
  });
});

conform('content is required, not blank, and at most 2500 characters', async (tools) => {
  expect((await write(tools, ' ')).status).toBe(422);
  expect((await write(tools, 'a'.repeat(2501))).status).toBe(422);
  expect((await write(tools, 'a'.repeat(2500))).status).toBe(201);
  const list = await path(tools);
  expect((await tools.call('POST', list, { note: {} })).status).toBe(400);
  expect((await tools.call('POST', list)).status).toBe(400);
  const { note } = await write(tools, 'ok');
  for (const content of ['', 'a'.repeat(2501)]) {
    expect((await tools.call('POST', `${list}/${note.id}/update`, { note: { content } })).status).toBe(422);
  }
});

conformHeld('a change keeps the id, and what was said before becomes a version', async (tools) => {
  const { list, note } = await write(tools, 'one');
  const update = async (content: string) => {
    await tools.time.pass(SECOND);
    return (await tools.call('POST', `${list}/${note.id}/update`, { note: { content } })).body.note;
  };
  expect(await update('two')).toMatchObject({ id: note.id, content: 'two', versions: { available: true } });
  const third = await update('three');
  expect(third).toMatchObject({ id: note.id, content: 'three', created_at: note.created_at });
  expect(third.updated_at > note.updated_at).toBe(true);
  const { body } = await tools.call('GET', `${list}/${note.id}/versions`);
  expect(Object.keys(body)).toEqual(['versions']);
  expect(body.versions.map(({ content }: { content: string }) => content)).toEqual(['two', 'one']);
  expect(body.versions[0].user).toEqual(note.user);
});

conform('deleting answers 204 and takes the versions along', async (tools) => {
  const { list, note } = await write(tools, 'one');
  await tools.call('POST', `${list}/${note.id}/update`, { note: { content: 'two' } });
  expect((await tools.call('DELETE', `${list}/${note.id}`)).status).toBe(204);
  expect((await tools.call('GET', `${list}/${note.id}`)).status).toBe(404);
  expect((await tools.call('GET', `${list}/${note.id}/versions`)).status).toBe(404);
});

conform('unknown notes, and notes of another site, answer 404', async (tools) => {
  const { note } = await write(tools, 'mine');
  const other = await tools.need('/sites?sort=created_at,asc');
  for (const one of [`/sites/${other.id}/notes/${note.id}`, `${await path(tools)}/unknown-one`]) {
    expect((await tools.call('GET', one)).status).toBe(404);
    expect((await tools.call('DELETE', one)).status).toBe(404);
    expect((await tools.call('GET', `${one}/versions`)).status).toBe(404);
    expect((await tools.call('POST', `${one}/update`, { note: { content: 'x' } })).status).toBe(404);
  }
});
