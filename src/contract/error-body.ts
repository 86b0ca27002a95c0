/**
 * What an error body says. Its structure is not shown (spec 7), so whatever looks like a sentence for a
 * person or a code for a machine is looked for where services usually put it: in JSON of any shape, or in a
 * text.
 */

import { isHolder } from '../schema-issue.ts';
import { scrub } from '../secrets.ts';

/** More than this is not looked at: an error page may be of any size. */
const longestText = 20_000;
const deepest = 5;

/**
 * What holds a sentence, and nothing but: a map from fields to faults may have fields of these names, too.
 */
const sentenceNames = ['message', 'detail', 'error_description'];
/** What holds more to look into; a text in them is a sentence, or only a code or the name of the status. */
const holderNames = ['error', 'errors', 'details'];

/** Every sentence for a person in an error body, in the order they stand there. */
export function sentencesIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [plain(value)].filter((text) => text !== '');
  if (!isHolder(value) || depth > deepest) return [];
  if (Array.isArray(value)) return value.slice(0, 20).flatMap((one) => sentencesIn(one, depth + 1));
  const fields = value as Record<string, unknown>;
  const holders = holderNames.filter((name) => Object.hasOwn(fields, name));
  const told = [
    ...sentenceNames.filter((name) => typeof fields[name] === 'string'),
    ...holders.filter((name) => typeof fields[name] !== 'string'),
  ].flatMap((name) => sentencesIn(fields[name], depth + 1));
  if (told.length > 0) return told;
  // Second best: a short name of the error, or its code.
  const named = ['title', 'reason', ...holders].filter((name) => typeof fields[name] === 'string');
  if (named.length > 0) return named.flatMap((name) => sentencesIn(fields[name], depth + 1));
  // Without a name that says so, it may be a map from fields to what is wrong with them.
  return depth === 0 || holders.length > 0 ? [] : faultsByField(fields, depth);
}

/** Sentences as one text. */
export const joined = (sentences: readonly string[]): string =>
  sentences.reduce(
    (text, next) => (text === '' ? next : `${text}${/[.!?]$/.test(text) ? '' : ';'} ${next}`),
    '',
  );

const faultsByField = (value: object, depth: number): string[] =>
  Object.entries(value)
    .filter(([field, faults]) => field !== 'code' && isHolder(faults))
    .slice(0, 20)
    .flatMap(([field, faults]) => sentencesIn(faults, depth + 1).map((fault) => scrub(`${field}: ${fault}`)));

/**
 * One line of text without secrets; of an HTML page, its title and its text. Tags and cuts would hide what a
 * secret is known by, and so would entities.
 */
function plain(text: string): string {
  const bounded = scrub(text.slice(0, longestText));
  const title = oneLine(/<title>([^<]*)<\/title>/i.exec(bounded)?.[1] ?? '');
  const shown = scrub(oneLine(shownBy(bounded)));
  // A title that only names the status adds nothing to a text, and often the text begins with it again.
  const isNoNews = shown !== '' && (/^(?:error\b|\d{3}\b)/i.test(title) || shown.includes(title));
  return joined([isNoNews ? '' : title, shown].filter((one) => one !== ''));
}

/** What a page shows of itself: the text between its tags, and nothing of its head, scripts and styles. */
function shownBy(text: string): string {
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

/** The machine's code in an error body, where there is one. */
export function codeIn(value: unknown, depth = 0): string | undefined {
  if (!isHolder(value) || depth > deepest) return undefined;
  if (Array.isArray(value)) return codeIn(value[0], depth + 1);
  const { code, error_code, error, errors } = value as Record<string, unknown>;
  // `error` holds a sentence as often as a code; a code of several words is written as one.
  const candidates = [code, error_code, typeof error === 'string' && error.includes('_') ? error : undefined];
  const own = candidates.find((one) => typeof one === 'string' && /^[\w.-]{1,100}$/.test(one));
  return typeof own === 'string' ? own : (codeIn(error, depth + 1) ?? codeIn(errors, depth + 1));
}
