/** `record.custom_work`: its texts with expressions in them, checked when the policy is loaded. */
import { ExpressionError } from '../expression/expression.ts';
import { type FieldTree, NotShownError } from '../expression/fields.ts';
import { compileTemplate } from '../expression/template.ts';
import { fieldsOfItem } from '../job/fields.ts';
import type { Policy } from './policy.ts';

/** What the service allows (spec 8). */
export const MAX_TITLE = 150;
const MAX_DESCRIPTION = 500;
/** The last line of a description identifies the entry. */
const REFERENCE_LENGTH = 20;
const MAX_TEXT = MAX_DESCRIPTION - REFERENCE_LENGTH;

type Texts = NonNullable<NonNullable<Policy['record']>['customWork']>;

/** What a text may use in addition to the site. */
export interface Facts {
  run: { id: string; policy: string; date: string };
  outcome: { targets: number; ended_at: string };
}

const shown = { nullable: false, optional: false } as const;
const text = { kind: 'string', ...shown } as const;
const runFields: FieldTree = { id: text, policy: text, date: text };
const outcomeFields: FieldTree = {
  targets: { kind: 'number', ...shown },
  ended_at: { kind: 'timestamp', ...shown },
};

const compile = (source: string) =>
  compileTemplate(source, { site: fieldsOfItem('listSites'), run: runFields, outcome: outcomeFields });

/** What is wrong with a text, with the offset of the error in it. */
export function textFault(
  source: string,
  key: keyof Texts,
): { message: string; suggestion?: string | undefined; offset?: number } | undefined {
  try {
    compile(source);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message, suggestion, offset = 0 } = error;
    return { message, suggestion, offset };
  }
  const most = key === 'title' ? MAX_TITLE : MAX_TEXT;
  const { length } = source.replace(/\{\{.*?\}\}/gs, '').trim();
  if (length > most) return { message: `"${key}" must have at most ${most} characters, and has ${length}.` };
  return undefined;
}

/** Whether the texts use fields of the site, so that the site has to be read. */
export const usesSite = ({ title, description = '' }: Texts): boolean =>
  [...`${title}\n${description}`.matchAll(/\{\{.*?\}\}/gs)].some(([part]) => /\bsite\b/.test(part));

/**
 * The texts for one site, within the limits of the service. A value that the site does not have or show is
 * named as such; a title without any text is the name of the policy.
 */
export function fillTexts(
  { title, description = '' }: Texts,
  site: object | undefined,
  facts: Facts,
  now: Date,
): { title: string; description: string } {
  const fill = (source: string) =>
    compile(source)
      .of({ ...facts, site: site ?? {} }, now, (error) =>
        error instanceof NotShownError ? '(not shown)' : '(no value)',
      )
      .trim();
  return {
    title: cut(fill(title), MAX_TITLE) || facts.run.policy,
    description: cut(fill(description), MAX_TEXT),
  };
}

/** A text of at most this many characters, never with half of a surrogate pair. */
function cut(whole: string, most: number): string {
  if (whole.length <= most) return whole;
  return `${whole.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
