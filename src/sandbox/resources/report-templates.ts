/** Report templates (spec 4.10). */
import type {
  ReportTemplateDetails,
  ReportTemplate as ShownTemplate,
} from '../../contract/operations/report-templates.ts';
import type { ReportTemplate } from '../model/reporting.ts';
import type { World } from '../model/world.ts';
import { idOf, nextNumber } from '../world/numbers.ts';
import { defaultContent, defaultEmail } from '../world/reports.ts';
import { forEachOf, type Handler, itemIn, lists, shown } from './handler.ts';
import { emailView, requireContent, requireEmailSettings } from './reports.ts';

/** A template in lists: its sites, without its content. */
export const templateView = (world: World, template: ReportTemplate): ShownTemplate => ({
  id: template.id,
  site_ids: sitesUsing(world, template.id),
  name: template.name,
  created_at: shown(template.createdAt),
  updated_at: shown(template.updatedAt),
});

/** The single view of a template. */
export const templateDetails = (world: World, template: ReportTemplate): ReportTemplateDetails => ({
  ...templateView(world, template),
  ...template.content,
  email: emailView(world, template.email),
});

/** The sites whose scheduled report, active or paused, uses the template. */
export const sitesUsing = (world: World, templateId: string): string[] =>
  [...world.reporting.scheduled.values()]
    .filter((scheduled) => scheduled.templateId === templateId)
    .map(({ siteId }) => siteId);

const templateOf = (world: World, id: string): ReportTemplate =>
  itemIn(world.reporting.templates, 'report template', id);

type Listed = ReportTemplate & { siteIds: readonly string[] };

export const listReportTemplates = lists<'listReportTemplates', Listed>({
  items: ({ world }) =>
    [...world.reporting.templates.values()].map((template) => ({
      ...template,
      siteIds: sitesUsing(world, template.id),
    })),
  fields: {
    name: (template) => template.name,
    created_at: (template) => template.createdAt,
    updated_at: (template) => template.updatedAt,
    site_id: (template) => template.siteIds,
  },
  view: (template, { world }) => templateView(world, template),
});

export const showReportTemplate: Handler<'showReportTemplate'> = ({ world, params }) => ({
  report_template: templateDetails(world, templateOf(world, params.report_template_id)),
});

export const createReportTemplate: Handler<'createReportTemplate'> = ({ world, now, body, changed }) => {
  const { name, email = {}, ...content } = body.report_template;
  // Checked first, so that a refused request uses no id.
  const checked = {
    name,
    content: requireContent(defaultContent(), content),
    email: requireEmailSettings(world, defaultEmail(), email),
  };
  const id = idOf('template', nextNumber(world, 'template'));
  const template: ReportTemplate = { id, ...checked, createdAt: now, updatedAt: now };
  world.reporting.templates.set(id, template);
  changed(id);
  return { report_template: templateDetails(world, template) };
};

/** Scheduled reports that were created from the template keep their content. */
export const updateReportTemplate: Handler<'updateReportTemplate'> = (ask) => {
  const { world, now, params, body, changed } = ask;
  const template = templateOf(world, params.report_template_id);
  const { name = template.name, email = {}, ...sent } = body.report_template;
  const content = requireContent(template.content, sent);
  const settings = requireEmailSettings(world, template.email, email);
  const before = JSON.stringify(template);
  Object.assign(template, { name, content, email: settings });
  if (before !== JSON.stringify(template)) {
    template.updatedAt = now;
    changed(template.id);
  }
  return { report_template: templateDetails(world, template) };
};

export const deleteReportTemplates: Handler<'deleteReportTemplates'> = ({ world, body, changed }) => {
  const { templates } = world.reporting;
  const { meta, ...done } = forEachOf(templates, 'report template', body.ids, ({ id }) => {
    if (sitesUsing(world, id).length > 0)
      return { code: 'template_in_use', message: 'A scheduled report uses this template.' };
    templates.delete(id);
    changed(id);
    return undefined;
  });
  return { delete: done, meta };
};
