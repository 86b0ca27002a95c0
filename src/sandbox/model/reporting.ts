export interface SentTo {
  email: string;
  sentAt: number;
}

export interface Report {
  readonly id: string;
  /** The site and its client at the time when the report was made. */
  readonly site: { id: string; title: string; url: string };
  readonly client: { id: string; name: string; email: string } | null;
  readonly title: string;
  readonly type: 'one_time' | 'scheduled';
  /** Days: YYYY-MM-DD. */
  readonly startDate: string;
  readonly endDate: string;
  readonly content: ReportContent;
  readonly createdAt: number;
  email: ReportEmail;
  sentTo: SentTo[];
}

export interface ReportTemplate {
  readonly id: string;
  name: string;
  content: ReportContent;
  email: ReportEmail;
  readonly createdAt: number;
  updatedAt: number;
}

export interface ScheduledReport {
  readonly id: string;
  readonly siteId: string;
  templateId: string | null;
  status: 'active' | 'paused';
  frequency: 'weekly' | 'biweekly' | 'monthly';
  timezone: string;
  startedAt: number;
  nextAt: number;
  content: ReportContent;
  email: ReportEmail;
  sendToClient: boolean;
  recipients: string[];
  readonly createdAt: number;
  updatedAt: number;
}

export interface Reporting {
  readonly reports: Map<string, Report>;
  readonly templates: Map<string, ReportTemplate>;
  readonly scheduled: Map<string, ScheduledReport>;
  /** Addresses whose mail status was set by a test. */
  readonly mailEnds: Map<string, MailStatus>;
  /** Set by a test: how long a report is made, and a mail is under way. */
  takes?: { reportMs: number; deliveryMs: number };
}

/** The data of a report before it is made. */
export interface ReportOrder {
  siteId: string;
  title: string;
  type: Report['type'];
  startDate: string;
  endDate: string;
  timezone: string;
  content: ReportContent;
  email: ReportEmail;
  /** Recipients to whom it is sent as soon as it is made. */
  recipients: string[];
}

export type MailStatus = 'sent' | 'delivered' | 'opened' | 'failed' | 'bounced' | 'spam';

export interface Mail {
  email: string;
  status: MailStatus;
  sentAt: number;
  deliveredAt: number | null;
  openedAt: number | null;
}

/**
 * The content of a report and its email settings (spec 2.12): the same for templates, reports and scheduled
 * reports. A request is merged into the previous values.
 */
export type Section = {
  visible: boolean;
  heading: string;
  description: string;
  dynamic_data: Record<string, unknown>;
};

export interface ReportContent {
  general: { primary_color: string; language: string; date_format: string };
  sections: Record<string, Section>;
  section_order: string[];
}

export interface ReportEmail {
  senderId: string | null;
  subject: string;
  body: string;
  attachPdf: boolean;
}

/** A request: every field is optional. */
export interface ContentPatch {
  general?: { [F in keyof ReportContent['general']]?: string | undefined } | undefined;
  sections?: Record<string, { [F in keyof Section]?: Section[F] | undefined }> | undefined;
  section_order?: string[] | undefined;
}

export interface EmailPatch {
  sender_email?: { id: string } | null | undefined;
  subject?: string | undefined;
  body?: string | undefined;
  attach_pdf?: boolean | undefined;
}
