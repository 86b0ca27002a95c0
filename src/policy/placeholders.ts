/**
 * Placeholders of a policy file: `${{ vars.region }}` and `${{ matrix.tag }}`.
 *
 * The form is that of GitHub Actions. `${NAME}` is an environment variable of `caretaker.yaml`, and
 * `{{site.title}}` is filled in for each target when a run works on it. A `$` before such a text is not a
 * placeholder: only names below `vars` and `matrix` are, and no text of a target begins with these words.
 */
import { closest } from '../suggest.ts';
import type { Remark } from '../yaml/yaml-file.ts';

/** A placeholder in a text, or a part of it that stays as it is. Both know where they start in the text. */
export type Piece =
  | { is: 'text'; text: string; start: number }
  | { is: 'placeholder'; names: [string, ...string[]]; start: number }
  | { is: 'fault'; remark: Remark; start: number };

export const scopes = ['vars', 'matrix'] as const;

export type Scope = (typeof scopes)[number];

/** The names of variables and of the keys of a matrix. */
export const placeholderName = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** A word after `${{`, and what comes before: a second `$` keeps the text as it is. */
const opening = /(\$?)\$\{\{\s*([A-Za-z_]+)(?![A-Za-z0-9_])/g;

export const content = /^\$\{\{\s*((?:vars|matrix)(?:\.[A-Za-z0-9_-]+)+)\s*\}\}/;

/** Splits a text into placeholders and what is between them. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  const addText = (to: number) => {
    if (to > end) pieces.push({ is: 'text', text: text.slice(end, to), start: end });
  };
  for (const { 0: match, 1: dollar = '', 2: word = '', index } of text.matchAll(opening)) {
    if (index < end) continue;
    const near = nearScope(word);
    if (near === undefined) continue;
    if (dollar !== '') {
      // One "$" is dropped, the rest stays.
      addText(index);
      pieces.push({ is: 'text', text: match.slice(1), start: index + 1 });
      end = index + match.length;
      continue;
    }
    addText(index);
    const found = content.exec(text.slice(index));
    const names = found?.[1]?.split('.') as [string, ...string[]] | undefined;
    if (found && names) pieces.push({ is: 'placeholder', names, start: index });
    else pieces.push({ is: 'fault', remark: faultAt(text.slice(index), word, near), start: index });
    end = index + (found?.[0].length ?? closingOf(text.slice(index)));
  }
  addText(text.length);
  return pieces;
}

function faultAt(text: string, word: string, near: string): Remark {
  if (word !== near)
    return {
      message: `A placeholder starts with vars or matrix, not "${word}".`,
      suggestion: `did you mean ${near}?`,
    };
  if (!text.includes('}}')) return { message: 'The placeholder is not closed.', suggestion: 'add "}}"' };
  return {
    message: 'A placeholder holds one name and nothing else.',
    suggestion: `write it as \${{ ${near}.name }}`,
  };
}

function closingOf(text: string): number {
  const at = text.indexOf('}}');
  return at < 0 ? text.length : at + 2;
}

/** The scope that a word is, or is probably meant to be. */
const nearScope = (word: string): string | undefined => closest(word, scopes);

/** A text that `piecesOf` reads as this very text. */
export const escapePlaceholders = (text: string): string =>
  text.replace(opening, (match, _dollar, word: string) =>
    nearScope(word) === undefined ? match : `$${match}`,
  );
