/** A problem in a file of the operator, with its position and a suggestion. */
import { relative } from 'node:path';
import { CaretakerError } from '../errors.ts';
import { fittedFrame, isCaret, wrapped } from './width.ts';

export interface Diagnostic {
  file: string;
  /** Both from 1. */
  line: number;
  column: number;
  /** The path of the value: `policies[0].select.filter`; empty for the whole file. */
  path: string;
  /** One sentence. */
  message: string;
  /** How to fix it, in a few words: `did you mean filters?` */
  suggestion?: string;
  /** The code frame with a caret under the position; empty when there is nothing to show. */
  frame: string;
  /**
   * Set when the form of the value is wrong: its type, its keys, or a text that is not one of a list or does not
   * match a pattern. The JSON Schema refuses all of these.
   */
  form?: true;
}

/** Files of the operator have errors. Each error is a finding. */
export class InvalidFilesError extends CaretakerError {
  readonly code = 'INVALID_FILES';

  constructor(readonly findings: readonly Diagnostic[]) {
    super(summarize(findings));
  }
}

function summarize(findings: readonly Diagnostic[]): string {
  const [first] = findings;
  if (!first) return 'The files contain errors.';
  const more = findings.length > 1 ? ` (and ${findings.length - 1} more)` : '';
  return `${placeOf(first)}: ${first.message}${more}`;
}

/** Sorts findings by file, line and column. */
export const inOrder = <F extends Diagnostic>(findings: readonly F[]): F[] =>
  findings.toSorted(
    (a, b) => (a.file < b.file ? -1 : Number(a.file > b.file)) || a.line - b.line || a.column - b.column,
  );

/** A finding about a whole file: it is missing, cannot be read, or is too large. */
export const fileDiagnostic = (file: string, message: string, suggestion?: string): Diagnostic => ({
  file,
  line: 1,
  column: 1,
  path: '',
  message,
  ...(suggestion === undefined ? {} : { suggestion }),
  frame: '',
});

/** Formats a path: `policies[0].select.filter`. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');

type Paint = (style: 'bold' | 'dim' | 'red' | 'yellow' | 'cyan', text: string) => string;

/**
 * Formats a finding for a terminal: position, sentence and suggestion, then the code frame.
 *
 * `color` adds colours, `columns` is the line width. They change nothing else.
 */
export function renderFinding(
  finding: Diagnostic,
  { color, columns }: { color: false | Paint; columns?: number | undefined },
): string {
  const paint: Paint = color || ((_, text) => text);
  const place = paint('cyan', placeOf(finding));
  const hint = hintOf(finding);
  const head = wrapped(
    `${place}: ${paint('bold', finding.message)}${hint === undefined ? '' : ` ${paint('yellow', hint)}`}`,
    columns,
    2,
  );
  if (finding.frame === '') return head;
  const frame = fittedFrame(finding.frame.split('\n'), columns === undefined ? undefined : columns - 2);
  const painted = frame.map((line) =>
    line.startsWith('>') ? line : paint(isCaret(line) ? 'red' : 'dim', line),
  );
  return [head, ...painted.map((line) => `  ${line}`)].join('\n');
}

/** Formats several findings. A blank line separates findings with code frames. */
export const renderFindings = (
  findings: readonly Diagnostic[],
  form: Parameters<typeof renderFinding>[1],
): string =>
  findings
    .map((finding, at) => {
      const isSeparate = at > 0 && (finding.frame !== '' || findings[at - 1]?.frame !== '');
      return `${isSeparate ? '\n' : ''}${renderFinding(finding, form)}`;
    })
    .join('\n');

/**
 * The suggestion as a sentence. It gets no full stop if it contains a colon, because then its end is to be
 * copied.
 */
export function hintOf({ suggestion }: Pick<Diagnostic, 'suggestion'>): string | undefined {
  if (suggestion === undefined) return undefined;
  const text = suggestion.charAt(0).toUpperCase() + suggestion.slice(1);
  return /[.?!…]$|: /.test(text) ? text : `${text}.`;
}

/** `config/caretaker.yaml:3:5`, or only the file for a finding about a whole file. */
export function placeOf({ file, line, column, frame }: Diagnostic): string {
  return frame === '' ? shortFile(file) : `${shortFile(file)}:${line}:${column}`;
}

/** The path of a file inside the current folder relative to it, otherwise the absolute path. */
export function shortFile(file: string): string {
  const short = relative(process.cwd(), file);
  return short !== '' && !short.startsWith('..') ? short : file;
}
