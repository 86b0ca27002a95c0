/** What is wrong in one of the operator's files, where, and what was probably meant. */
import { relative } from 'node:path';
import { CaretakerError } from '../errors.ts';
import { fittedFrame, isCaret, wrapped } from './width.ts';

export interface Diagnostic {
  file: string;
  /** Both from 1. */
  line: number;
  column: number;
  /** The place as keys: `policies[0].select.filter`; empty for the file as a whole. */
  path: string;
  /** One sentence. */
  message: string;
  /** What to write instead, in a few words: `did you mean filters?` */
  suggestion?: string;
  /** The lines around the place with a caret under it; empty when there is nothing to show. */
  frame: string;
}

/** Files of the operator hold mistakes, so what they ask for cannot be done; each mistake is a finding. */
export class InvalidFilesError extends CaretakerError {
  readonly code = 'INVALID_FILES';

  constructor(
    readonly findings: readonly Diagnostic[],
    options?: ErrorOptions,
  ) {
    super(sumUp(findings), options);
  }
}

function sumUp(findings: readonly Diagnostic[]): string {
  const [first] = findings;
  if (!first) return 'The files contain errors.';
  const more = findings.length > 1 ? ` (and ${findings.length - 1} more)` : '';
  return `${placeOf(first)}: ${first.message}${more}`;
}

/** Findings in the order in which somebody who corrects them goes through the files. */
export const inOrder = <F extends Diagnostic>(findings: readonly F[]): F[] =>
  findings.toSorted(
    (a, b) => (a.file < b.file ? -1 : Number(a.file > b.file)) || a.line - b.line || a.column - b.column,
  );

/** A finding about a file as a whole: it is missing, cannot be read, or is too large. */
export const fileDiagnostic = (file: string, message: string, suggestion?: string): Diagnostic => ({
  file,
  line: 1,
  column: 1,
  path: '',
  message,
  ...(suggestion === undefined ? {} : { suggestion }),
  frame: '',
});

/** The keys and numbers that lead to a place, as a person writes them: `policies[0].select.filter`. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');

type Paint = (style: 'bold' | 'dim' | 'red' | 'yellow' | 'cyan', text: string) => string;

/**
 * A finding as a terminal shows it: place, sentence and suggestion, then the frame.
 *
 * `color` gives the colours, `columns` where lines end; nothing else of the output depends on them.
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

/** Findings one under the other, a blank line between any two with frames. */
export const renderFindings = (
  findings: readonly Diagnostic[],
  form: Parameters<typeof renderFinding>[1],
): string =>
  findings
    .map((finding, at) => {
      const apart = at > 0 && (finding.frame !== '' || findings[at - 1]?.frame !== '');
      return `${apart ? '\n' : ''}${renderFinding(finding, form)}`;
    })
    .join('\n');

/** The suggestion as a sentence. Behind a colon stands what is to be copied, so it gets no full stop. */
export function hintOf({ suggestion }: Pick<Diagnostic, 'suggestion'>): string | undefined {
  if (suggestion === undefined) return undefined;
  const text = suggestion.charAt(0).toUpperCase() + suggestion.slice(1);
  return /[.?!…]$|: /.test(text) ? text : `${text}.`;
}

/** `config/caretaker.yaml:3:5`; of a finding about a file as a whole, only the file. */
export function placeOf({ file, line, column, frame }: Diagnostic): string {
  return frame === '' ? shortFile(file) : `${shortFile(file)}:${line}:${column}`;
}

/** Relative to the current folder where that is shorter: what a person would type, and editors can open. */
export function shortFile(file: string): string {
  const short = relative(process.cwd(), file);
  return short !== '' && !short.startsWith('..') ? short : file;
}
