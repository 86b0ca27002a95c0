import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ask, startWorld, type World } from './world.ts';

let world: World;
let ask: Ask;
beforeAll(async () => {
  world = await startWorld();
  ask = await world.signedIn();
});
afterAll(() => world.stop());

const loadedBy = (page: string): string[] =>
  [...page.matchAll(/(?:href|src)="(\/client\/[^"]+)"/g)].map(([, path = '']) => path);

test('every file that the pages load is sent with its type and the strict content policy, and a browser keeps it', async () => {
  const loaded = loadedBy(await (await ask('/')).text());
  const folder = loaded[0]?.replace('style.css', '') ?? '';

  expect(loaded).toEqual([`${folder}style.css`, `${folder}live.js`]);
  for (const path of loaded) {
    const { status, headers } = await ask(path);
    expect(status, path).toBe(200);
    expect(headers.get('content-type')).toMatch(path.endsWith('.js') ? /^text\/javascript/ : /^text\/css/);
    expect(headers.get('content-security-policy')).toMatch(/script-src 'self'; style-src 'self';/);
    expect(headers.get('cache-control')).toMatch(/^private, .*immutable$/);
  }
});

test('a page of another build loads the present files, and a browser does not keep them', async () => {
  const { status, headers } = await world.ask('/client/0123456789abcdef/style.css');
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
});

test('no other file, inside or outside the folder, can be read', async () => {
  for (const name of ['live.ts', 'tsconfig.json', 'nothing.js', '..%2Fhttp%2Fapp.js', '%2e%2e/x.js', ''])
    expect((await ask(`/client/x/${name}`)).status, name).toBe(404);
});

test('pages, JSON, style sheets and the files of bull-board are compressed, and live streams are not', async () => {
  const [script = ''] = /static\/js\/main[^"]+/.exec(await (await ask('/queues/board')).text()) ?? [];
  const encodingOf = async (path: string, accepted: string) => {
    const { headers, body } = await ask(path, { headers: { 'accept-encoding': accepted } });
    await body?.cancel();
    return [headers.get('content-encoding'), headers.get('vary')];
  };

  for (const path of ['/', '/api/v1/openapi.json', '/client/x/style.css', `/queues/board/${script}`]) {
    expect([path, ...(await encodingOf(path, 'gzip'))]).toEqual([path, 'gzip', 'Accept-Encoding']);
    expect([path, ...(await encodingOf(path, 'identity'))]).toEqual([path, null, 'Accept-Encoding']);
  }

  // Proxies neither collect nor compress a stream.
  const { headers, body } = await ask('/events?page=/', { headers: { 'accept-encoding': 'gzip' } });
  await body?.cancel();
  expect(headers.get('content-encoding')).toBe(null);
  expect(headers.get('x-accel-buffering')).toBe('no');
  expect(headers.get('cache-control')).toContain('no-transform');
});

test('a browser keeps the files of bull-board, whose names have a hash, and no page', async () => {
  const page = await ask('/queues/board');
  const [script = ''] = /static\/js\/main[^"]+/.exec(await page.text()) ?? [];

  expect(page.headers.get('cache-control')).toBe('no-store');
  expect((await ask(`/queues/board/${script}`)).headers.get('cache-control')).toMatch(
    /^private, .*immutable$/,
  );
  expect((await ask('/queues/board/static/js/nothing.js')).headers.get('cache-control')).toBe('no-store');
});
