import { afterEach, expect, test } from 'vitest';
import { makeBuildCurrent } from './chromium.ts';
import { startWorld, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

test('every file that the pages load is sent with its type, the strict content policy and an ETag', async () => {
  makeBuildCurrent();
  world = await startWorld();
  const ask = await world.signedIn();
  const page = await (await ask('/')).text();
  const script = await (await ask('/client/live.js')).text();
  const loaded = [...page.matchAll(/(?:href|src)="(\/client\/[^"]+)"/g)].map(([, path = '']) => path);
  const imported = [...script.matchAll(/from '\.\/([^']+)'/g)].map(([, name]) => `/client/${name}`);

  expect(loaded).toEqual(['/client/style.css', '/client/live.js']);
  expect(imported.length).toBeGreaterThan(0);
  for (const path of [...loaded, ...imported, '/client/board.css']) {
    const { status, headers } = await ask(path);
    expect(status, path).toBe(200);
    expect(headers.get('content-type')).toMatch(path.endsWith('.js') ? /^text\/javascript/ : /^text\/css/);
    expect(headers.get('content-security-policy')).toMatch(/script-src 'self'; style-src 'self';/);
    expect(headers.get('etag')).toMatch(/^(?:W\/)?"/);
  }
});

test('a browser that already has a file receives no content again', async () => {
  world = await startWorld();
  const first = await world.ask('/client/style.css');
  const etag = first.headers.get('etag') ?? '';

  const second = await world.ask('/client/style.css', { headers: { 'if-none-match': etag } });

  expect(second.status).toBe(304);
  expect(await second.text()).toBe('');
  expect(second.headers.get('cache-control')).toBe('no-cache');
});

test('no other file, inside or outside the folder, can be read', async () => {
  world = await startWorld();
  const ask = await world.signedIn();
  for (const name of ['live.ts', 'tsconfig.json', 'nothing.js', '..%2Fhttp%2Fapp.js', '%2e%2e/x.js', ''])
    expect((await ask(`/client/${name}`)).status, name).toBe(404);
});

test('pages, JSON, style sheets and the files of bull-board are compressed, and live streams are not', async () => {
  world = await startWorld();
  const ask = await world.signedIn();
  const [script = ''] = /static\/js\/main[^"]+/.exec(await (await ask('/queues')).text()) ?? [];
  const encodingOf = async (path: string, accepted: string) => {
    const { headers, body } = await ask(path, { headers: { 'accept-encoding': accepted } });
    await body?.cancel();
    return [headers.get('content-encoding'), headers.get('vary')];
  };

  for (const path of ['/', '/api/v1/openapi.json', '/client/style.css', `/queues/${script}`]) {
    expect([path, ...(await encodingOf(path, 'gzip'))]).toEqual([path, 'gzip', 'Accept-Encoding']);
    expect([path, ...(await encodingOf(path, 'identity'))]).toEqual([path, null, 'Accept-Encoding']);
  }
  expect((await encodingOf('/events?page=/', 'gzip'))[0]).toBe(null);
});

test('a browser keeps the files of bull-board, whose names have a hash, and no page', async () => {
  world = await startWorld();
  const ask = await world.signedIn();
  const page = await ask('/queues');
  const [script = ''] = /static\/js\/main[^"]+/.exec(await page.text()) ?? [];

  expect(page.headers.get('cache-control')).toBe('no-store');
  expect((await ask(`/queues/${script}`)).headers.get('cache-control')).toMatch(/^private, .*immutable$/);
  expect((await ask('/queues/static/js/nothing.js')).headers.get('cache-control')).toBe('no-store');
});
