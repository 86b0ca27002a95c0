import { describe, expect, test } from 'vitest';
import { startCalling } from './calling.ts';

describe('authentication', () => {
  test('answers 401 to a request without a valid token, before any other check and without rate headers', async () => {
    const { sandbox, get } = await startCalling({ sites: 1, rateLimit: 5 });
    sandbox.account.deactivate();

    for (const path of ['/sites', '/sites?page=0', '/nowhere', '/openapi.json']) {
      for (const authorization of ['', 'Bearer wrong-token', `Basic ${sandbox.token}`, sandbox.token]) {
        const { status, body, headers } = await get(path, { authorization });
        expect({ status, code: body.error.code }).toEqual({ status: 401, code: 'unauthenticated' });
        expect(headers.get('x-ratelimit-limit')).toBeNull();
      }
    }
  });

  test('follows a change of the token', async () => {
    const { sandbox, get } = await startCalling({ sites: 1 });
    sandbox.account.changeToken('new-token');
    expect((await get('/sites')).status).toBe(401);
    expect((await get('/sites', { authorization: 'Bearer new-token' })).status).toBe(200);
  });
});

describe('the rate limit', () => {
  const limits = ({ headers }: { headers: Headers }) =>
    ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`));

  test('uses the wall clock, whatever the speed of the service', async () => {
    const { clock, get } = await startCalling({ sites: 1, rateLimit: 1, speed: 3600 });
    await get('/sites');
    await clock.advance(59_000);
    expect((await get('/sites')).status).toBe(429);
  });

  test('can be disabled, and then answers have no rate headers', async () => {
    const { get } = await startCalling({ sites: 1, rateLimit: 0 });
    expect(limits(await get('/sites'))).toEqual([null, null, null]);
  });
});

describe('a request', () => {
  test('for the description of the interface gets it, with this address, and costs a request', async () => {
    const { sandbox, get } = await startCalling({ sites: 1, rateLimit: 5 });
    const { body, headers } = await get('/openapi.json');
    expect(body.servers).toEqual([{ url: sandbox.url }]);
    expect(body.paths['/sites'].get.operationId).toBe('listSites');
    expect(headers.get('x-ratelimit-remaining')).toBe('4');
  });
});
