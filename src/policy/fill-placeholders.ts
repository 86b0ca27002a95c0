/** Replaces placeholders in a value of a policy file, and looks up the variables that they name. */
import { suggestionFor } from '../suggest.ts';
import type { Path, Remark } from '../yaml/yaml-file.ts';
import { childOf, type LocatedValue, locate, scalarAt, type TextPart, type Use } from './located-value.ts';
import { type Piece, piecesOf } from './placeholders.ts';

/** The value that a placeholder names, or why there is none. */
export type Lookup = (names: readonly [string, ...string[]]) => LocatedValue | Remark;

/** A value as it is written in the file: numbers in a text keep their form, such as 8.10. */
export type SourceOf = (path: Path) => string | undefined;

/** The maximum size of one expanded value. It stops variables that multiply each other. */
const MAX_SIZE = 256 * 1024;

/** The maximum number of variables that use each other in a row. */
const MAX_DEPTH = 50;

/** `value`, which stands at `place`, with its placeholders replaced. */
export const expandValue = (
  value: unknown,
  place: Path,
  parts: { lookup: Lookup; sourceOf: SourceOf },
): LocatedValue =>
  locate(value, place, (inner, at) =>
    typeof inner === 'string' ? expandText(inner, at, parts) : scalarAt(inner, at),
  );

interface TextParts {
  lookup: Lookup;
  sourceOf: SourceOf;
  /** Changes what is put into the text. */
  format?: (text: string) => string;
}

/** A text with its placeholders replaced. */
export function expandText(text: string, place: Path, parts: TextParts): LocatedValue {
  if (!text.includes('${{')) return scalarAt(text, place);
  const pieces = piecesOf(text);
  const [first] = pieces;
  if (!parts.format && pieces.length === 1 && first?.is === 'placeholder')
    return expandWhole(text, place, first.names, parts.lookup);
  const faults: Remark[] = [];
  const uses: Use[] = [];
  const starts: TextPart[] = [];
  let expanded = '';
  let isBroken = false;
  for (const piece of pieces) {
    const found = expandPiece(piece, parts);
    starts.push({
      start: expanded.length,
      writtenStart: piece.start,
      ...(found.use && { use: found.use }),
    });
    expanded += found.text ?? '';
    if (found.use) uses.push(found.use);
    if (found.fault) faults.push({ ...found.fault, offset: piece.start });
    if (found.text === undefined) isBroken = true;
    if (expanded.length > MAX_SIZE) return tooLargeAt(place);
  }
  if (isBroken) return { ...scalarAt(text, place), faults, isBroken };
  return { ...scalarAt(expanded, place), pieces: starts, ...(uses.length > 0 && { uses }) };
}

/** The text of a piece. Without one it is broken; without a fault, that is reported elsewhere. */
function expandPiece(
  piece: Piece,
  { lookup, sourceOf, format = (text) => text }: TextParts,
): { text?: string; use?: Use; fault?: Remark } {
  if (piece.is === 'text') return { text: piece.text };
  if (piece.is === 'fault') return { fault: piece.remark };
  const name = piece.names.join('.');
  const found = lookup(piece.names);
  if ('message' in found) return { fault: found };
  if (found.isBroken) return {};
  const text = textOf(found, name, sourceOf);
  if (typeof text !== 'string') return { fault: text };
  return { text: format(text), use: { name, written: found.written, isWhole: false } };
}

/** A placeholder that is the whole value: it keeps the type of what it names. */
function expandWhole(
  text: string,
  place: Path,
  names: readonly [string, ...string[]],
  lookup: Lookup,
): LocatedValue {
  const found = lookup(names);
  if ('message' in found)
    return { ...scalarAt(text, place), faults: [{ ...found, offset: 0 }], isBroken: true };
  if (found.isBroken) return { ...scalarAt(text, place), isBroken: true };
  const { faults, pieces, ...value } = found;
  return { ...value, place, uses: [{ name: names.join('.'), written: found.written, isWhole: true }] };
}

const tooLarge: Remark = { message: 'This expands to more than 256 KiB.' };

const tooLargeAt = (place: Path): LocatedValue => ({
  ...scalarAt(null, place),
  faults: [tooLarge],
  isBroken: true,
});

/** A value inside a text, or why it cannot be there. */
function textOf({ content, written }: LocatedValue, name: string, sourceOf: SourceOf): string | Remark {
  if (content.kind !== 'scalar')
    return { message: `${name} is a ${content.kind}, which cannot be put into a string.` };
  const { value } = content;
  if (value === null) return { message: `${name} is null, which cannot be put into a string.` };
  return typeof value === 'string' ? value : (sourceOf(written) ?? String(value));
}

/** The variables of a file, each expanded when it is first used. `unused`: those that no policy uses. */
export function variablesOf(vars: Readonly<Record<string, unknown>>, sourceOf: SourceOf) {
  const raw = new Map(Object.entries(vars));
  /** The variables that each variable uses; at "", those that policies use. */
  const uses = new Map<string, Set<string>>();
  const known = new Map<string, LocatedValue>();
  const open: string[] = [];

  const lookup: Lookup = ([scope, name = '', ...inner]) => {
    if (scope !== 'vars')
      return { message: `"${scope}" is not available here: only a policy or "defaults" can use it.` };
    const user = open.at(-1) ?? '';
    uses.set(user, (uses.get(user) ?? new Set()).add(name));
    const value = known.get(name) ?? expanded(name);
    return 'message' in value ? value : valueIn(value, `vars.${name}`, inner);
  };

  const expanded = (name: string): LocatedValue | Remark => {
    if (!raw.has(name)) return notFound('vars', name, [...raw.keys()]);
    if (open.includes(name)) {
      const loop = [...open.slice(open.indexOf(name)), name].map((one) => `vars.${one}`);
      return { message: `This is a circular reference: ${loop.join(' → ')}.` };
    }
    if (open.length >= MAX_DEPTH)
      return { message: `More than ${MAX_DEPTH} variables use each other in a row.` };
    open.push(name);
    const value = expandValue(raw.get(name), ['vars', name], { lookup, sourceOf });
    open.pop();
    const kept = value.size > MAX_SIZE ? tooLargeAt(['vars', name]) : value;
    known.set(name, kept);
    return kept;
  };

  const unused = (): string[] => {
    const used = new Set<string>(uses.get(''));
    // Iterating over a set includes what is added meanwhile.
    for (const name of used) for (const inner of uses.get(name) ?? []) used.add(inner);
    return [...raw.keys()].filter((name) => !used.has(name));
  };

  return { lookup, all: () => [...raw.keys()].map((name) => known.get(name) ?? expanded(name)), unused };
}

/** What is at the names below a value: `id` of `vars.client.id`. */
export function valueIn(value: LocatedValue, name: string, inner: readonly string[]): LocatedValue | Remark {
  if (value.isBroken) return value;
  const [part, ...more] = inner;
  if (part === undefined) return value;
  const { content } = value;
  const next = childOf(value, content.kind === 'list' ? Number(part) : part);
  if (next) return valueIn(next, `${name}.${part}`, more);
  if (content.kind !== 'map') return { message: `There is no "${part}" in ${name}, which is no map.` };
  return notFound(name, part, [...content.entries.keys()]);
}

export const notFound = (holder: string, part: string, available: readonly string[]): Remark => ({
  message: `There is no "${part}" in ${holder}.`,
  suggestion: suggestionFor(part, available),
});
