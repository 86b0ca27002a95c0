/**
 * Subjects and bodies of mails: text with variables such as `{{site.title}}`. Nothing in the text is executed,
 * and variables inside values are not replaced.
 */
import { scrub } from '../../src/secrets.ts';
import { suggestionFor } from '../../src/suggest.ts';

/** The variables and their meaning. */
export const mailVariables = {
  'site.title': 'The title of the site.',
  'site.url': 'The address of the site.',
  'client.name': 'First and last name of the client of the site, or else the company.',
  'client.first_name': 'The first name of the client.',
  'client.last_name': 'The last name of the client.',
  'client.company_name': 'The company of the client.',
  'period.name': 'What people call the days of the report: October 2026.',
  'period.start': 'The first day: 2026-10-01.',
  'period.end': 'The last day: 2026-10-31.',
} as const;

export type MailVariable = keyof typeof mailVariables;
/** A value for each variable. */
export type MailFacts = Record<MailVariable, string>;

export interface MailTextFault {
  message: string;
  suggestion?: string | undefined;
  /** How many characters into the text. */
  offset: number;
}

/** The maximum length of a value, because people outside choose the title of a site. */
const MAX_VALUE = 200;

/** The faults of a text: unknown variables, and braces without a partner. */
export function mailTextFaults(text: string): MailTextFault[] {
  const names = Object.keys(mailVariables);
  const unknown = [...text.matchAll(pattern())].flatMap((match): MailTextFault[] => {
    const name = match[1]?.trim() ?? '';
    if (isVariable(name)) return [];
    const message = `There is no variable {{${name.slice(0, 40)}}}.`;
    return [{ message, suggestion: suggestionFor(name, names), offset: match.index }];
  });
  const rest = text.replaceAll(pattern(), (whole) => ' '.repeat(whole.length));
  const lone = [...rest.matchAll(/\{\{|\}\}/g)].map(({ 0: braces, index }) => ({
    message: `${braces} has no matching braces; a variable is written {{site.title}}.`,
    offset: index,
  }));
  return [...unknown, ...lone].sort((a, b) => a.offset - b.offset);
}

/** The text with its variables replaced. */
export const fillIn = (text: string, facts: MailFacts): string =>
  text.replaceAll(pattern(), (whole, name: string) => {
    const variable = name.trim();
    return isVariable(variable) ? facts[variable] : whole;
  });

/** A subject is one line. */
export const fillInLine = (text: string, facts: MailFacts): string =>
  fillIn(text, facts).replaceAll(/\s+/g, ' ').trim();

/**
 * A value that is safe in a mail: one line of bounded length, without credentials. Angle brackets are removed,
 * because the service may send bodies as HTML.
 */
export const mailValue = (value: string | undefined): string =>
  scrub(value ?? '')
    .replaceAll(/[\p{Cc}\p{Cf}<>]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_VALUE);

const pattern = () => /\{\{([^{}]*)\}\}/g;
const isVariable = (name: string): name is MailVariable => Object.hasOwn(mailVariables, name);
