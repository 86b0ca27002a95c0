/** Checks that are common to reports, templates and scheduled reports. */
import { isTimezone } from '../../dates.ts';
import type {
  ContentPatch,
  EmailPatch,
  ReportContent,
  ReportEmail,
  ReportTemplate,
} from '../model/reporting.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';
import { layContent, layEmail } from '../world/report-content.ts';
import { isEmail, requireColor } from './texts.ts';

/** Merges the request into the content, and checks it. */
export function requireContent(before: ReportContent, sent: ContentPatch): ReportContent {
  if (sent.general?.primary_color !== undefined) requireColor(sent.general.primary_color);
  for (const [name, section] of Object.entries(sent.sections ?? {})) {
    const unknown = Object.keys(section).find((field) => !sectionFields.includes(field));
    if (unknown !== undefined) {
      throw cannot('unknown_section_field', `The section "${name}" has no field "${unknown}".`);
    }
  }
  const content = layContent(before, sent);
  const order = content.section_order;
  if (new Set(order).size < order.length || order.some((name) => !Object.hasOwn(content.sections, name))) {
    throw cannot('invalid_section_order', 'A section order names sections of the report, each once.');
  }
  return content;
}

const sectionFields = ['visible', 'heading', 'description', 'dynamic_data'];

/** Merges the request into the email settings, and checks them. */
export function requireEmailSettings(world: World, before: ReportEmail, sent: EmailPatch): ReportEmail {
  const email = layEmail(before, sent);
  if (sent.sender_email) requireVerifiedSender(world, sent.sender_email.id);
  return email;
}

/** @throws {Refusal} 422 unless the sender email exists and is verified. */
export function requireVerifiedSender(world: World, id: string): void {
  const sender = world.senderEmails.get(id);
  if (!sender) throw cannot('sender_email_not_found', `There is no sender email "${id}".`);
  if (sender.status !== 'verified') {
    throw cannot('sender_email_not_verified', `The sender email "${sender.email}" is not verified.`);
  }
}

/** @throws {Refusal} 422 when the template does not exist. */
export function requireTemplate(world: World, id: string): ReportTemplate {
  const template = world.reporting.templates.get(id);
  if (!template) throw cannot('template_not_found', `There is no report template "${id}".`);
  return template;
}

/** @throws {Refusal} 422 for an unknown timezone (in a query it would be 400). */
export function requireTimezone(name: string): string {
  if (!isTimezone(name)) throw cannot('invalid_timezone', `There is no timezone "${name}".`);
  return name;
}

/** Each address once. @throws {Refusal} 422 for an invalid one. */
export function requireRecipients(emails: readonly string[]): string[] {
  const wrong = emails.find((email) => !isEmail(email));
  if (wrong !== undefined) throw cannot('invalid_email', `"${wrong}" is no e-mail address.`);
  return [...new Set(emails)];
}
