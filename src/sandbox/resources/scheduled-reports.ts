/** Scheduled reports (spec 4.11). */
import type {
  ScheduledReportDetails,
  ScheduledReport as ShownScheduledReport,
} from '../../contract/operations/scheduled-reports.ts';
import type { ContentPatch, EmailPatch, ScheduledReport } from '../model/reporting.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';
import {
  addScheduledReport,
  defaultContent,
  defaultEmail,
  planNextReport,
  scheduledReportOf,
  titleOf,
} from '../world/reports.ts';
import { type Ask, type Handler, itemIn, lists, shown, siteOf } from './handler.ts';
import {
  emailView,
  requireContent,
  requireEmailSettings,
  requireRecipients,
  requireTemplate,
  requireTimezone,
} from './reports.ts';

/** A scheduled report in lists. */
export const scheduledReportView = (world: World, scheduled: ScheduledReport): ShownScheduledReport => ({
  ...common(world, scheduled),
  email: { recipients: [...scheduled.recipients] },
});

/** The single view of a scheduled report, with the content of its reports. */
export const scheduledReportDetails = (world: World, scheduled: ScheduledReport): ScheduledReportDetails => ({
  ...common(world, scheduled),
  report_template_data: {
    ...scheduled.content,
    email: {
      ...emailView(world, scheduled.email),
      send_to_client: scheduled.sendToClient,
      recipients: [...scheduled.recipients],
    },
  },
});

function common(world: World, scheduled: ScheduledReport) {
  const site = world.sites.get(scheduled.siteId);
  if (!site) throw new Error(`The scheduled report ${scheduled.id} has outlived its site.`);
  return {
    id: scheduled.id,
    site: { id: site.id, title: site.title, url: site.url },
    title: titleOf(scheduled, site),
    template_id: scheduled.templateId,
    status: scheduled.status,
    frequency: scheduled.frequency,
    timezone: scheduled.timezone,
    started_at: shown(scheduled.startedAt),
    next_report_at: shown(scheduled.nextAt),
    created_at: shown(scheduled.createdAt),
    updated_at: shown(scheduled.updatedAt),
  };
}

const scheduledOf = (world: World, id: string): ScheduledReport =>
  itemIn(world.reporting.scheduled, 'scheduled report', id);

export const listScheduledReports = lists<'listScheduledReports', ScheduledReport>({
  items: ({ world }) => world.reporting.scheduled.values(),
  fields: {
    site_id: (scheduled) => scheduled.siteId,
    status: (scheduled) => scheduled.status,
    frequency: (scheduled) => scheduled.frequency,
    created_at: (scheduled) => scheduled.createdAt,
    next_report_at: (scheduled) => scheduled.nextAt,
  },
  view: (scheduled, { world }) => scheduledReportView(world, scheduled),
});

export const showScheduledReport: Handler<'showScheduledReport'> = ({ world, params }) => ({
  scheduled_report: scheduledReportDetails(world, scheduledOf(world, params.scheduled_report_id)),
});

export const createScheduledReport: Handler<'createScheduledReport'> = ({ world, now, body, changed }) => {
  const { site_id, timezone = 'UTC', started_at, frequency, report_template_data } = body.scheduled_report;
  const site = siteOf(world, site_id);
  if (scheduledReportOf(world, site.id)) {
    throw cannot('site_has_scheduled_report', 'The site has a scheduled report already.');
  }
  const fresh = { content: defaultContent(), email: defaultEmail(), sendToClient: false, recipients: [] };
  const scheduled = addScheduledReport(
    world,
    {
      siteId: site.id,
      templateId: null,
      frequency,
      timezone: requireTimezone(timezone),
      startedAt: Date.parse(started_at),
      ...requireWhatIsSent(world, fresh, report_template_data ?? {}),
    },
    now,
  );
  changed(scheduled.id);
  return { scheduled_report: scheduledReportDetails(world, scheduled) };
};

/** Another template replaces content and email settings. The request overrides them. */
export const updateScheduledReport: Handler<'updateScheduledReport'> = (ask) => {
  const { world, now, params, body, changed } = ask;
  const scheduled = scheduledOf(world, params.scheduled_report_id);
  const { template_id, timezone, started_at, frequency, report_template_data } = body.scheduled_report;
  const template = template_id === undefined ? undefined : requireTemplate(world, template_id);
  const base = { ...scheduled, ...(template && { content: template.content, email: template.email }) };
  const fields = {
    templateId: template?.id ?? scheduled.templateId,
    timezone: timezone === undefined ? scheduled.timezone : requireTimezone(timezone),
    frequency: frequency ?? scheduled.frequency,
    startedAt: started_at === undefined ? scheduled.startedAt : Date.parse(started_at),
    ...requireWhatIsSent(world, base, report_template_data ?? {}),
  };
  const isMoved = fields.frequency !== scheduled.frequency || fields.startedAt !== scheduled.startedAt;
  const before = JSON.stringify(scheduled);
  Object.assign(scheduled, fields);
  if (before !== JSON.stringify(scheduled)) {
    if (isMoved) planNextReport(world, scheduled, now);
    scheduled.updatedAt = now;
    changed(scheduled.id);
  }
  return { scheduled_report: scheduledReportDetails(world, scheduled) };
};

export const deleteScheduledReport: Handler<'deleteScheduledReport'> = ({ world, params, changed }) => {
  const scheduled = scheduledOf(world, params.scheduled_report_id);
  world.reporting.scheduled.delete(scheduled.id);
  changed(scheduled.id);
};

export const pauseScheduledReport: Handler<'pauseScheduledReport'> = (ask) => ({
  scheduled_report: scheduledReportDetails(ask.world, setStatus(ask, 'paused')),
});

export const resumeScheduledReport: Handler<'resumeScheduledReport'> = (ask) => {
  const scheduled = setStatus(ask, 'active');
  planNextReport(ask.world, scheduled, ask.now);
  return { scheduled_report: scheduledReportDetails(ask.world, scheduled) };
};

function setStatus(
  { world, now, params, changed }: Ask<'pauseScheduledReport' | 'resumeScheduledReport'>,
  status: ScheduledReport['status'],
): ScheduledReport {
  const scheduled = scheduledOf(world, params.scheduled_report_id);
  if (scheduled.status === status) {
    throw cannot(`already_${status}`, `The scheduled report is ${status} already.`);
  }
  Object.assign(scheduled, { status, updatedAt: now });
  changed(scheduled.id);
  return scheduled;
}

type Sending = Pick<ScheduledReport, 'content' | 'email' | 'sendToClient' | 'recipients'>;
type Sent = ContentPatch & {
  email?:
    | (EmailPatch & { send_to_client?: boolean | undefined; recipients?: string[] | undefined })
    | undefined;
};

function requireWhatIsSent(world: World, before: Sending, { email = {}, ...content }: Sent): Sending {
  return {
    content: requireContent(before.content, content),
    email: requireEmailSettings(world, before.email, email),
    sendToClient: email.send_to_client ?? before.sendToClient,
    recipients: email.recipients === undefined ? before.recipients : requireRecipients(email.recipients),
  };
}
