/** Section 4.11 and the scheduled report rows of section 3. */
import { expect } from 'vitest';
import { farAway, unused } from './fixtures.ts';
import { casesOfFile, DAY, HOUR, SECOND, type Tools } from './harness.ts';
import { listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.11 Scheduled reports');
listCases(conform, {
  path: '/scheduled-reports',
  key: 'scheduled_reports',
  filters: {
    site_id: { operators: ['eq'], read: ({ site }) => site.id },
    status: { operators: ['eq'], wrong: 'ended', try: ['active', 'paused'] },
    frequency: { operators: ['eq'], wrong: 'daily', try: ['weekly', 'biweekly', 'monthly'] },
    created_at: moment,
  },
  sorts: ['created_at', 'next_report_at'],
  defaultSort: 'created_at,desc',
  timezone: true,
});

/** A site without a scheduled report. */
async function needFreeSite({ call, need }: Tools) {
  const { scheduled_reports } = (await call('GET', '/scheduled-reports')).body;
  const taken = scheduled_reports.map(({ site }: { site: { id: string } }) => site.id);
  return need('/sites?sort=created_at,asc&filters[backups:eq]=true', ({ id }) => !taken.includes(id));
}

async function makeScheduled(tools: Tools, fields: object = {}) {
  const site = await needFreeSite(tools);
  const scheduled_report = { site_id: site.id, started_at: farAway, frequency: 'weekly', ...fields };
  const { status, body } = await tools.call('POST', '/scheduled-reports', { scheduled_report });
  expect([status, body.error]).toEqual([201, undefined]);
  tools.cleanUp('DELETE', `/scheduled-reports/${body.scheduled_report.id}`);
  return body.scheduled_report;
}

conform('createScheduledReport answers 201, active, as submitted', async (tools) => {
  const site = await needFreeSite(tools);
  const email = { subject: 'Again', send_to_client: true, recipients: ['a@customers.example'] };
  const started_at = farAway;
  const made = await makeScheduled(tools, {
    timezone: 'Europe/Berlin',
    started_at,
    frequency: 'monthly',
    report_template_data: { general: { primary_color: '#445566' }, email },
  });
  expect(made).toMatchObject({
    site: { id: site.id, title: site.title, url: site.url },
    status: 'active',
    timezone: 'Europe/Berlin',
    frequency: 'monthly',
    report_template_data: { general: { primary_color: '#445566' }, email },
  });
  expect(Date.parse(made.started_at)).toBe(Date.parse(started_at));
  expect((await tools.call('GET', `/scheduled-reports/${made.id}`)).body.scheduled_report).toEqual(made);
});

conform('2.13 Scheduled report: lists show the recipients, the single view the content', async (tools) => {
  const made = await makeScheduled(tools, {
    report_template_data: { email: { recipients: ['a@customers.example'] } },
  });
  const listed = await tools.need('/scheduled-reports', ({ id }) => id === made.id);
  expect(listed.email).toEqual({ recipients: ['a@customers.example'] });
  expect(listed).not.toHaveProperty('report_template_data');
  expect(made).not.toHaveProperty('email');
});

conform('a site has at most one active or paused (422)', async (tools) => {
  const made = await makeScheduled(tools);
  const again = { site_id: made.site.id, started_at: farAway, frequency: 'monthly' };
  const post = async () =>
    (await tools.call('POST', '/scheduled-reports', { scheduled_report: again })).status;
  expect(await post()).toBe(422);
  await tools.call('POST', `/scheduled-reports/${made.id}/pause`);
  expect(await post()).toBe(422);
  await tools.call('DELETE', `/scheduled-reports/${made.id}`);
  const { status, body } = await tools.call('POST', '/scheduled-reports', { scheduled_report: again });
  expect(status).toBe(201);
  await tools.call('DELETE', `/scheduled-reports/${body.scheduled_report.id}`);
});

conform('create and update need a body (400) with values that will do', async (tools) => {
  const made = await makeScheduled(tools);
  const site = await needFreeSite(tools);
  const good = { site_id: site.id, started_at: farAway, frequency: 'weekly' };
  expect((await tools.call('POST', '/scheduled-reports')).status).toBe(400);
  expect((await tools.call('POST', `/scheduled-reports/${made.id}/update`)).status).toBe(400);
  for (const wrong of [
    { frequency: 'daily' },
    { started_at: 'tomorrow' },
    { timezone: 'Nowhere/Land' },
    { report_template_data: { email: { recipients: ['nobody'] } } },
  ]) {
    const create = { scheduled_report: { ...good, ...wrong } };
    expect([400, 422]).toContain((await tools.call('POST', '/scheduled-reports', create)).status);
    const path = `/scheduled-reports/${made.id}/update`;
    expect([400, 422]).toContain((await tools.call('POST', path, { scheduled_report: wrong })).status);
  }
});

conform('a site or scheduled report that is not there is answered 404', async ({ call }) => {
  const good = { site_id: 'nothing-has-this-id', started_at: farAway, frequency: 'weekly' };
  expect((await call('POST', '/scheduled-reports', { scheduled_report: good })).status).toBe(404);
  const path = '/scheduled-reports/nothing-has-this-id';
  expect((await call('GET', path)).status).toBe(404);
  expect((await call('DELETE', path)).status).toBe(404);
  const update = { scheduled_report: { frequency: 'weekly' } };
  expect((await call('POST', `${path}/update`, update)).status).toBe(404);
  expect((await call('POST', `${path}/pause`)).status).toBe(404);
  expect((await call('POST', `${path}/resume`)).status).toBe(404);
});

conform('updateScheduledReport changes what is sent and leaves the rest', async (tools) => {
  const made = await makeScheduled(tools);
  const path = `/scheduled-reports/${made.id}/update`;
  const body = { scheduled_report: { timezone: 'Asia/Tokyo' } };
  const { status, body: changed } = await tools.call('POST', path, body);
  const { updated_at } = changed.scheduled_report;
  expect([status, changed.scheduled_report]).toEqual([200, { ...made, timezone: 'Asia/Tokyo', updated_at }]);
  expect((await tools.call('GET', `/scheduled-reports/${made.id}`)).body).toEqual(changed);
});

conform('an update takes a template, which then lists the site', async (tools) => {
  const made = await makeScheduled(tools);
  const named = { report_template: { name: unused('template'), general: { primary_color: '#abcdef' } } };
  const { id } = (await tools.call('POST', '/report-templates', named)).body.report_template;
  const path = `/scheduled-reports/${made.id}`;
  const { body } = await tools.call('POST', `${path}/update`, { scheduled_report: { template_id: id } });
  expect(body.scheduled_report).toMatchObject({
    template_id: id,
    report_template_data: { general: { primary_color: '#abcdef' } },
  });
  const { site_ids } = (await tools.call('GET', `/report-templates/${id}`)).body.report_template;
  expect(site_ids).toEqual([made.site.id]);
  const wrong = { scheduled_report: { template_id: 'nothing-has-this-id' } };
  expect([404, 422]).toContain((await tools.call('POST', `${path}/update`, wrong)).status);
  await tools.call('DELETE', path);
  await tools.call('POST', '/report-templates/delete', { ids: [id] });
});

conform('status changes only through pause and resume', async (tools) => {
  const made = await makeScheduled(tools);
  const path = `/scheduled-reports/${made.id}`;
  const sent = { scheduled_report: { status: 'paused' } };
  expect((await tools.call('POST', `${path}/update`, sent)).status).toBe(400);
  expect((await tools.call('GET', path)).body.scheduled_report).toEqual(made);
  const paused = await tools.call('POST', `${path}/pause`);
  expect([paused.status, paused.body.scheduled_report.status]).toEqual([200, 'paused']);
  expect((await tools.call('GET', path)).body).toEqual(paused.body);
  const active = await tools.call('POST', `${path}/resume`);
  expect([active.status, active.body.scheduled_report.status]).toEqual([200, 'active']);
  expect((await tools.call('GET', path)).body).toEqual(active.body);
});

conform('deleteScheduledReport answers 204 and it is gone', async (tools) => {
  const made = await makeScheduled(tools);
  const path = `/scheduled-reports/${made.id}`;
  expect((await tools.call('DELETE', path)).status).toBe(204);
  expect((await tools.call('GET', path)).status).toBe(404);
});

// The service's clock begins on Saturday, 2026-11-21, at noon.
for (const [frequency, started_at, due, next, days] of [
  ['weekly', '2026-11-16T06:00:00Z', '2026-11-23T06:00:00.000Z', '2026-11-30T06:00:00.000Z', 7],
  ['biweekly', '2026-11-10T06:00:00Z', '2026-11-24T06:00:00.000Z', '2026-12-08T06:00:00.000Z', 14],
  ['monthly', '2026-10-23T06:00:00Z', '2026-11-23T06:00:00.000Z', '2026-12-23T06:00:00.000Z', 31],
] as const) {
  conformHeld(
    `2.13 Scheduled report: ${frequency} it makes and sends a report, and is due again`,
    async (tools) => {
      const site = await tools.need(
        '/sites?filters[connection_status:eq]=connected',
        ({ id, backups, sync }) =>
          backups.available_snapshots > 33 && sync.last_sync_status === 'succeeded' && id > 'site-0040',
      );
      const email = { recipients: ['kim@customers.example'], send_to_client: true };
      const made = await makeScheduled(tools, {
        site_id: site.id,
        frequency,
        started_at,
        report_template_data: { email },
      });
      expect(made.next_report_at).toBe(due);
      const reports = async () =>
        (await tools.call('GET', `/reports?filters[site_id:eq]=${site.id}`)).body.reports;
      await tools.time.pass(Date.parse(due) - Date.parse('2026-11-21T12:00:00Z') - SECOND);
      expect(await reports()).toEqual([]);
      await tools.time.pass(HOUR);
      const [report] = await reports();
      const end = new Date(Date.parse(due) - DAY).toISOString().slice(0, 10);
      const start = new Date(Date.parse(due) - days * DAY).toISOString().slice(0, 10);
      expect(report).toMatchObject({
        type: 'scheduled',
        site: { id: site.id },
        start_date: start,
        end_date: end,
      });
      const emails = report.email.recipients.map((one: { email: string }) => one.email);
      expect(emails).toEqual(['kim@customers.example', ...(site.client ? [site.client.email] : [])]);
      const { body } = await tools.call('GET', `/scheduled-reports/${made.id}`);
      expect(body.scheduled_report.next_report_at).toBe(next);
    },
  );
}

conformHeld('3 Scheduled report: paused it makes no reports, resumed it goes on', async (tools) => {
  const { call, time } = tools;
  const made = await makeScheduled(tools, { started_at: '2026-11-16T06:00:00Z' });
  await call('POST', `/scheduled-reports/${made.id}/pause`);
  await time.pass(3 * DAY);
  const tasks = async () => {
    const query = 'filters[type:eq]=report&filters[created_at:gte]=2026-11-21T12:00:00Z';
    const { body } = await call('GET', `/tasks?${query}`);
    type Task = { input: { sites: { id: string }[] } };
    return body.tasks.filter(({ input }: Task) => input.sites[0]?.id === made.site.id);
  };
  expect(await tasks()).toEqual([]);
  const { body } = await call('POST', `/scheduled-reports/${made.id}/resume`);
  expect(body.scheduled_report.next_report_at).toBe('2026-11-30T06:00:00.000Z');
  await time.pass(7 * DAY);
  expect(await tasks()).toHaveLength(1);
});
