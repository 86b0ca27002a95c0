/** Section 4.13, sentence by sentence. */
import { expect } from 'vitest';
import { conform, type Tools } from './harness.ts';

/** A tag of our own with a name that no other case uses. */
async function makeTag({ call, cleanUp }: Tools, color?: string) {
  const name = `conformance ${Math.random().toString(36).slice(2)}`;
  const { status, body } = await call('POST', '/tags', { tag: { name, ...(color && { color }) } });
  expect(status).toBe(201);
  cleanUp('DELETE', `/tags/${body.tag.id}`);
  return body.tag;
}

conform(
  '4.13 Tags: createTag answers 201 with the tag, its site_ids empty and its id numeric',
  async (tools) => {
    const tag = await makeTag(tools, '#123456');
    expect(tag).toMatchObject({ color: '#123456', site_ids: [] });
    expect(tag.id).toMatch(/^\d+$/);
  },
);
