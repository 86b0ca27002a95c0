import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { hostileSecrets } from '../../src/sandbox/faults/change-answer.ts';
import { startCalling } from './calling.ts';

const authorized = { authorization: 'Bearer sandbox-token' };

describe('fields that an answer does not show', () => {
  test('are those that a test hides, only in the operation that it names', async () => {
    const { sandbox, get } = await startCalling({ sites: 2 });
    sandbox.hide('listSites', 'tags', 'sync.last_sync_at');
    const { sites, meta } = (await get('/sites')).body;
    expect(sites[0]).not.toHaveProperty('tags');
    expect(sites[1].sync).not.toHaveProperty('last_sync_at');
    expect(sites[1].sync.in_progress).toBe(false);
    expect(meta.pagination.totalItems).toBe(2);
    expect((await get('/sites/site-0001')).body.site).toHaveProperty('tags');
  });

  test('are shown again when the test ends the hiding', async () => {
    const { sandbox, get } = await startCalling({ sites: 1 });
    const show = sandbox.hide('showSite', 'sync');
    expect((await get('/sites/site-0001')).body.site).not.toHaveProperty('sync');
    show();
    expect((await get('/sites/site-0001')).body.site).toHaveProperty('sync');
  });

  test('can be within a list of an item', async () => {
    const { sandbox, get } = await startCalling({ sites: 3 });
    const { reports } = (await get('/reports')).body;
    const sent = reports.find(({ email }: { email: { recipients: [] } }) => email.recipients.length > 0);
    sandbox.hide('listReports', 'email.recipients.status');
    const [shown] = (await get('/reports')).body.reports.filter(({ id }: { id: string }) => id === sent?.id);
    expect(Object.keys(shown.email.recipients[0])).not.toContain('status');
    expect(shown.email.recipients[0].email).toBe(sent.email.recipients[0].email);
  });

  test('are never fields that the contract needs, or that do not exist', async () => {
    const { sandbox } = await startCalling({ sites: 1 });
    expect(() => sandbox.hide('listSites', 'id')).toThrow(
      'The contract needs "id" in the answer of listSites.',
    );
    expect(() => sandbox.hide('listSites', 'tagz')).toThrow('listSites does not answer "tagz".');
    expect(() => sandbox.hide('deleteSite', 'id')).toThrow('deleteSite does not answer "id".');
  });

  test('are some of the optional fields, when the fault is random', async () => {
    const { get } = await startCalling({ sites: 30, faults: { 'absent-fields': 1 } });
    const { sites } = (await get('/sites')).body;
    expect(sites).toHaveLength(30);
    for (const site of sites) expect([typeof site.id, typeof site.url]).toEqual(['string', 'string']);
    const shown = sites.filter((site: object) => 'title' in site).length;
    expect(shown).toBeGreaterThan(10);
    expect(shown).toBeLessThan(29);
  });
});

describe('an answer in other formats', () => {
  test('has its timestamps in every format, with the same meaning', async () => {
    const { sandbox, get } = await startCalling({ sites: 20 });
    const before = (await get('/sites')).body.sites;
    sandbox.outage.begin('other-timestamps');
    const after = (await get('/sites')).body.sites;
    const forms = new Set<string>();
    for (const [at, { created_at, updated_at }] of after.entries()) {
      expect(Math.abs(Date.parse(created_at) - Date.parse(before[at].created_at))).toBeLessThan(1_000);
      for (const one of [created_at, updated_at]) forms.add(one.slice(19));
    }
    const kinds = new Set([...forms].map((form) => form.replace(/\.\d+/, '.mmm')));
    expect(kinds).toEqual(new Set(['Z', '.mmmZ', '+00:00', '.mmm+00:00']));
  });

  test('has text instead of numbers, everywhere in the pagination', async () => {
    const { sandbox, get } = await startCalling({ sites: 3 });
    sandbox.outage.begin('numbers-as-text');
    const { meta, sites } = (await get('/sites')).body;
    expect(meta.pagination).toEqual({ page: '1', perPage: '100', totalPages: '1', totalItems: '3' });
    expect(sites).toHaveLength(3);
  });
});

