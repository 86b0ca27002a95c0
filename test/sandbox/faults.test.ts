import { describe, expect, test } from 'vitest';
import { fateOf, startCalling } from './calling.ts';

describe('the journal shows exactly what happened', () => {
  test.each([
    ['reset-before', 'lost', 0, []],
    ['refuse', 'lost', 0, []],
    ['status-503', 503, 503, []],
    ['reset-after', 'lost', 200, ['site-0001']],
    ['truncate', 'lost', 200, ['site-0001']],
  ] as const)('when a request meets %s', async (kind, fate, status, effects) => {
    const { sandbox, post } = await startCalling({ sites: 2 });
    sandbox.failNext({ operation: 'syncSite' }, kind);

    expect(await fateOf(post('/sites/site-0001/sync'))).toBe(fate);

    expect(sandbox.journal.effectsOf('syncSite')).toEqual(effects);
    expect(sandbox.site('site-0001').state().syncInProgress).toBe(effects.length === 1);
    expect(sandbox.journal.requests).toMatchObject([{ operation: 'syncSite', status, fault: kind }]);
    expect(await fateOf(post('/sites/site-0002/sync'))).toBe(200);
    expect(sandbox.journal.countOf('syncSite')).toBe(2);
  });

  test('when a request hangs until its caller gives up', async () => {
    const { sandbox } = await startCalling({ sites: 1 });
    sandbox.failNext({ operation: 'syncSite' }, 'hang');
    const given = new AbortController();
    const call = fetch(`${sandbox.url}/sites/site-0001/sync`, {
      method: 'POST',
      signal: given.signal,
      headers: { authorization: `Bearer ${sandbox.token}` },
    });
    while (sandbox.journal.countOf('syncSite') === 0) await new Promise(setImmediate);
    given.abort();
    expect(await fateOf(call)).toBe('lost');
    expect(sandbox.journal.effects).toEqual([]);
  });

  test('when an answer without a body is cut off', async () => {
    const { sandbox, remove } = await startCalling({ sites: 1 });
    sandbox.failNext({ operation: 'deleteTag' }, 'truncate');
    expect(await fateOf(remove('/tags/11'))).toBe('lost');
    expect(sandbox.journal.effectsOf('deleteTag')).toEqual(['11']);
  });

  test('when a request is refused, which is no effect', async () => {
    const { sandbox, post } = await startCalling({ sites: 1 });
    sandbox.site('site-0001').underMaintenance(true);
    await post('/sites/site-0001/sync', { sync: {} });
    await post('/sites/site-0001/sync', { sink: {} });
    expect(sandbox.journal.effects).toEqual([]);
    expect(sandbox.journal.requests.map(({ status }) => status)).toEqual([422, 400]);
  });
});

describe('a fault', () => {
  test('affects only requests of its operation, as often as requested', async () => {
    const { sandbox, get } = await startCalling({ sites: 1 });
    sandbox.failNext({ operation: 'listTags', times: 2 }, 'status-503');
    const fates = [];
    for (const path of ['/tags', '/sites', '/tags', '/tags']) fates.push(await fateOf(get(path)));
    expect(fates).toEqual([503, 200, 503, 200]);
  });

  test('of an outage affects every request until it ends', async () => {
    const { sandbox, get } = await startCalling({ sites: 1 });
    for (const kind of ['status-503', 'reset-before', 'refuse', 'truncate'] as const) {
      sandbox.outage.begin(kind);
      const during = [await fateOf(get('/sites')), await fateOf(get('/tags'))];
      sandbox.outage.end();
      const after = [await fateOf(get('/sites')), await fateOf(get('/tags'))];
      const expected = kind === 'status-503' ? 503 : 'lost';
      expect({ kind, during, after }).toEqual({ kind, during: [expected, expected], after: [200, 200] });
    }
  });

  test('"refuse" closes the port itself, and open connections with it', async () => {
    const { sandbox, get } = await startCalling({ sites: 1 });
    await get('/sites');
    sandbox.outage.begin('refuse');
    const error = await get('/sites').catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    expect(sandbox.journal.requests).toHaveLength(1);
  });

  test('uses no request of the budget when it occurs before the service', async () => {
    const { sandbox, get } = await startCalling({ sites: 1, rateLimit: 10 });
    sandbox.failNext({ operation: 'listSites' }, 'status-503');
    expect((await get('/sites')).headers.get('x-ratelimit-remaining')).toBeNull();
    expect((await get('/sites')).headers.get('x-ratelimit-remaining')).toBe('9');
  });
});

describe('the journal', () => {
  test('is served without a token, outside the API path', async () => {
    const { sandbox, post } = await startCalling({ sites: 1 });
    await post('/sites/site-0001/sync');
    const response = await fetch(new URL('/__sandbox/journal', sandbox.url));
    expect(await response.json()).toMatchObject({
      totals: { requests: { syncSite: 1 }, effects: { syncSite: 1 } },
      requests: [{ operation: 'syncSite', path: '/api/v6/sites/site-0001/sync', status: 200 }],
      effects: [{ operation: 'syncSite', resource: 'site-0001' }],
    });
  });
});

test('stopping ends requests that hang', async () => {
  const { sandbox, get } = await startCalling({ sites: 1 });
  sandbox.outage.begin('hang');
  const call = fateOf(get('/sites'));
  while (sandbox.journal.countOf('listSites') === 0) await new Promise(setImmediate);
  await sandbox.stop();
  expect(await call).toBe('lost');
});
