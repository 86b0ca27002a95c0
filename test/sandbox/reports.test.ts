import { inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { startCalling } from './calling.ts';

const SECOND = 1000;
const HOUR = 3_600_000;

/** The bytes of a report's PDF. */
async function download(url: string, token: string, id: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${token}` };
  return Buffer.from(await (await fetch(`${url}/reports/${id}/download`, { headers })).arrayBuffer());
}

/** The text of the page's drawing operators, with the letters of each line joined. */
function textOf(pdf: Buffer): string {
  const at = pdf.indexOf('stream\n') + 'stream\n'.length;
  const drawing = inflateSync(pdf.subarray(at)).toString('latin1');
  return drawing
    .split('\n')
    .map((line) =>
      [...line.matchAll(/<([0-9a-f]+)>/g)].map(([, hex]) => Buffer.from(hex ?? '', 'hex')).join(''),
    )
    .join('\n');
}

describe('a downloaded report', () => {
  test('is one page that names the site, the days and what was done, the same each time', async () => {
    const { sandbox, get } = await startCalling();
    const [report] = (await get('/reports?filters[type:eq]=one_time')).body.reports;
    const pdf = await download(sandbox.url, sandbox.token, report.id);
    expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)).toHaveLength(1);
    const text = textOf(pdf);
    expect(text).toContain(report.title);
    expect(text).toContain(`${report.start_date} to ${report.end_date}`);
    expect(text).toMatch(/\d+ of \d+ backups succeeded/);
    expect(text).toMatch(/\d+ scans, nothing found/);
    expect(text).toMatch(/\d+ updates installed/);
    expect((await download(sandbox.url, sandbox.token, report.id)).equals(pdf)).toBe(true);
  });

  test('has one page, whatever the length of its texts', async () => {
    const { sandbox, clock, get, post } = await startCalling();
    const [{ site, start_date, end_date }] = (await get('/reports?filters[type:eq]=one_time')).body.reports;
    const section = { heading: 'Long \u{1F600}'.repeat(200), description: 'word\n'.repeat(500) };
    const sections = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`more_${at}`, section]));
    const report = { site_id: site.id, start_date, end_date, report_template_data: { sections } };
    expect((await post('/reports', { report })).status).toBe(201);
    await clock.advance(60 * SECOND);
    const [made] = (await get('/reports')).body.reports;
    const pdf = await download(sandbox.url, sandbox.token, made.id);
    expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)).toHaveLength(1);
  });
});

test('a report has the content of its template, overridden by the request', async () => {
  const { sandbox, clock, get, post } = await startCalling();
  const content = { sections: { cover: { visible: false }, closing: { heading: 'Goodbye then' } } };
  const named = { report_template: { name: 'Mine', ...content, email: { subject: 'By template' } } };
  const { id } = (await post('/report-templates', named)).body.report_template;
  const [{ site, start_date, end_date }] = (await get('/reports?filters[type:eq]=one_time')).body.reports;
  const report_template_data = { sections: { introduction: { heading: 'Good morning' } } };
  await post('/reports', {
    report: { site_id: site.id, start_date, end_date, template_id: id, report_template_data },
  });
  await clock.advance(60 * SECOND);
  const [made] = (await get('/reports')).body.reports;
  // A template's subject is for mails: before the first mail, a report has a subject of its own.
  expect(made.email.subject).toBe(`Report on ${site.title}`);
  const mail = { recipients: ['ada@one.example'], sender_email: null };
  await post(`/reports/${made.id}/send-email`, { send_email: mail });
  expect((await get(`/reports/${made.id}`)).body.report.email.subject).toBe('By template');
  const text = textOf(await download(sandbox.url, sandbox.token, made.id));
  expect(text).toContain('Goodbye then');
  expect(text).toContain('Good morning');
  expect(text).not.toContain('Website care report');
});

test('a report whose task is cancelled, or whose site is deleted meanwhile, is never made', async () => {
  const { sandbox, clock, get, post, remove } = await startCalling();
  const { reports } = (await get('/reports?filters[type:eq]=one_time')).body;
  const order = async ({ site, start_date, end_date }: (typeof reports)[number]) =>
    (await post('/reports', { report: { site_id: site.id, start_date, end_date } })).body.task.id;
  const count = (await get('/reports')).body.reports.length;
  const cancelled = await order(reports[0]);
  await post(`/tasks/${cancelled}/cancel`);
  const left = await order(reports[1]);
  await remove(`/sites/${reports[1].site.id}`);
  await clock.advance(HOUR);
  expect((await get('/reports')).body.reports).toHaveLength(count);
  expect(sandbox.journal.effectsOf('createReport')).toEqual([cancelled, left]);
});

test('a site without backups, or a period that has not ended, cannot be reported on', async () => {
  const { get, post } = await startCalling();
  const codeOf = async (site_id: string, end_date: string) =>
    (await post('/reports', { report: { site_id, start_date: '2026-11-14', end_date } })).body.error.code;
  const [{ id }] = (await get('/sites?filters[backups:eq]=false')).body.sites;
  expect(await codeOf(id, '2026-11-20')).toMatch(/^(plan_without_backups|backups_disabled)$/);
  expect(await codeOf('site-0001', '2026-11-22')).toBe('invalid_period');
});

test('without recipients, or with invalid addresses only, nothing is sent', async () => {
  const { sandbox, get, post } = await startCalling();
  const before = (await get('/reports/report-0001')).body;
  const send = async (recipients: string[]) =>
    (await post('/reports/report-0001/send-email', { send_email: { recipients, subject: 'New' } })).body;
  expect((await send([])).error.code).toBe('no_recipients');
  const { send_email, meta } = await send(['nobody', 'nobody']);
  expect(send_email).toMatchObject({ recipients: [], errors: [{ id: 'nobody', code: 'invalid_email' }] });
  expect(meta).toEqual({ requested: 1, succeeded: 0, failed: 1 });
  expect((await get('/reports/report-0001')).body).toEqual(before);
  expect(sandbox.journal.effects).toEqual([]);
});

test('sending again to the same address restarts the status of its mail', async () => {
  const { clock, get, post } = await startCalling();
  const send_email = { recipients: ['kim@customers.example'] };
  await post('/reports/report-0001/send-email', { send_email });
  await clock.advance(HOUR);
  await post('/reports/report-0001/send-email', { send_email });
  const { recipients } = (await get('/reports/report-0001')).body.report.email;
  const own = recipients.filter(({ email }: { email: string }) => email === 'kim@customers.example');
  expect(own).toMatchObject([{ status: 'sent', sent_at: '2026-11-21T13:00:00.000Z' }]);
});

test('the fleet has templates, scheduled reports, and reports with mail of every status', async () => {
  const { get } = await startCalling();
  const { report_templates } = (await get('/report-templates')).body;
  const { scheduled_reports } = (await get('/scheduled-reports')).body;
  const { reports } = (await get('/reports')).body;
  type Used = { site_ids: string[] };
  expect(report_templates.map(({ site_ids }: Used) => site_ids.length > 0)).toEqual([false, true]);
  type Scheduled = { status: string; frequency: string };
  const kinds = new Set(
    scheduled_reports.map(({ status, frequency }: Scheduled) => `${status} ${frequency}`),
  );
  expect([...kinds]).toEqual(expect.arrayContaining(['active weekly', 'active monthly', 'active biweekly']));
  expect([...kinds].some((kind) => String(kind).startsWith('paused'))).toBe(true);
  type Sent = { email: { recipients: { status: string }[] } };
  const fates = reports.flatMap(({ email }: Sent) => email.recipients.map(({ status }) => status));
  expect(new Set(fates)).toEqual(new Set(['opened', 'bounced', 'spam']));
});

test('deleting a site deletes its scheduled report', async () => {
  const { get, remove } = await startCalling();
  const [{ id, site }] = (await get('/scheduled-reports')).body.scheduled_reports;
  await remove(`/sites/${site.id}`);
  expect((await get(`/scheduled-reports/${id}`)).status).toBe(404);
  expect((await get('/scheduled-reports')).status).toBe(200);
});

test('a scheduled report keeps its content when its template changes later', async () => {
  const { get, post } = await startCalling();
  const [{ id, template_id }] = (await get('/scheduled-reports')).body.scheduled_reports;
  const before = (await get(`/scheduled-reports/${id}`)).body;
  await post(`/report-templates/${template_id}/update`, { report_template: { general: { language: 'de' } } });
  expect((await get(`/scheduled-reports/${id}`)).body).toEqual(before);
});

test('pausing a paused scheduled report, or resuming an active one, answers 422', async () => {
  const { sandbox, get, post } = await startCalling();
  const [{ id }] = (await get('/scheduled-reports?filters[status:eq]=active')).body.scheduled_reports;
  const act = async (action: string) => (await post(`/scheduled-reports/${id}/${action}`)).body;
  expect((await act('resume')).error.code).toBe('already_active');
  await act('pause');
  expect((await act('pause')).error.code).toBe('already_paused');
  expect(sandbox.journal.effectsOf('pauseScheduledReport')).toEqual([id]);
  expect(sandbox.journal.effectsOf('resumeScheduledReport')).toEqual([]);
});

test('a test can set any status for mail to an address, also after it was opened', async () => {
  const { sandbox, clock, get, post } = await startCalling();
  const recipients = ['kim@customers.example', 'lou@customers.example'];
  await post('/reports/report-0001/send-email', { send_email: { recipients } });
  await clock.advance(HOUR);
  sandbox.mail.ends('kim@customers.example', 'bounced');
  const shown = (await get('/reports/report-0001')).body.report.email.recipients;
  const statusOf = (address: string) =>
    shown.find(({ email }: { email: string }) => email === address)?.status;
  expect(recipients.map(statusOf)).toEqual(['bounced', 'opened']);
  const listed = await get('/reports?filters[recipient_status:eq]=bounced');
  expect(listed.body.reports.map(({ id }: { id: string }) => id)).toContain('report-0001');
});

test('a test can set how long the delivery of mail takes', async () => {
  const { sandbox, clock, get, post } = await startCalling();
  sandbox.mail.takes({ reportMs: SECOND, deliveryMs: SECOND });
  await post('/reports/report-0001/send-email', { send_email: { recipients: ['kim@customers.example'] } });
  const status = async () => (await get('/reports/report-0001')).body.report.email.recipients.at(-1).status;
  const before = await status();
  await clock.advance(SECOND);
  expect([before, await status()]).toEqual(['sent', 'delivered']);
});
