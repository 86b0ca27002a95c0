/**
 * A YAML file of the operator, parsed safely, with the position of each value.
 *
 * The size and the number of aliases are limited. Custom tags, merge keys and duplicate keys are rejected.
 * Dates stay strings (`2026-12-20`), as in the core schema of YAML 1.2.
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
    const unquoted = unquotedCron(prepare(text), faults);
    if (unquoted)
      return [yaml.#place([], unquoted.start, unquoted.end, unquoted.message, unquoted.suggestion)];
    if (faults.length > 0) return faults.map(({ code, message, pos }) => yaml.#fault(code, message, pos));
    let aliases = 0;
    visit(document, { Alias: () => void aliases++ });
    return aliases > MAX_ALIASES
      ? [fileDiagnostic(file, `The file uses ${aliases} aliases. The maximum is ${MAX_ALIASES}.`)]
      : yaml.#checkedAliases();
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
    this.#plain ??= { value: mapScalars(this.#document.toJS({ maxAliasCount: MAX_ALIASES }), same, []) };
    return scalar ? mapScalars(this.#plain.value, scalar, []) : this.#plain.value;
  }

  /**
   * Adds line, column and code frame to a remark. If the path does not exist, uses its longest existing part.
   */
  finding(path: Path, { message, suggestion, at = 'value', offset, form }: Remark): Diagnostic {
    const [start, end] = this.#span(path, at, offset);
    const diagnostic = this.#place(path, start, end, message, suggestion);
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

/**
 * Finds an unquoted cron expression that starts with `*`. To YAML it is an alias, and the parser reports
 * several errors that do not help.
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

/** `*`, or `*` with a step, at the start of a value, followed by four more fields. */
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
