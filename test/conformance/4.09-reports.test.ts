/** Section 4.9 and 2.11: making, listing, downloading and sending reports. */
import { expect } from 'vitest';
import { unused } from './fixtures.ts';
import { casesOfFile, DAY, HOUR, MINUTE, SECOND, type Tools } from './harness.ts';
import { listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.9 Reports');
listCases(conform, {
  path: '/reports',
  key: 'reports',
  filters: {
    type: { operators: ['eq'], wrong: 'weekly', try: ['one_time', 'scheduled'] },
    site_id: { operators: ['eq'], read: ({ site }) => site.id },
    client_id: { operators: ['eq'], read: ({ client }) => client?.id ?? null },
    sender_email: { operators: ['eq'], read: ({ email }) => email.sender_email?.email ?? null },
    recipient_status: {
      operators: ['eq'],
      wrong: 'lost',
      try: ['bounced', 'spam', 'opened', 'sent'],
      read: ({ email }) => email.recipients.map(({ status }: { status: string }) => status),
    },
    created_at: moment,
  },
  sorts: ['created_at'],
  defaultSort: 'created_at,desc',
  timezone: true,
});

const day = (at: number) => new Date(at).toISOString().slice(0, 10);

/** A site with good snapshots of more than a week, and the days that they cover. */
async function needReportable({ call, need }: Tools) {
  let days: string[] = [];
  const { sites } = (await call('GET', '/sites?filters[backups:eq]=true&perPage=20')).body;
  for (const site of sites) {
    const query = `filters[created_at:gte]=2000-01-01T00:00:00Z&filters[status:eq]=succeeded&sort=created_at,asc`;
    const { status, body } = await call('GET', `/sites/${site.id}/snapshots?${query}`);
    if (status !== 200) continue;
    days = body.snapshots.map(({ created_at }: { created_at: string }) => created_at.slice(0, 10));
    if (days.length > 7) return { site, first: days[0] ?? '', last: days.at(-1) ?? '' };
  }
  return { site: await need('/sites', () => false), first: '', last: '' };
}

/** Orders a report on the days that the snapshots cover. */
async function order(tools: Tools, more: object = {}) {
  const { site, first, last } = await needReportable(tools);
  const report = { site_id: site.id, start_date: first, end_date: last, ...more };
  return { site, report, ...(await tools.call('POST', '/reports', { report })) };
}

conform('createReport answers 201 with a reference to a task of type report', async (tools) => {
  const { site, status, body } = await order(tools);
  expect([status, Object.keys(body.task).sort()]).toEqual([201, ['created_at', 'id', 'status']]);
  const { task } = (await tools.call('GET', `/tasks/${body.task.id}`)).body;
  expect(task).toMatchObject({ type: 'report', input: { sites: [{ id: site.id }] } });
});

conformHeld('the report is in the list after its task, and not before', async (tools) => {
  const title = { sections: { cover: { heading: 'Hello' } } };
  const { site, report, body } = await order(tools, { report_template_data: title });
  const count = async () => (await tools.call('GET', '/reports')).body.meta.pagination.totalItems;
  const before = await count();
  await tools.time.pass(MINUTE);
  expect((await tools.call('GET', `/tasks/${body.task.id}`)).body.task.status).toBe('completed');
  expect(await count()).toBe(before + 1);
  const [made] = (await tools.call('GET', '/reports')).body.reports;
  expect(made).toMatchObject({
    type: 'one_time',
    site: { id: site.id, title: site.title, url: site.url },
    start_date: report.start_date,
    end_date: report.end_date,
    email: { recipients: [] },
  });
  expect(made.client?.id).toBe(site.client?.id);
  expect((await tools.call('GET', `/reports/${made.id}`)).body.report).toEqual(made);
});

conform('createReport needs a site that is available (422)', async ({ call }) => {
  const report = { site_id: 'nothing-has-this-id', start_date: '2026-11-14', end_date: '2026-11-20' };
  expect((await call('POST', '/reports', { report })).status).toBe(422);
});

conform('createReport needs snapshots that cover the first day and the last (422)', async (tools) => {
  const { site, first, last } = await needReportable(tools);
  const post = async (start_date: string, end_date: string) =>
    (await tools.call('POST', '/reports', { report: { site_id: site.id, start_date, end_date } })).status;
  expect(await post(day(Date.parse(first) - DAY), last)).toBe(422);
  expect(await post(first, day(Date.parse(last) + 2 * DAY))).toBe(422);
  expect(await post(last, first)).toBe(422);
});

conform(
  'createReport needs snapshots up to the last day, also where there are older ones (422)',
  async (tools) => {
    const { call, need } = tools;
    // The current time of the service: the newest sync of all, at most a day ago.
    const newest = Date.parse((await need('/sites?sort=last_sync_at,desc')).sync.last_sync_at);
    type Site = { backups: { latest_snapshot: { created_at: string } | null } };
    const isBehind = ({ backups: { latest_snapshot } }: Site) =>
      latest_snapshot !== null && Date.parse(latest_snapshot.created_at) < newest - 3 * DAY;
    const { id } = await need('/sites?filters[backups:eq]=true', isBehind);
    const query =
      'filters[created_at:gte]=2000-01-01T00:00:00Z&filters[status:eq]=succeeded&sort=created_at,asc';
    const { snapshots } = (await call('GET', `/sites/${id}/snapshots?${query}`)).body;
    const start_date = snapshots[0].created_at.slice(0, 10);
    const post = async (end_date: string) =>
      (await call('POST', '/reports', { report: { site_id: id, start_date, end_date } })).status;
    expect(await post(day(newest - DAY))).toBe(422);
    expect(await post(snapshots.at(-1).created_at.slice(0, 10))).toBe(201);
  },
);

conform('createReport needs a body (400) with days and a timezone that are some', async (tools) => {
  expect((await tools.call('POST', '/reports')).status).toBe(400);
  for (const wrong of [
    { start_date: 'yesterday' },
    { end_date: '2026-02-30' },
    { timezone: 'Nowhere/Land' },
    { template_id: 'nothing-has-this-id' },
  ]) {
    expect([400, 422]).toContain((await order(tools, wrong)).status);
  }
});

conform('downloadReport answers a PDF as application/pdf', async ({ call, need }) => {
  const { id } = await need('/reports');
  const { status, headers, bytes } = await call('GET', `/reports/${id}/download`);
  expect([status, headers.get('content-type')]).toEqual([200, 'application/pdf']);
  expect(bytes.subarray(0, 5).toString('latin1')).toBe('%PDF-');
  expect(bytes.subarray(-8).toString('latin1')).toContain('%%EOF');
});

conformHeld('deleteReport answers 204 and the report is gone', async ({ call, need }) => {
  const { id } = await need('/reports');
  expect((await call('DELETE', `/reports/${id}`)).status).toBe(204);
  expect((await call('GET', `/reports/${id}`)).status).toBe(404);
  expect((await call('GET', `/reports/${id}/download`)).status).toBe(404);
});

conformHeld('sendReportEmail answers 200 with errors by item and counts', async ({ call, need }) => {
  const { id } = await need('/reports');
  const sender = await need('/sender-emails?filters[status:eq]=verified');
  const send_email = {
    recipients: ['one@customers.example', 'nobody', 'two@customers.example'],
    sender_email: { id: sender.id },
    subject: 'Look',
    body: 'Here it is.',
    attach_pdf: false,
  };
  const { status, body } = await call('POST', `/reports/${id}/send-email`, { send_email });
  expect(status).toBe(200);
  expect(body.send_email.recipients).toEqual(['one@customers.example', 'two@customers.example']);
  expect(body.send_email.errors).toHaveLength(1);
  expect(body.meta).toEqual({ requested: 3, succeeded: 2, failed: 1 });
  const { report } = (await call('GET', `/reports/${id}`)).body;
  expect(report.email).toMatchObject({
    subject: 'Look',
    body: 'Here it is.',
    attach_pdf: false,
    sender_email: { id: sender.id, email: sender.email },
  });
  const emails = report.email.recipients.map(({ email }: { email: string }) => email);
  expect(emails).toEqual(expect.arrayContaining(body.send_email.recipients));
  expect(emails).not.toContain('nobody');
});

conform('sendReportEmail needs a body (400) and a sender email that is verified (422)', async (tools) => {
  const { call, need, cleanUp } = tools;
  const { id } = await need('/reports');
  const path = `/reports/${id}/send-email`;
  expect((await call('POST', path)).status).toBe(400);
  expect((await call('POST', path, { recipients: ['a@b.example'] })).status).toBe(400);
  const email = `${unused('pending')}@conformance.example`;
  const pending = await call('POST', '/sender-emails', { sender_email: { email, name: 'x' } });
  cleanUp('DELETE', `/sender-emails/${pending.body.sender_email.id}`);
  for (const sender of ['nothing-has-this-id', pending.body.sender_email.id]) {
    const send_email = { recipients: ['a@customers.example'], sender_email: { id: sender } };
    expect((await call('POST', path, { send_email })).status).toBe(422);
  }
});

conformHeld(
  '2.11 Recipients go from sent to delivered to opened, or are bounced, failed or spam',
  async (tools) => {
    const { call, need, time } = tools;
    const { id } = await need('/reports');
    const recipients = ['kim', 'bounce', 'fail', 'spam'].map((name) => `${name}@customers.example`);
    await call('POST', `/reports/${id}/send-email`, { send_email: { recipients } });
    type Mail = {
      email: string;
      status: string;
      sent_at: unknown;
      delivered_at: unknown;
      opened_at: unknown;
    };
    const look = async (): Promise<Mail[]> => {
      const all: Mail[] = (await call('GET', `/reports/${id}`)).body.report.email.recipients;
      return all.filter(({ email }) => recipients.includes(email));
    };
    const statuses = async () => (await look()).map(({ status }) => status);
    expect(await statuses()).toEqual(['sent', 'sent', 'sent', 'sent']);
    expect(await look()).toContainEqual({
      email: 'kim@customers.example',
      status: 'sent',
      sent_at: expect.any(String),
      delivered_at: null,
      opened_at: null,
    });
    await time.pass(30 * SECOND);
    expect(await statuses()).toEqual(['delivered', 'bounced', 'failed', 'delivered']);
    await time.pass(HOUR);
    expect(await statuses()).toEqual(['opened', 'bounced', 'failed', 'spam']);
    const [opened, bounced] = await look();
    expect([opened?.delivered_at, opened?.opened_at]).toEqual([expect.any(String), expect.any(String)]);
    expect([bounced?.delivered_at, bounced?.opened_at]).toEqual([null, null]);
  },
);