describe('an error', () => {
  test('comes as an HTML page with the status and the rate headers of the service', async () => {
    const { sandbox } = await startCalling({ sites: 1, rateLimit: 100 });
    sandbox.outage.begin('html-errors');
    for (const [path, status] of [
      ['/sites/nowhere', 404],
      ['/sites?filters[nothing:eq]=1', 400],
    ] as const) {
      const response = await fetch(`${sandbox.url}${path}`, { headers: authorized });
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toContain('text/html');
      expect(response.headers.get('x-ratelimit-limit')).toBe('100');
      expect(await response.text()).toContain('<html>');
    }
    expect((await fetch(`${sandbox.url}/sites`, { headers: authorized })).status).toBe(200);
  });

  test('comes as an HTML page of a proxy, without rate headers, and the request was not carried out', async () => {
    const { sandbox } = await startCalling({ sites: 1, rateLimit: 100 });
    sandbox.failNext({ operation: 'syncSite' }, 'html-400');
    const response = await fetch(`${sandbox.url}/sites/site-0001/sync`, {
      method: 'POST',
      headers: authorized,
    });
    expect([response.status, response.headers.get('x-ratelimit-limit')]).toEqual([400, null]);
    expect(response.headers.get('content-type')).toContain('text/html');
    expect(sandbox.journal.effects).toEqual([]);
  });

  test('has its message and its code side by side', async () => {
    const { sandbox, post } = await startCalling({ sites: 1 });
    sandbox.site('site-0001').disconnect();
    sandbox.outage.begin('other-errors');
    expect((await post('/sites/site-0001/sync')).body).toEqual({
      message: expect.stringContaining('disconnected'),
      error: 'site_disconnected',
    });
  });

  test('has terminal escapes and credentials in its message', async () => {
    const { sandbox, post, get, clock } = await startCalling({ sites: 1 });
    sandbox.outage.begin('hostile-text');
    sandbox.site('site-0001').failNextSync('The disk is full.');
    await post('/sites/site-0001/sync');
    await clock.advance(300_000);
    const told = (await get('/sites/site-0001')).body.site.sync.last_sync_error;
    sandbox.site('site-0001').disconnect();
    const { message, code } = (await post('/sites/site-0001/sync')).body.error;
    expect(code).toBe('site_disconnected');
    for (const text of [told, message]) {
      for (const secret of hostileSecrets) expect(text).toContain(secret);
      expect(text).toContain('\u001b[31m');
    }
  });
});

describe('a compressed answer', () => {
  /** Bytes as they come over the wire: `fetch` would decompress them. */
  async function wireOf(url: string, headers: Record<string, string>) {
    const request = httpGet(url, { headers: { ...authorized, ...headers } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const { 'content-encoding': encoding, 'content-type': type } = response.headers;
    return { encoding, type, bytes: await buffer(response) };
  }

  test('comes when the request accepts it', async () => {
    const { sandbox } = await startCalling({ sites: 1 });
    sandbox.outage.begin('gzip-accepted');
    const asked = await wireOf(`${sandbox.url}/sites`, { 'accept-encoding': 'br, gzip' });
    expect([asked.encoding, asked.type]).toEqual(['gzip', 'application/json; charset=utf-8']);
    expect(JSON.parse(gunzipSync(asked.bytes).toString()).sites).toHaveLength(1);
    expect((await wireOf(`${sandbox.url}/sites`, {})).encoding).toBeUndefined();
  });

  test('comes even when the request does not accept it, for JSON and PDF', async () => {
    const { sandbox, get } = await startCalling({ sites: 3 });
    const [{ id }] = (await get('/reports')).body.reports;
    sandbox.outage.begin('gzip');
    expect((await wireOf(`${sandbox.url}/sites`, {})).encoding).toBe('gzip');
    const pdf = await wireOf(`${sandbox.url}/reports/${id}/download`, {});
    expect([pdf.encoding, pdf.type]).toEqual(['gzip', 'application/pdf']);
    expect(gunzipSync(pdf.bytes).toString('latin1')).toMatch(/^%PDF/);
  });
});

describe('a redirect', () => {
  const ask = (url: string, redirect: 'manual' | 'follow') =>
    fetch(`${url}/sites/site-0001/sync`, { method: 'POST', headers: authorized, redirect });

  test('has each of its statuses in turn, leads to the same origin, and the request was not carried out', async () => {
    const { sandbox } = await startCalling({ sites: 1 });
    sandbox.outage.begin('redirect');
    const statuses = [];
    for (let count = 0; count < 4; count += 1) {
      const { status, headers } = await ask(sandbox.url, 'manual');
      statuses.push(status);
      expect(new URL(headers.get('location') ?? '', sandbox.url).origin).toBe(new URL(sandbox.url).origin);
    }
    expect(statuses).toEqual([301, 302, 307, 308]);
    expect(sandbox.journal.effects).toEqual([]);
    expect(sandbox.followedRedirects).toEqual([]);
  });

  test.each([
    ['redirect', 'same-origin', 'Bearer sandbox-token'],
    ['redirect-away', 'other-origin', undefined],
  ] as const)(
    'of the kind %s that a client follows is seen, with the token it sent',
    async (kind, to, token) => {
      const { sandbox } = await startCalling({ sites: 1 });
      sandbox.failNext({ operation: 'syncSite' }, kind);
      await ask(sandbox.url, 'follow');
      expect(sandbox.followedRedirects).toEqual([
        { to, method: 'GET', path: expect.stringContaining('/sites/site-0001/sync'), authorization: token },
      ]);
    },
  );
});
