import { expect, test } from 'vitest';
import { startWorld } from './world.ts';

test('without a password it does not listen on addresses that others can reach', async () => {
  for (const password of [null, '']) {
    await expect(startWorld({ host: '0.0.0.0', password })).rejects.toThrow(
      /has no password and no users, so it listens on this machine only, and not on 0\.0\.0\.0: set dashboard\.password/,
    );
  }
});

test('with a password it listens on every requested address', async () => {
  const world = await startWorld({ host: '0.0.0.0' });

  const answer = await fetch(`http://127.0.0.1:${new URL(world.dashboard.url).port}/healthz`);

  expect(answer.status).toBe(200);
  expect(world.dashboard.url).toMatch(/^http:\/\/localhost:\d+$/);
  expect(world.dashboard.signInLink).toBeUndefined();
  await world.stop();
});

test('a port in use is an error that names the setting to change', async () => {
  const world = await startWorld();
  const port = Number(new URL(world.dashboard.url).port);

  await expect(startWorld({ port })).rejects.toThrow(
    `The dashboard cannot listen on 127.0.0.1, port ${port}: another program uses it. Set dashboard.port to a free one, or to 0 for any.`,
  );
  await world.stop();
});

test('an address that this machine does not have is an error that names the setting to change', async () => {
  await expect(startWorld({ host: '192.0.2.1' })).rejects.toThrow(/no such address\. Set dashboard\.host/);
});

test('closing ends the event streams of open pages at once', async () => {
  const world = await startWorld();
  const ask = await world.signedIn();
  const stream = await ask('/events');
  const reader = stream.body?.getReader();
  await reader?.read();

  await world.stop();

  // Whether the browser sees an end or a broken connection is chance.
  const last = await reader?.read().catch(() => ({ done: true }));
  expect(last?.done).toBe(true);
  await expect(fetch(`${world.dashboard.url}/healthz`)).rejects.toThrow('fetch failed');
});
