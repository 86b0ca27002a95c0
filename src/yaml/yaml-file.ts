/**
 * A YAML file of the operator, parsed safely, with the position of each value.
 *
 * The size and the number of aliases are limited. Custom tags, merge keys and duplicate keys are rejected.
 * Dates stay strings (`2026-12-20`), as in the core schema of YAML 1.2.
 */
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Range,
  type Scalar,
  visit,
} from 'yaml';
import { visible } from '../text.ts';
import { type Diagnostic, fileDiagnostic, pathText, shortFile } from './diagnostic.ts';
import { frameOf, readTextFile, sourceOffset } from './text-file.ts';
import { insteadOfTypographic } from './typographic-quotes.ts';

/** The parser counts the anchor as well. */
const MAX_ALIASES = 50;

export type Path = readonly PropertyKey[];
/** A finding without its position. */
export interface Remark {
  message: string;
  suggestion?: string | undefined;
  /** Whether it refers to the key or the value. Default: the value. */
  at?: 'key' | 'value';
  /** The offset in the text of the value, in characters. */
  offset?: number;
  /** The keys of which one is missing. */
  missing?: readonly string[];
  /** See `Diagnostic`. */
  form?: boolean | undefined;
}

export class YamlFile {
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;
  #plain: { value: unknown } | undefined;

  private constructor(
    readonly file: string,
    readonly text: string,
    document: Document.Parsed,
    lines: LineCounter,
  ) {
    this.#document = document;
    this.#lines = lines;
  }

  /**
   * Reads a file. Returns findings when it is missing, too large, not text or not valid YAML. Never throws.
   *
   * `prepare` may change the text before it is parsed, but not its length, so that positions stay correct.
   */
  static read(file: string, prepare?: (text: string) => string): YamlFile | Diagnostic[] {
    const read = readTextFile(file);
    return 'text' in read ? YamlFile.parse(file, read.text, prepare) : read.findings;
  }

