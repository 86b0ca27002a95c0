import type { ContentPatch, EmailPatch, ReportContent, ReportEmail, Section } from '../model/reporting.ts';

const section = (
  heading: string,
  description: string,
  dynamic_data: Record<string, unknown> = {},
): Section => ({
  visible: true,
  heading,
  description,
  dynamic_data,
});

/** The default content of a report. */
export const defaultContent = (): ReportContent => ({
  general: { primary_color: '#2980b9', language: 'en', date_format: 'YYYY-MM-DD' },
  sections: {
    cover: section('Website care report', '', {
      logo: { option: 'default' },
      cover_image: { option: 'default' },
    }),
    introduction: section('Introduction', 'What was done for your website.'),
    backups: section('Backups', 'Copies of your website that were kept.'),
    security: section('Security', 'What the scans have found.'),
    updates: section('Updates', 'What was brought up to date.'),
  },
  section_order: ['cover', 'introduction', 'backups', 'security', 'updates'],
});

export const defaultEmail = (): ReportEmail => ({
  senderId: null,
  subject: 'Your website care report',
  body: 'Please find the report on your website attached.',
  attachPdf: true,
});

/** Merges the request into the content. Sections that the order does not name come last. */
export function layContent(before: ReportContent, patch: ContentPatch): ReportContent {
  const sections = { ...before.sections };
  for (const [name, given] of Object.entries(patch.sections ?? {})) {
    sections[name] = { ...(sections[name] ?? section(name, '')), ...defined(given) };
  }
  const names = Object.keys(sections);
  const order = patch.section_order ?? before.section_order;
  return {
    general: { ...before.general, ...defined(patch.general ?? {}) },
    sections,
    section_order: [...order, ...names.filter((name) => !order.includes(name))],
  };
}

/** Merges the request into the email settings. */
export const layEmail = (before: ReportEmail, patch: EmailPatch): ReportEmail => ({
  senderId: patch.sender_email === undefined ? before.senderId : (patch.sender_email?.id ?? null),
  subject: patch.subject ?? before.subject,
  body: patch.body ?? before.body,
  attachPdf: patch.attach_pdf ?? before.attachPdf,
});

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const defined = <T extends object>(given: T): Defined<T> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<T>;
