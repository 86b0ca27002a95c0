/** Section 4.10 and 2.12: report templates. */
import { expect } from 'vitest';
import { unused } from './fixtures.ts';
import { casesOfFile, type Tools } from './harness.ts';
import { listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.10 Report templates');
listCases(conform, {
  path: '/report-templates',
  key: 'report_templates',
  filters: {
    name: { operators: ['contains'] },
    site_id: { operators: ['in'], read: ({ site_ids }) => site_ids },
    created_at: moment,
    updated_at: moment,
  },
  sorts: ['name', 'created_at', 'updated_at'],
  defaultSort: 'created_at,desc',
  timezone: true,
});

async function makeTemplate({ call, cleanUp }: Tools, fields: object = {}) {
  const report_template = { name: unused('template'), ...fields };
  const { status, body } = await call('POST', '/report-templates', { report_template });
  expect([status, body.error]).toEqual([201, undefined]);
  cleanUp('POST', '/report-templates/delete', { ids: [body.report_template.id] });
  return body.report_template;
}

conform('createReportTemplate answers 201, site_ids empty, as submitted', async (tools) => {
  const sender = await tools.need('/sender-emails?filters[status:eq]=verified');
  const fields = {
    general: { primary_color: '#112233' },
    sections: { cover: { visible: false, heading: 'Front' }, introduction: { description: 'Dear client' } },
    email: { sender_email: { id: sender.id }, subject: 'Your report', body: 'Here.', attach_pdf: false },
  };
  const made = await makeTemplate(tools, fields);
  expect(made).toMatchObject({ ...fields, site_ids: [] });
  expect(made.email.sender_email).toEqual({ id: sender.id, email: sender.email });
  expect([...made.section_order].sort()).toEqual(Object.keys(made.sections).sort());
  expect((await tools.call('GET', `/report-templates/${made.id}`)).body.report_template).toEqual(made);
});

conform('2.12 Report template: the list shows id, site_ids, name and moments alone', async (tools) => {
  const { id } = await makeTemplate(tools);
  const listed = await tools.need('/report-templates', (one) => one.id === id);
  expect(Object.keys(listed).sort()).toEqual(['created_at', 'id', 'name', 'site_ids', 'updated_at']);
});

conform('email.sender_email is null or an object with id', async (tools) => {
  const sender = await tools.need('/sender-emails?filters[status:eq]=verified');
  const made = await makeTemplate(tools, { email: { sender_email: { id: sender.id } } });
  const path = `/report-templates/${made.id}/update`;
  const none = { report_template: { email: { sender_email: null } } };
  expect((await tools.call('POST', path, none)).body.report_template.email.sender_email).toBeNull();
  for (const sender_email of ['someone', { email: sender.email }, { id: 'nothing-has-this-id' }]) {
    const { status } = await tools.call('POST', path, { report_template: { email: { sender_email } } });
    expect([400, 422]).toContain(status);
  }
});

conform('updateReportTemplate changes what is sent and leaves the rest', async (tools) => {
  const made = await makeTemplate(tools);
  const path = `/report-templates/${made.id}/update`;
  const name = unused('renamed');
  const renamed = (await tools.call('POST', path, { report_template: { name } })).body.report_template;
  expect(renamed).toEqual({ ...made, name, updated_at: renamed.updated_at });
  const section_order = [...made.section_order].reverse();
  const { status, body } = await tools.call('POST', path, { report_template: { section_order } });
  const { updated_at } = body.report_template;
  expect([status, body.report_template]).toEqual([200, { ...renamed, section_order, updated_at }]);
  expect((await tools.call('GET', `/report-templates/${made.id}`)).body).toEqual(body);
});

conform('create and update need a body (400) with values that will do', async (tools) => {
  const made = await makeTemplate(tools);
  for (const path of ['/report-templates', `/report-templates/${made.id}/update`]) {
    expect((await tools.call('POST', path)).status).toBe(400);
    expect((await tools.call('POST', path, { name: 'x' })).status).toBe(400);
    for (const wrong of [
      { name: ' ' },
      { name: 'x', general: { primary_color: 'blue' } },
      { name: 'x', section_order: ['no_such_section'] },
      { name: 'x', section_order: ['cover', 'cover'] },
    ]) {
      expect([400, 422]).toContain((await tools.call('POST', path, { report_template: wrong })).status);
    }
  }
});

conform('deletion allows partial success, with code not_found', async (tools) => {
  const { id } = await makeTemplate(tools);
  const ids = [id, 'nothing-has-this-id'];
  const { status, body } = await tools.call('POST', '/report-templates/delete', { ids });
  expect([status, body]).toEqual([
    200,
    {
      delete: {
        ids: [id],
        errors: [{ id: 'nothing-has-this-id', code: 'not_found', message: expect.any(String) }],
      },
      meta: { requested: 2, succeeded: 1, failed: 1 },
    },
  ]);
  expect((await tools.call('GET', `/report-templates/${id}`)).status).toBe(404);
  expect((await tools.call('POST', '/report-templates/delete')).status).toBe(400);
});

conform('one that a scheduled report uses is template_in_use', async ({ call, need }) => {
  const { id } = await need('/report-templates', ({ site_ids }) => site_ids.length > 0);
  const { status, body } = await call('POST', '/report-templates/delete', { ids: [id] });
  expect(status).toBe(200);
  expect(body.delete).toMatchObject({ ids: [], errors: [{ id, code: 'template_in_use' }] });
  expect((await call('GET', `/report-templates/${id}`)).status).toBe(200);
});

conformHeld('in use means active or paused, and not deleted', async (tools) => {
  const { call, need } = tools;
  const { id } = await makeTemplate(tools);
  const site = await need('/sites', (one) => Number(one.id.slice(-2)) > 50);
  const data = { site_id: site.id, started_at: '2027-01-01T00:00:00Z', frequency: 'weekly' };
  const made = (await call('POST', '/scheduled-reports', { scheduled_report: data })).body.scheduled_report;
  const path = `/scheduled-reports/${made.id}`;
  await call('POST', `${path}/update`, { scheduled_report: { template_id: id } });
  const codes = async () =>
    (await call('POST', '/report-templates/delete', { ids: [id] })).body.delete.errors.map(
      ({ code }: { code: string }) => code,
    );
  expect((await call('GET', `/report-templates/${id}`)).body.report_template.site_ids).toEqual([site.id]);
  expect(await codes()).toEqual(['template_in_use']);
  await call('POST', `${path}/pause`);
  expect(await codes()).toEqual(['template_in_use']);
  await call('DELETE', path);
  expect(await codes()).toEqual([]);
});