  /** Like `read`, for a given text. Findings use `file` as its name. */
  static parse(file: string, text: string, prepare = (raw: string) => raw): YamlFile | Diagnostic[] {
    const lines = new LineCounter();
    const document = parseDocument(prepare(text), {
      lineCounter: lines,
      prettyErrors: false,
      schema: 'core',
      merge: false,
      resolveKnownTags: false,
      stringKeys: true,
      // The parser compares each key with all before it: minutes for 100,000 keys. See `duplicateKeys`.
      uniqueKeys: false,
      // Not 'silent': that would hide a second document, whose policies would be ignored.
      logLevel: 'error',
    });
    const yaml = new YamlFile(file, text, document, lines);
    const faults = [...document.errors, ...duplicateKeys(document), ...document.warnings]
      .toSorted((a, b) => a.pos[0] - b.pos[0])
      .slice(0, 20);
    const cause = causeOf(prepare(text), faults);
    if (cause) return [yaml.#place([], cause.start, cause.end, cause.message, cause.suggestion)];
    if (faults.length > 0)
      return onePerLine(faults, lines).map(({ code, message, pos }) => yaml.#fault(code, message, pos));
    const aliases: Alias[] = [];
    const merges: Node[] = [];
    visit(document, {
      Alias: (_key, alias) => void aliases.push(alias),
      Pair: (_key, { key }) => void (isScalar(key) && key.value === '<<' && merges.push(key)),
    });
    if (merges.length > 0)
      return merges
        .slice(0, MAX_SYNTAX_FAULTS)
        .map((key) =>
          yaml.#place([], ...startOf(key), 'Merge keys (<<) are not supported.', insteadOfMerging),
        );
    const broken = aliases.find((alias) => alias.resolve(document) === undefined);
    if (broken) {
      const message = `There is no anchor &${broken.source} before this alias.`;
      return [yaml.#place([], ...startOf(broken), message, `quote it if it is a text: "*${broken.source}"`)];
    }
    const extra = aliases[MAX_ALIASES];
    if (!extra) return yaml.#checkedAliases();
    const message = `The file uses ${aliases.length} aliases. The maximum is ${MAX_ALIASES}, and this is one more.`;
    return [yaml.#place([], ...startOf(extra), message, 'use "defaults" or "vars" for what policies share')];
  }

  #checkedAliases(): YamlFile | Diagnostic[] {
    try {
      this.value();
      return this;
    } catch {
      return [fileDiagnostic(this.file, 'The aliases of the file expand to too many values.')];
    }
  }

  /**
   * Returns the content as plain values. `scalar` may replace each scalar; it gets the value and its path.
   */
  value(scalar?: (value: unknown, path: Path) => unknown): unknown {
    // Cached, because a file with many policies is read once per policy.
    this.#plain ??= { value: mapScalars(this.#document.toJS({ maxAliasCount: MAX_ALIASES + 1 }), same, []) };
    return scalar ? mapScalars(this.#plain.value, scalar, []) : this.#plain.value;
  }

  /**
   * Adds line, column and code frame to a remark. If the path does not exist, uses its longest existing part.
   */
  finding(path: Path, { message, suggestion, at = 'value', offset, form }: Remark): Diagnostic {
    const [start, end] = this.#span(path, at, offset);
    // It is better than a guess at what was meant.
    const quotes = /^(did you mean|write) /i.test(suggestion ?? 'write ') && this.typographicQuotes(path, at);
    const diagnostic = this.#place(path, start, end, message, quotes || suggestion);
    return form ? { ...diagnostic, form: true } : diagnostic;
  }

  /**
   * Returns a scalar as it is written in the file, without quotes; undefined for a list, a mapping or a
   * missing value.
   */
  sourceOf(path: Path): string | undefined {
    let node: Node | null = this.#document.contents;
    for (const part of path) node = childOf(resolved(node, this.#document), part)?.value ?? null;
    const scalar = resolved(node, this.#document);
    return isScalar(scalar) ? scalar.source : undefined;
  }

  /**
   * What to write where a text has the quotes of a word processor around it, which are a part of the text for YAML;
   * undefined where it has none.
   */
  typographicQuotes(path: Path, at: 'key' | 'value' = 'value'): string | undefined {
    let node: Node | null = this.#document.contents;
    let key: Node | null = null;
    for (const part of path) {
      const next = childOf(resolved(node, this.#document), part);
      if (!next) return undefined;
      ({ key, value: node } = next);
    }
    const found = resolved(at === 'key' ? key : node, this.#document);
    return (isSeq(found) ? found.items : [found])
      .map((one) => isScalar(one) && one.type === 'PLAIN' && insteadOfTypographic(one.source ?? '', at))
      .find((one) => typeof one === 'string');
  }

  /** The line of a value, or of the longest part of its path that exists. The first line is 1. */
  lineOf(path: Path): number {
    return this.#lines.linePos(this.#span(path, 'value', undefined)[0]).line;
  }

  /** The position of a value, for findings that refer to a second position: `config/a.yaml:3:5`. */
  placeOf(path: Path): string {
    const { line, col } = this.#lines.linePos(this.#span(path, 'value', undefined)[0]);
    return `${shortFile(this.file)}:${line}:${col}`;
  }

  #span(path: Path, at: 'key' | 'value', offset: number | undefined): [number, number] {
    let node: Node | null = this.#document.contents;
    let span: [number, number] = startOf(node);
    for (const [i, part] of path.entries()) {
      const next = childOf(resolved(node, this.#document), part);
      if (!next) return span;
      const wanted = at === 'key' && i === path.length - 1 ? next.key : (next.value ?? next.key);
      span = startOf(wanted ?? null);
      node = next.value;
    }
    if (offset === undefined || !isScalar(node)) return span;
    const start = sourceOffset(this.text, node as Scalar & { range: Range }, offset);
    return [start, start + 1];
  }

  #fault(code: string, message: string, [start, end]: [number, number]): Diagnostic {
    if (code === 'DUPLICATE_KEY') {
      const key = /^[^\s:]+/.exec(this.text.slice(start, start + 100))?.[0] ?? 'A key';
      const message = `${key} is defined twice in the same map.`;
      return this.#place([], start, start + key.length, message, 'keep only one');
    }
    if (code === 'MULTIPLE_DOCS') {
      const message = 'A second YAML document starts here. A file must contain only one.';
      return this.#place([], start, start + 3, message, 'merge both, or move this one to its own file');
    }
    const clean = (message.split('\n')[0] ?? '').replace(/[.:]$/, '');
    return this.#place([], start, end, `This is not valid YAML: ${clean}.`, remedies[code]);
  }

  #place(
    path: Path,
    start: number,
    end: number,
    message: string,
    suggestion: string | undefined,
  ): Diagnostic {
    const { line, col } = this.#lines.linePos(Math.min(start, this.text.length));
    const oneLine = this.text.slice(start, end).split('\n')[0]?.trimEnd() ?? '';
    return {
      file: this.file,
      line: Math.max(line, 1),
      column: Math.max(col, 1),
      path: visible(pathText(path)),
      message: visible(message, '\n\t'),
      ...(suggestion === undefined ? {} : { suggestion: visible(suggestion, '\n\t') }),
      frame: frameOf(this.text, Math.max(line, 1), Math.max(col, 1), oneLine.length),
    };
  }
}

interface Fault {
  code: string;
  message: string;
  pos: [number, number];
}

/** Finds the keys that the same map has already. */
function duplicateKeys(document: Document.Parsed): Fault[] {
  const faults: Fault[] = [];
  visit(document, {
    Map: (_key, map) => {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        const name = isScalar(key) ? key.value : key;
        if (seen.has(name))
          faults.push({ code: 'DUPLICATE_KEY', message: '', pos: startOf(key as Node | null) });
        seen.add(name);
      }
    },
  });
  return faults;
}

/** What helps with errors of the parser, by their code. */
const remedies: Readonly<Record<string, string>> = {
  BAD_SCALAR_START: 'quote the text',
  BLOCK_AS_IMPLICIT_KEY: 'quote a text that has ": " in it, or correct the indentation',
  NON_STRING_KEY: 'quote a text that starts with { or [',
  TAB_AS_INDENT: 'indent with spaces',
  TAG_RESOLVE_FAILED: 'remove the tag, or quote the text',
};

const insteadOfMerging = 'write the keys out; policies of a file share keys by "defaults"';

/** What follows the first errors of the parser mostly follows from them. */
const MAX_SYNTAX_FAULTS = 3;

function onePerLine(faults: readonly Fault[], lines: LineCounter): Fault[] {
  const lineOf = ({ pos }: Fault) => lines.linePos(pos[0]).line;
  const ofFile = ({ code }: Fault) => code === 'DUPLICATE_KEY' || code === 'MULTIPLE_DOCS';
  const syntax = faults.filter((fault) => !ofFile(fault));
  const first = syntax.filter((fault, at) => at === 0 || lineOf(fault) !== lineOf(syntax[at - 1] ?? fault));
  const shown = new Set(first.slice(0, MAX_SYNTAX_FAULTS));
  return faults.filter((fault) => ofFile(fault) || shown.has(fault));
}

/**
 * Forms that are no YAML, or another one than they look, and for which the parser reports several errors that do not
 * help. Each expression finds in a line what comes before the place, and the place.
 */
const causes: readonly { form: RegExp; message: string; suggestion: (found: string) => string }[] = [
  {
    form: /^()((?:<{7}|\|{7}|>{7})(?: .*)?$|={7}$)/,
    message: 'A merge conflict of git was left here.',
    suggestion: () => 'keep one of the two parts, and delete the lines with <<<<<<<, ======= and >>>>>>>',
  },
  {
    form: /^()(@@ -\d.*@@|(?:---|\+\+\+) [ab]\/.*)/,
    message: 'This is a patch, not the file that it changes.',
    suggestion: () => 'apply it with "git apply" or "patch"',
  },
  {
    form: /^()(```.*)/,
    message: 'This line belongs to a text around the file (Markdown).',
    suggestion: () => 'remove it',
  },
  {
    // `{{ .Values.x }}`, `{{- if`, `{% for`, `<% each`: of Helm, Go, Jinja, ERB.
    form: /^(.*?)(\{\{-.*|\{\{~?\s*(?:[.$]|(?:if|else|end|range|with|include|template|define|toYaml|#|\/)\b).*|\{%.*|<%.*)/,
    message: 'This is a template of another tool, and Caretaker does not render it.',
    suggestion: () => 'render it first, or use "vars" and "matrix"',
  },
  {
    form: /^((?:[^"'#]*[:,[-]\s*)?)(\{\{[^}]*\}\}.*)/,
    message: 'In YAML, a text that starts with "{{" is a map.',
    suggestion: () => 'quote the whole text',
  },
  {
    // `*`, or `*` with a step, at the start of a value, followed by four more fields.
    form: /((?:^|[\s{[,]))(\*(?:\/\d+)?(?:[ \t]+[\w*/,#?-]+){3}[ \t]+[\w*/#?-]+)/,
    message: 'In YAML, a string that starts with "*" is an alias.',
    suggestion: (cron) => `quote the cron expression: "${cron}"`,
  },
];

/** The form that is the cause of errors, in the first line with an error that has one, or before it. */
function causeOf(text: string, faults: readonly { pos: [number, number] }[]) {
  const [first] = faults;
  if (!first) return undefined;
  const wrong = new Set(faults.map(({ pos }) => text.lastIndexOf('\n', pos[0] - 1) + 1));
  let lineStart = 0;
  for (const line of text.split('\n')) {
    for (const { form, message, suggestion } of causes) {
      // Marks of a whole line are the cause of errors in other lines as well.
      if (!wrong.has(lineStart) && !form.source.startsWith('^()')) continue;
      const found = form.exec(line.trimEnd());
      const [, before = '', what = ''] = found ?? [];
      const start = lineStart + (found?.index ?? 0) + before.length;
      if (found) return { start, end: start + what.length, message, suggestion: suggestion(what) };
    }
    lineStart += line.length + 1;
  }
  return undefined;
}

function resolved(node: Node | null, document: Document.Parsed): Node | null {
  return isAlias(node) ? (node.resolve(document) ?? null) : node;
}

function childOf(node: Node | null, part: PropertyKey): { key: Node | null; value: Node | null } | undefined {
  if (isSeq(node) && typeof part === 'number') {
    const value = node.items[part] as Node | undefined;
    return value ? { key: value, value } : undefined;
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
  return pair ? { key: pair.key as Node, value: pair.value as Node | null } : undefined;
}

/** The range of a key or scalar; for a list or mapping, only its first character. */
function startOf(node: Node | null): [number, number] {
  const range = node?.range;
  if (!range) return [0, 1];
  return isScalar(node) ? [range[0], range[1]] : [range[0], range[0] + 1];
}

const same = (value: unknown): unknown => value;

function mapScalars(value: unknown, change: (value: unknown, path: Path) => unknown, path: Path): unknown {
  if (Array.isArray(value)) return value.map((inner, i) => mapScalars(inner, change, [...path, i]));
  if (value === null || typeof value !== 'object') return change(value, path);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, mapScalars(inner, change, [...path, key])]),
  );
}
