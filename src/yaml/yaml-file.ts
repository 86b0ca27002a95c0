/**
 * A YAML file of the operator, read safely, that can tell where each of its values stands.
 *
 * Safely: bounded in size and in aliases, no tags but the plain ones, no merge keys, no key given twice. Days
 * stay texts (`2026-12-20`), as in YAML 1.2's core schema.
 */
import {
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
import { frameOf } from './code-frame.ts';
import { type Diagnostic, fileDiagnostic, pathText, shortFile } from './diagnostic.ts';
import { sourceOffset } from './scalar-offset.ts';
import { readTextFile } from './text-file.ts';

const mostAliases = 50;

export type Path = readonly PropertyKey[];
/** A finding in the making: everything but the place. */
export interface Remark {
  message: string;
  suggestion?: string | undefined;
  /** Whether the key is at fault or its value; default the value. */
  at?: 'key' | 'value';
  /** So many characters into the value's text. */
  offset?: number;
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
   * Reads a file. Gives findings instead when it is missing, too large, no text or no YAML we take. Never
   * throws.
   *
   * `prepare` may change the text before it is parsed, but not its length: places are those of the file.
   */
  static read(file: string, prepare?: (text: string) => string): YamlFile | Diagnostic[] {
    const read = readTextFile(file);
    return 'text' in read ? YamlFile.parse(file, read.text, prepare) : read.findings;
  }

  /** Like `read`, of a text that is at hand already; `file` is what findings call it. */
  static parse(file: string, text: string, prepare = (raw: string) => raw): YamlFile | Diagnostic[] {
    const lines = new LineCounter();
    const document = parseDocument(prepare(text), {
      lineCounter: lines,
      prettyErrors: false,
      schema: 'core',
      merge: false,
      resolveKnownTags: false,
      stringKeys: true,
      // Not 'silent': that would also hide a second document, whose policies would be missing unnoticed.
      logLevel: 'error',
    });
    const yaml = new YamlFile(file, text, document, lines);
    const faults = [...document.errors, ...document.warnings].slice(0, 20);
    const unquoted = unquotedCron(prepare(text), faults);
    if (unquoted)
      return [yaml.#place([], unquoted.start, unquoted.end, unquoted.message, unquoted.suggestion)];
    if (faults.length > 0) return faults.map(({ code, message, pos }) => yaml.#fault(code, message, pos));
    let aliases = 0;
    visit(document, { Alias: () => void aliases++ });
    return aliases > mostAliases
      ? [fileDiagnostic(file, `The file uses ${aliases} aliases; more than ${mostAliases} are refused.`)]
      : yaml.#unfolded();
  }

  #unfolded(): YamlFile | Diagnostic[] {
    try {
      this.value();
      return this;
    } catch {
      return [fileDiagnostic(this.file, 'The aliases of the file unfold into too much and were refused.')];
    }
  }

  /**
   * What the file holds as plain values, the same for every caller; `scalar` may replace single values, told
   * by their path.
   */
  value(scalar?: (value: unknown, path: Path) => unknown): unknown {
    // A file of many policies is asked once for each of them.
    this.#plain ??= { value: mapScalars(this.#document.toJS({ maxAliasCount: mostAliases }), same, []) };
    return scalar ? mapScalars(this.#plain.value, scalar, []) : this.#plain.value;
  }

  /**
   * A remark with its place: line, column and frame. A path that leads nowhere is placed where it breaks off.
   */
  finding(path: Path, { message, suggestion, at = 'value', offset }: Remark): Diagnostic {
    const [start, end] = this.#span(path, at, offset);
    return this.#place(path, start, end, message, suggestion);
  }

  /**
   * A value as it is written in the file, without its quotes; nothing for a list, a map, or where there is
   * none.
   */
  sourceOf(path: Path): string | undefined {
    let node: Node | null = this.#document.contents;
    for (const part of path) node = childOf(resolved(node, this.#document), part)?.value ?? null;
    const scalar = resolved(node, this.#document);
    return isScalar(scalar) ? scalar.source : undefined;
  }

  /** Where a key or value stands, for findings that point to a second place: `config/a.yaml:3:5`. */
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
      const message = `${key} is given twice in the same map.`;
      return this.#place([], start, start + key.length, message, 'keep one of them');
    }
    if (code === 'MULTIPLE_DOCS') {
      const message = 'The file contains a second YAML document, which starts here.';
      return this.#place(
        [],
        start,
        start + 3,
        message,
        'make one of the two, or put it into a file of its own',
      );
    }
    const clean = (message.split('\n')[0] ?? '').replace(/[.:]$/, '');
    return this.#place([], start, end, `This is not valid YAML: ${clean}.`, undefined);
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

/**
 * A cron expression that begins with `*` and stands without quotes: to YAML such a text is an alias, and what
 * the parser says about that, several times over, helps nobody.
 */
function unquotedCron(text: string, faults: readonly { pos: [number, number] }[]) {
  for (const { pos } of faults) {
    const lineStart = text.lastIndexOf('\n', pos[0] - 1) + 1;
    const line = text.slice(lineStart).split('\n')[0] ?? '';
    const found = unquotedFields.exec(line);
    if (!found) continue;
    const [, before = '', cron = ''] = found;
    const start = lineStart + found.index + before.length;
    const message = 'In YAML, a string that starts with "*" is an alias.';
    return { start, end: start + cron.length, message, suggestion: `quote the cron expression: "${cron}"` };
  }
  return undefined;
}

/** `*` or `*` with a step where a value may begin, and four more fields. */
const unquotedFields = /(^|[\s{[,])(\*(?:\/\d+)?(?:[ \t]+[\w*/,#?-]+){3}[ \t]+[\w*/#?-]+)/;

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

/** A key or scalar is marked whole, a list or map at its beginning only. */
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
