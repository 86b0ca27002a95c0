/** The responses to a person and to a program when a request fails. */
import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { PASSWORD, showDaemon, startWorld, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

/** Posts like a program that is not a browser: only these headers, and the body in these chunks. */
function post(path: string, headers: Record<string, string>, chunks: string[] = []) {
  const { url } = world.dashboard;
  return new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const form = { origin: url, 'content-type': 'application/x-www-form-urlencoded', ...headers };
    const sent = request(`${url}${path}`, { method: 'POST', headers: form }, async (answer) => {
      let text = '';
      for await (const chunk of answer.setEncoding('utf8')) text += chunk;
      resolve({ status: answer.statusCode, text });
    });
    sent.on('error', reject);
    for (const chunk of chunks) sent.write(chunk);
    sent.end();
  });
}

test('a form is accepted with a Content-Length; without one it is rejected, as is one that is too large', async () => {
  world = await startWorld();
  const body = `password=${encodeURIComponent(PASSWORD)}`;

  const whole = await post('/sign-in', { 'content-length': String(body.length) }, [body]);
  const empty = await post('/sign-in', { 'content-length': '0' });
  const chunked = await post('/sign-in', { 'transfer-encoding': 'chunked' }, [body]);
  const large = await post('/sign-in', { 'content-length': '20000' }, ['x'.repeat(20_000)]);

  expect([whole.status, empty.status, chunked.status, large.status]).toEqual([303, 401, 411, 413]);
  expect(chunked.text).toContain('Send the form with its length (Content-Length), not in chunks.');
  expect(large.text).toContain('A form here has at most 16384 bytes.');
  // Without a session there is no menu.
  expect(large.text).not.toMatch(/<nav|No worker is running/);
  expect(world.log.lines.filter((line) => line.startsWith('error'))).toEqual([]);
});

test('a person gets every error as a page with the menu and the reason, and a program as JSON', async () => {
  world = await startWorld();
  await showDaemon(world.records, ['worker']);

  for (const path of ['/targets', '/nope', '/runs/nope', '/policies/nope']) {
    const { html, status } = await world.look(path);
    expect({ path, status }).toEqual({ path, status: 404 });
    expect(html).toMatch(/<nav [^>]*aria-label="Main"/);
    expect(html).toContain('No scheduler is running: policies do not run on schedule');
  }
  expect((await world.look('/runs/nope')).text).toContain(
    'There is no such run, or it is older than the retention period.',
  );
  const answer = await world.look('/api/v1/nope');
  expect(answer.status).toBe(404);
  expect(JSON.parse(answer.html)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
});

test('an internal error is a page too, and its stack is only in the log', async () => {
  world = await startWorld({
    policies: () => {
      throw new TypeError('No such luck.');
    },
  });

  const { status, html } = await world.look('/');

  expect(status).toBe(500);
  expect(html).toContain('The page failed; the log of the daemon has the error.');
  expect(html).toMatch(/<nav [^>]*aria-label="Main"/);
  expect(html).not.toContain('No such luck');
});
