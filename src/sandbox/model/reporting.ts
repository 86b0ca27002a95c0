import type { MailStatus } from './mail.ts';
import type { ReportContent, ReportEmail } from './report-content.ts';

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
