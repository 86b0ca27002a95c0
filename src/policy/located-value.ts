/**
 * A value of a policy file that remembers where each part was written, so that errors in an expanded policy
 * point to the text that causes them.
 */
import type { Path, Remark } from '../yaml/yaml-file.ts';

export interface LocatedValue {
  /** Where an error in this value is shown: for a placeholder, the place where it is used. */
  place: Path;
  /** Where the value itself was written. */
  written: Path;
  /** The placeholders that the value comes from. */
  uses?: readonly Use[];
  /** For a text with placeholders in it: where its parts start, here and in the file. */
  pieces?: readonly TextPart[];
  /** What is wrong with its own text. */
  faults?: readonly Remark[];
  /** Whether it, or a value in it, cannot be expanded. */
  isBroken?: boolean;
  content:
    | { kind: 'scalar'; value: unknown }
    | { kind: 'list'; items: readonly LocatedValue[] }
    | { kind: 'map'; entries: ReadonlyMap<string, LocatedValue> };
  /** Characters and values in it, an upper bound of what the plain value takes. */
  size: number;
}

/** A part of an expanded text; without `use` it is as in the file. */
export interface TextPart {
  start: number;
  writtenStart: number;
  use?: Use;
}

export interface Use {
  /** `vars.region` */
  name: string;
  written: Path;
  /** Whether the placeholder is the whole value. */
  isWhole: boolean;
}

/** A plain value that stands at `place`. `scalar` may replace single values. */
export function locate(
  value: unknown,
  place: Path,
  scalar: (value: unknown, place: Path) => LocatedValue = scalarAt,
): LocatedValue {
  if (Array.isArray(value))
    return listOf(
      value.map((item, i) => locate(item, [...place, i], scalar)),
      place,
    );
  if (typeof value !== 'object' || value === null) return scalar(value, place);
  return mapOf(
    Object.entries(value).map(([key, inner]) => [key, locate(inner, [...place, key], scalar)]),
    place,
  );
}

export const scalarAt = (value: unknown, place: Path): LocatedValue => ({
  place,
  written: place,
  content: { kind: 'scalar', value },
  size: 1 + (typeof value === 'string' ? value.length : 0),
});

const listOf = (items: readonly LocatedValue[], place: Path): LocatedValue => ({
  place,
  written: place,
  content: { kind: 'list', items },
  size: items.reduce((sum, { size }) => sum + size, 1),
  isBroken: items.some(({ isBroken }) => isBroken),
});

export function mapOf(entries: Iterable<readonly [string, LocatedValue]>, place: Path): LocatedValue {
  const map = new Map(entries);
  let size = 1;
  for (const [key, inner] of map) size += key.length + inner.size;
  const isBroken = [...map.values()].some((inner) => inner.isBroken);
  return { place, written: place, content: { kind: 'map', entries: map }, size, isBroken };
}

export function plainOf({ content }: LocatedValue): unknown {
  if (content.kind === 'scalar') return content.value;
  if (content.kind === 'list') return content.items.map(plainOf);
  return Object.fromEntries([...content.entries].map(([key, inner]) => [key, plainOf(inner)]));
}

/**
 * `over` merged into `under`: maps key by key, everything else is replaced. `null` in `over` removes a key of
 * `under`.
 */
export function merged(under: LocatedValue, over: LocatedValue): LocatedValue {
  if (under.content.kind !== 'map' || over.content.kind !== 'map') return over;
  const entries = new Map(partsOf(under));
  for (const [key, inner] of partsOf(over)) {
    const standard = entries.get(key);
    if (standard && isNull(inner)) entries.delete(key);
    else entries.set(key, standard ? merged(standard, inner) : inner);
  }
  return mapOf(entries, over.place);
}

const isNull = ({ content }: LocatedValue): boolean => content.kind === 'scalar' && content.value === null;

/** The entries of a map. Those of a map that a placeholder stands for are shown where it is used. */
function partsOf({ content, uses, place }: LocatedValue): [string, LocatedValue][] {
  if (content.kind !== 'map') return [];
  const entries = [...content.entries];
  if (!uses) return entries;
  return entries.map(([key, inner]) => [key, { ...inner, place, uses: [...uses, ...(inner.uses ?? [])] }]);
}

export function childOf({ content }: LocatedValue, part: PropertyKey): LocatedValue | undefined {
  if (content.kind === 'list') return typeof part === 'number' ? content.items[part] : undefined;
  return content.kind === 'map' ? content.entries.get(String(part)) : undefined;
}

/** The value at a path, and the first value on the way to it that a placeholder stands for. */
export function follow(
  root: LocatedValue,
  path: Path,
): { value: LocatedValue; rest: Path; used: LocatedValue | undefined } {
  let value = root;
  let used: LocatedValue | undefined;
  for (const [i, part] of path.entries()) {
    if (value.uses) used ??= value;
    const next = childOf(value, part);
    if (!next) return { value, rest: path.slice(i), used };
    value = next;
  }
  return { value, rest: [], used: used ?? (value.uses && value) };
}

/** Every value in a value, itself included. */
export function* valuesIn(value: LocatedValue): Generator<LocatedValue> {
  yield value;
  const { content } = value;
  if (content.kind === 'scalar') return;
  for (const inner of content.kind === 'list' ? content.items : content.entries.values())
    yield* valuesIn(inner);
}
