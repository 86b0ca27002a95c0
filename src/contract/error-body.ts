/**
 * Extracts texts and codes from error bodies. Their structure is not specified (spec 7), so this looks in the
 * usual places, in JSON of any shape or in a text.
 */

import { isHolder } from '../schema-issue.ts';
import { scrubForeign } from '../secrets.ts';

/** The rest is ignored: an error page can have any size. */
const MAX_TEXT = 20_000;
const MAX_DEPTH = 5;

/** Fields that contain a message. In a map from fields to errors, fields may have the same names. */
const sentenceNames = ['message', 'detail', 'error_description'];
/**
 * Fields that contain nested errors. A text in them is a message, or only a code or the name of the status.
 */
const holderNames = ['error', 'errors', 'details'];

/** Every message in an error body, in order. */
export function sentencesIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [plain(value)].filter((text) => text !== '');
  if (!isHolder(value) || depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.slice(0, 20).flatMap((one) => sentencesIn(one, depth + 1));
  const fields = value as Record<string, unknown>;
  const holders = holderNames.filter((name) => Object.hasOwn(fields, name));
  const messages = [
    ...sentenceNames.filter((name) => typeof fields[name] === 'string'),
    ...holders.filter((name) => typeof fields[name] !== 'string'),
  ].flatMap((name) => sentencesIn(fields[name], depth + 1));
  if (messages.length > 0) return messages;
  // Otherwise, use a short name of the error, or its code.
  const named = ['title', 'reason', ...holders].filter((name) => typeof fields[name] === 'string');
  if (named.length > 0) return named.flatMap((name) => sentencesIn(fields[name], depth + 1));
  // Without a known field, it may be a map from fields to their errors.
  return depth === 0 || holders.length > 0 ? [] : faultsByField(fields, depth);
}

/** Joins messages into one text. */
export const joined = (sentences: readonly string[]): string =>
  sentences.reduce(
    (text, next) => (text === '' ? next : `${text}${/[.!?]$/.test(text) ? '' : ';'} ${next}`),
    '',
  );

const faultsByField = (value: object, depth: number): string[] =>
  Object.entries(value)
    .filter(([field, faults]) => field !== 'code' && isHolder(faults))
    .slice(0, 20)
    .flatMap(([field, faults]) =>
      sentencesIn(faults, depth + 1).map((fault) => scrubForeign(`${field}: ${fault}`)),
    );

/**
 * One line of text without secrets; of an HTML page, its title and its text. Secrets are removed before and
 * after, because tags, truncation and entities can hide the pattern of a secret.
 */
function plain(text: string): string {
  const bounded = scrubForeign(text.slice(0, MAX_TEXT));
  const title = oneLine(/<title>([^<]*)<\/title>/i.exec(bounded)?.[1] ?? '');
  const shown = scrubForeign(oneLine(visibleText(bounded)));
  // A title that is only the name of the status adds nothing, and often the text repeats it.
  const isRedundant = shown !== '' && (/^(?:error\b|\d{3}\b)/i.test(title) || shown.includes(title));
  return joined([isRedundant ? '' : title, shown].filter((one) => one !== ''));
}

/** The visible text of a page: without tags, head, scripts and styles. */
function visibleText(text: string): string {
  let isHidden = false;
  let shown = '';
  for (const [index, piece] of text.split(/<(\/?)(?:head|script|style)\b[^<>]*>/i).entries()) {
    if (index % 2 === 1) isHidden = piece === '';
    else if (!isHidden) shown += piece;
  }
  return shown.replace(/<[^<>]*>/g, ' ');
}

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
  '&amp;': '&',
};

const oneLine = (text: string): string =>
  text
    .replace(/&(?:lt|gt|quot|#39|nbsp|amp);/g, (entity) => entities[entity] ?? entity)
    .replace(/\s+/g, ' ')
    .trim();

/** The error code in an error body, if there is one. */
export function codeIn(value: unknown, depth = 0): string | undefined {
  if (!isHolder(value) || depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return codeIn(value[0], depth + 1);
  const { code, error_code, error, errors } = value as Record<string, unknown>;
  // `error` often contains a message instead of a code. A code of several words has underscores.
  const candidates = [code, error_code, typeof error === 'string' && error.includes('_') ? error : undefined];
  const own = candidates.find((one) => typeof one === 'string' && /^[\w.-]{1,100}$/.test(one));
  return typeof own === 'string' ? own : (codeIn(error, depth + 1) ?? codeIn(errors, depth + 1));
}
