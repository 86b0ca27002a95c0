/**
 * Sections 5 (authentication), 7 (errors), 8 (limits) and 9 (versioning), and the conventions of section 1.
 */
import { expect } from 'vitest';
import { type OperationId, operations } from '../../src/contract/operations.ts';
import { casesOfFile, SECOND } from './harness.ts';

const { conform, conformHeld } = casesOfFile();
const scope = { include_files: true };
/** The bodies that operations on an item need. */
const bodies: Partial<Record<OperationId, object>> = {
  assignTag: { site_ids: [] },
  createSiteCustomWorks: { custom_works: [{ title: 'x', performed_on: '2026-11-20' }] },
  createSiteNote: { note: { content: 'x' } },
  startSiteBackupDownload: { download: { scope } },
  downloadStagingSite: { download: { scope } },
  extendStagingSiteExpiry: { days: 1 },
  startSiteBackupMigration: { migration: { type: 'internal', site_id: 'site-0003', scope } },
  removeTag: { site_ids: [] },
  sendReportEmail: { send_email: { recipients: ['a@customers.example'] } },
  updateAutoUpdateSchedule: { auto_update_schedule: { name: 'x' } },
  updateClient: { client: {} },
  updateReportTemplate: { report_template: { name: 'x' } },
  updateScheduledReport: { scheduled_report: { frequency: 'weekly' } },
  updateSenderEmail: { sender_email: { name: 'x' } },
  updateSite: { site: {} },
  updateSiteCustomWork: { custom_work: { title: 'x' } },
  updateSiteNote: { note: { content: 'x' } },
  updateStagingSitePhpVersion: { staging_site: { php_version: '8.3' } },
  updateTag: { tag: { name: 'x' } },
  updateTeamMember: { team_member: { note: '' } },
  startSiteBackupUpload: { upload: { destination: { provider: 'provider_one' }, scope } },
};

/** A request for each operation, with ids that nothing has. */
const requests = Object.entries(operations).map(
  ([id, { method, path }]) =>
    [method, path.replace(/\{\w+\}/g, 'nothing-has-this-id'), bodies[id as OperationId]] as const,
);

conform('5.1 Authentication: every operation answers 401 without a token', async ({ call }) => {
  for (const [method, path] of requests) {
    const { status } = await call(method, path, undefined, { authorization: null });
    expect([method, path, status]).toEqual([method, path, 401]);
  }
});

conform('5.1 Authentication: a wrong token, or one that is no bearer, is answered 401', async ({ call }) => {
  for (const authorization of ['Bearer wrong', 'Bearer', 'Basic c2FuZGJveA==', 'sandbox-token', '']) {
    const { status } = await call('GET', '/sites', undefined, { authorization });
    expect([authorization, status]).toEqual([authorization, 401]);
  }
});

conformHeld('5.3 Authentication: an inactive account is answered 403 by every operation', async (tools) => {
  tools.sandbox().account.deactivate();
  for (const [method, path] of requests) {
    const { status } = await tools.call(method, path);
    expect([method, path, status]).toEqual([method, path, 403]);
  }
  tools.sandbox().account.activate();
  expect((await tools.call('GET', '/sites')).status).toBe(200);
});

conform('1.2 Conventions: timestamps are ISO 8601 in UTC', async ({ need }) => {
  const site = await need('/sites');
  expect(site.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
});

conform('1.3 Conventions: identifiers are strings', async ({ call }) => {
  for (const path of ['/sites', '/clients', '/tags', '/tasks', '/sender-emails', '/reports']) {
    const items = Object.values((await call('GET', path)).body).find(Array.isArray) ?? [];
    for (const { id } of items as { id: unknown }[]) expect(id).toEqual(expect.any(String));
  }
});

conform(
  '7 Errors: malformed JSON, a body of another type and a missing wrapper are 400',
  async ({ call }) => {
    for (const body of [
      '{"tag":{',
      '[]',
      '"tag"',
      'null',
      { name: 'x' },
      { tag: 'x' },
      { tag: { name: 'x' }, more: 1 },
    ]) {
      const { status } = await call('POST', '/tags', body);
      expect([body, status]).toEqual([body, 400]);
    }
  },
);

conform('7 Errors: a path that is none is answered 404', async ({ call }) => {
  for (const path of ['/nothing', '/sites/1/2/3', '/sites//sync', '/sites/...']) {
    expect([path, (await call('GET', path)).status]).toEqual([path, 404]);
  }
});

conform('7 Errors: every operation on what is not there is answered 404', async ({ call }) => {
  for (const [method, path, body] of requests) {
    if (!path.includes('nothing-has-this-id')) continue;
    expect([method, path, (await call(method, path, body)).status]).toEqual([method, path, 404]);
  }
});

conform(
  '8 Limits: every answer tells the limit, what is left and when the window resets',
  async ({ call }) => {
    const { headers } = await call('GET', '/tags?perPage=1');
    const read = (name: string) => Number(headers.get(`X-RateLimit-${name}`) ?? Number.NaN);
    // The sandbox of these cases has no limit unless a case asks for one.
    if (headers.get('X-RateLimit-Limit') === null) return;
    expect(read('Limit')).toBeGreaterThan(0);
    expect(read('Remaining')).toBeLessThan(read('Limit'));
    expect(read('Reset')).toBeGreaterThanOrEqual(0);
  },
);

conformHeld(
  '8 Limits: beyond 200 requests a minute the answer is 429, until the window of the first of them ends',
  async ({ call, time, sandbox }) => {
    const send = async (path = '/tags?perPage=1') => {
      const { status, headers, body } = await call('GET', path);
      const read = (name: string) => headers.get(`X-RateLimit-${name}`);
      return [body.error?.code ?? status, read('Limit'), read('Remaining'), read('Reset')];
    };
    await time.pass(45 * SECOND);
    expect(await send()).toEqual([200, '200', '199', '60']);
    await time.pass(20.5 * SECOND);
    expect(await send('/tags?page=0')).toEqual(['bad_request', '200', '198', '40']);
    // By another client of the account.
    sandbox().account.useUpRequests(197);
    expect(await send('/tags/nothing')).toEqual(['not_found', '200', '0', '40']);
    expect(await send()).toEqual(['rate_limit_exceeded', '200', '0', '40']);
    await time.pass(39.5 * SECOND - 1);
    expect(await send('/sites')).toEqual(['rate_limit_exceeded', '200', '0', '1']);
    await time.pass(1);
    expect(await send()).toEqual([200, '200', '199', '60']);
  },
  { rateLimit: 200 },
);

conformHeld(
  '8 Limits: what is refused for the limit is not done',
  async ({ call, sandbox }) => {
    sandbox().account.useUpRequests(200);
    expect((await call('POST', '/tags', { tag: { name: 'too late' } })).status).toBe(429);
    expect((await call('POST', '/sites/site-0001/sync')).status).toBe(429);
    expect(sandbox().journal.effects).toEqual([]);
  },
  { rateLimit: 200 },
);

conform(
  '9 Versioning: openapi.json describes version 6.0.0 and every operation by path and method',
  async ({ call }) => {
    const { status, body } = await call('GET', '/openapi.json');
    expect(status).toBe(200);
    expect(body.openapi).toMatch(/^3\./);
    expect(body.info.version).toBe('6.0.0');
    for (const { method, path } of Object.values(operations)) {
      expect(Object.keys(body.paths[path] ?? {}), path).toContain(method.toLowerCase());
    }
  },
);

conform('9 Versioning: openapi.json needs a token, as every endpoint does', async ({ call }) => {
  expect((await call('GET', '/openapi.json', undefined, { authorization: null })).status).toBe(401);
});
