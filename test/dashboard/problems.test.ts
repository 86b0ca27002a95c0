/** What a person, and what a program is told when something cannot be had. */
import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { PASSWORD, postForm, showDaemon, startWorld, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

/**
 * Posts as a program does that is no browser: with these headers and nothing added, the body in these chunks.
 */
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

test('a form is taken with its length, asked for with it when it comes in chunks, and refused when it is too large', async () => {
  world = await startWorld();
  const body = `password=${encodeURIComponent(PASSWORD)}`;

  const whole = await post('/sign-in', { 'content-length': String(body.length) }, [body]);
  const empty = await post('/sign-in', { 'content-length': '0' });
  const chunked = await post('/sign-in', { 'transfer-encoding': 'chunked' }, [body]);
  const large = await post('/sign-in', { 'content-length': '20000' }, ['x'.repeat(20_000)]);

  expect([whole.status, empty.status, chunked.status, large.status]).toEqual([303, 401, 411, 413]);
  expect(chunked.text).toContain('Send the form with its length (Content-Length), not in chunks.');
  expect(large.text).toContain('A form here has at most 16384 bytes.');
  expect(world.log.lines.filter((line) => line.startsWith('error'))).toEqual([]);
});

test('whatever cannot be had is a page with the menu and what stands in the way, to a person', async () => {
  world = await startWorld();
  const ask = await world.signedIn();
  await showDaemon(world.records, ['worker']);

  for (const path of ['/policies', '/nope', '/runs/nope', '/policies/nope']) {
    const answer = await ask(path);
    const html = await answer.text();
    expect({ path, status: answer.status }).toEqual({ path, status: 404 });
    expect(html).toContain('<nav aria-label="Main">');
    expect(html).toContain('No scheduler is running: policies do not run on schedule');
  }
});

test('what cannot be had is JSON to a program', async () => {
  world = await startWorld();
  const ask = await world.signedIn();

  const answer = await ask('/api/v1/nope', { headers: { accept: 'text/html' } });

  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } });
});

test('a page that fails is still a page, and its stack stays in the log', async () => {
  world = await startWorld({
    policies: () => {
      throw new TypeError('No such luck.');
    },
  });
  const ask = await world.signedIn();

  const answer = await ask('/');
  const html = await answer.text();

  expect(answer.status).toBe(500);
  expect(html).toContain('The page failed; the log of the daemon has the error.');
  expect(html).toContain('<nav aria-label="Main">');
  expect(html).not.toContain('No such luck');
});

test('who has not signed in is told of a problem without the menu', async () => {
  world = await startWorld();

  const answer = await postForm(world.ask, world.dashboard.url, '/sign-in', { password: 'x'.repeat(20_000) });
  const html = await answer.text();

  expect(answer.status).toBe(413);
  expect(html).not.toContain('<nav');
  expect(html).not.toContain('No worker is running');
});
