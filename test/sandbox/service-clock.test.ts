import { expect, test } from 'vitest';
import { MINUTE } from '../../src/sandbox/world/time.ts';
import { startCalling } from './calling.ts';

const START = '2026-11-21T12:00:00.000Z';

test('every answer has the time of the service in its Date header, including errors and HTML pages', async () => {
  const { sandbox, clock, get } = await startCalling({ sites: 1, startsAt: START });
  const dateOf = async (path: string) => (await get(path)).headers.get('date');
  expect(await dateOf('/sites')).toBe('Sat, 21 Nov 2026 12:00:00 GMT');
  await clock.advance(61_000);
  expect(await dateOf('/sites/nowhere')).toBe('Sat, 21 Nov 2026 12:01:01 GMT');
  sandbox.outage.begin('maintenance');
  const page = await fetch(`${sandbox.url}/sites`);
  expect([page.status, page.headers.get('date')]).toEqual([503, 'Sat, 21 Nov 2026 12:01:01 GMT']);
});

test.each([
  ['behind', -7 * MINUTE, '2026-11-21T11:53:00.000Z'],
  ['ahead', 7 * MINUTE, '2026-11-21T12:07:00.000Z'],
])('a service whose clock is %s shows that time everywhere', async (_, clockOffsetMs, shown) => {
  const { get, post } = await startCalling({ sites: 1, startsAt: START, clockOffsetMs });
  const { body, headers } = await post('/sites/site-0001/notes', { note: { content: 'made now' } });
  expect(body.note.created_at).toBe(shown);
  expect(Date.parse(headers.get('date') ?? '')).toBe(Date.parse(shown));
  expect((await get('/sites/site-0001/notes')).body.notes[0].created_at).toBe(shown);
});

test('the time in the header runs as fast as the service', async () => {
  const { clock, get } = await startCalling({ sites: 1, startsAt: START, speed: 20 });
  await clock.advance(3_000);
  expect((await get('/sites')).headers.get('date')).toBe('Sat, 21 Nov 2026 12:01:00 GMT');
});

test('the Date header can be omitted', async () => {
  const { get } = await startCalling({ sites: 1, dateHeader: false });
  expect((await get('/sites')).headers.get('date')).toBeNull();
});
