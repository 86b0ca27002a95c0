import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { withoutBase } from '../../src/dashboard/http/base-path.ts';
import {
  aPolicy,
  aRun,
  openEvents,
  PASSWORD,
  postForm,
  remember,
  sessionOf,
  startWorld,
  type World,
} from './world.ts';

let world: World;
let proxy: Server | undefined;
afterEach(async () => {
  proxy?.closeAllConnections();
  proxy?.close();
  await world.stop();
});

const BASE = '/tools/caretaker';

/** A proxy that serves the dashboard under `BASE` and nothing else. Returns its address. */
async function startProxy(target: () => string, strips: boolean): Promise<string> {
  const server = createServer((from, to) => {
    const { url = '', method, headers } = from;
    if (url !== BASE && !url.startsWith(`${BASE}/`)) return to.writeHead(404).end('Not of the dashboard.');
    const path = strips ? url.slice(BASE.length) || '/' : url;
    const onward = request(
      `${target()}${path}`,
      { method, headers: { ...headers, host: 'localhost' } },
      (answer) => {
        to.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(to);
        to.on('close', () => answer.destroy());
      },
    );
    return from.pipe(onward);
  });
  proxy = server;
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const openBehind = async (strips: boolean, password: string | null = PASSWORD) => {
  const origin = await startProxy(() => world.dashboard.url, strips);
  world = await startWorld({
    publicUrl: `${origin}${BASE}`,
    password,
    policies: () => [aPolicy('nightly-sync')],
  });
  /** Asks for an address as a browser has it, which begins with `BASE`. */
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${origin}${path}`, { redirect: 'manual', ...init });
  return { origin, ask };
};

/** Every address of this server on a page. */
const addressesOn = (html: string): string[] =>
  [...html.matchAll(/ (?:href|src|action|formaction)="(\/[^"]*)"/g)].map(([, address = '']) => address);

test.each([
  ['removes the path', true],
  ['leaves the path', false],
] as const)(
  'behind a proxy that %s, sign-in, pages, forms, live updates and the API work',
  async (_, strips) => {
    const { origin, ask } = await openBehind(strips);
    for (const id of ['a', 'b']) await remember(world.records, aRun({ id }), []);

    const asked = await ask(`${BASE}/runs?status=failed`, { headers: { accept: 'text/html' } });
    expect(asked.headers.get('location')).toBe(`${BASE}/sign-in?to=%2Fruns%3Fstatus%3Dfailed`);
    const form = await (await ask(asked.headers.get('location') ?? '')).text();
    expect(form).toContain(`<form method="post" action="${BASE}/sign-in">`);
    const signedIn = await postForm(ask, origin, `${BASE}/sign-in`, {
      password: PASSWORD,
      to: '/runs?status=failed',
    });
    expect(signedIn.headers.get('location')).toBe(`${BASE}/runs?status=failed`);
    expect(signedIn.headers.get('set-cookie')).toContain(`; Path=${BASE};`);

    const cookie = sessionOf(signedIn);
    const browse = (path: string, init: RequestInit = {}) =>
      ask(path, { ...init, headers: { ...init.headers, cookie, accept: 'text/html' } });
    for (const path of ['', '/', '/runs', '/policies/nightly-sync', '/queues', '/queues/board']) {
      const page = await browse(BASE + path);
      expect([path, page.status]).toEqual([path, 200]);
      const addresses = addressesOn(await page.text());
      expect([path, addresses.filter((address) => !address.startsWith(`${BASE}/`))]).toEqual([path, []]);
      const files = addresses.filter((address) => /\.(css|js)$/.test(address));
      for (const file of files) expect([file, (await browse(file)).status]).toEqual([file, 200]);
    }

    const paused = await postForm(browse, origin, `${BASE}/policies/nightly-sync/pause`, { reason: 'Away' });
    expect([paused.status, paused.headers.get('location')]).toEqual([303, `${BASE}/policies/nightly-sync`]);
    expect(await (await browse(`${BASE}/policies/nightly-sync`)).text()).toContain('Away');

    const search = new URLSearchParams({ page: `${BASE}/runs`, since: '0' });
    const events = await openEvents(browse, `${BASE}/events?${search}`);
    let sent = '';
    while (!sent.includes('event: page')) sent += await events.next();
    await events.end();
    expect(sent).toContain(`href=\\"${BASE}/runs/a\\"`);

    const program = (path: string) => ask(path, { headers: { authorization: `Bearer ${PASSWORD}` } });
    const runs = await program(`${BASE}/api/v1/runs?limit=1`);
    expect(runs.headers.get('link')).toMatch(
      new RegExp(`^<${BASE}/api/v1/runs\\?limit=1&after=.*>; rel="next"$`),
    );
    const { servers } = (await (await program(`${BASE}/api/v1/openapi.json`)).json()) as { servers: unknown };
    expect(servers).toEqual([{ url: `${origin}${BASE}` }]);
  },
);

test('the sign-in link leads to public_url with its path', async () => {
  const { origin, ask } = await openBehind(true, null);
  const { signInLink = '' } = world.dashboard;

  expect(signInLink).toMatch(`${origin}${BASE}/sign-in?key=`);
  const answer = await ask(signInLink.slice(origin.length));
  expect([answer.status, answer.headers.get('location')]).toEqual([302, `${BASE}/`]);
});

test('a path of public_url that is also a page of the dashboard is refused at the start', async () => {
  const starting = startWorld({ publicUrl: 'https://ops.example.com/runs' });

  await expect(starting).rejects.toThrow(
    'dashboard.public_url has the path /runs, and /runs is also an address of the dashboard itself. Serve it under another path.',
  );
});

test('an address that names another server behind the path leads to a page of ours', () => {
  expect(withoutBase('/caretaker//evil.example/runs', '/caretaker')).toBe('/evil.example/runs');
  expect(withoutBase('/caretaker/\\evil.example', '/caretaker')).toBe('/evil.example');
  expect(withoutBase('/caretaker', '/caretaker')).toBe('/');
  expect(withoutBase('/caretakers', '/caretaker')).toBe('/caretakers');
});
