/** Where an error in an expanded policy is shown: at the text that a person has to change. */
import type { Diagnostic } from '../yaml/diagnostic.ts';
import type { Path, Remark, YamlFile } from '../yaml/yaml-file.ts';
import type { ExpandedPolicy } from './expand-file.ts';
import { follow, type LocatedValue, type Use } from './located-value.ts';

/**
 * A remark about a value of an expanded policy, with its place: in the policy itself, in `defaults`, or at
 * the placeholder that the value comes from, which the message then names.
 */
export function diagnosticAt(
  yaml: YamlFile,
  expanded: ExpandedPolicy,
  inner: Path,
  remark: Remark,
): Diagnostic {
  const { value, rest, used } = follow(expanded.root, inner);
  const part = used && used !== value ? undefined : partAt(value, remark.offset);
  const { offset: _, at, ...given } = remark;
  const form = remark.form && hasOwnForm(expanded, inner, remark);
  const plain = { ...given, form };
  const offset = value.pieces || used ? part?.writtenOffset : remark.offset;
  const placed = { ...plain, ...(offset !== undefined && { offset }) };
  if (!used) return yaml.finding([...value.place, ...rest], { ...placed, ...(at && { at }) });
  const uses = part?.use ? [part.use] : (used.uses ?? []);
  const isWhole = uses.some((use) => use.isWhole);
  return yaml.finding(used.place, {
    ...placed,
    ...(!isWhole && { at }),
    message: `${remark.message} ${sourceSentence(uses, yaml)}`,
  });
}

/**
 * Whether the file shows the form of a value where it stands: no placeholder stands for it, and `defaults` has no
 * part in it.
 */
function hasOwnForm(
  { root, path, hasDefaults }: ExpandedPolicy,
  inner: Path,
  { at, missing }: Remark,
): boolean {
  const { value, rest } = follow(root, inner);
  const isKey = at === 'key';
  // The key itself is written, whatever its value is. That of a map from a variable has the place of the map.
  if (isKey && rest.length === 0 && value.place.at(-1) !== inner.at(-1)) return false;
  const judged = follow(root, isKey ? inner.slice(0, -1) : inner);
  if (judged.used || judged.value.pieces || value.place[0] !== path[0]) return false;
  const isNull = rest.length === 0 && value.content.kind === 'scalar' && value.content.value === null;
  return !hasDefaults || (missing === undefined && !isNull);
}

/** Whether a value has no placeholder, or is missing. */
export const isLiteral = ({ root }: ExpandedPolicy, inner: Path): boolean => {
  const { value, used } = follow(root, inner);
  return !used && !value.pieces;
};

/** Whether a value could not be expanded, so that any error in it has been reported. */
export function isBrokenAt({ root }: ExpandedPolicy, inner: Path): boolean {
  const { value } = follow(root, inner);
  return value.content.kind === 'scalar' && value.isBroken === true;
}

/** The scalar of an expanded policy as it is written in its file. */
export const sourceIn = (yaml: YamlFile, { root }: ExpandedPolicy, inner: Path): string | undefined => {
  const { value, rest } = follow(root, inner);
  return rest.length === 0 ? yaml.sourceOf(value.written) : undefined;
};

/** What to write for a text with typographic quotes around it (`YamlFile.typographicQuotes`). */
export const typographicIn = (yaml: YamlFile, { root }: ExpandedPolicy, inner: Path): string | undefined => {
  const { value, rest } = follow(root, inner);
  return rest.length === 0 ? yaml.typographicQuotes(value.written) : undefined;
};

/** The part of a text that a character of it is in, and where it is in the file. */
function partAt({ pieces }: LocatedValue, offset: number | undefined) {
  if (offset === undefined) return undefined;
  const part = pieces?.findLast(({ start }) => start <= offset);
  return part && { ...part, writtenOffset: part.writtenStart + (part.use ? 0 : offset - part.start) };
}

function sourceSentence(uses: readonly Use[], yaml: YamlFile): string {
  const names = uses.map(({ name, written }) => `${name} (${yaml.placeOf(written)})`);
  const distinct = [...new Set(names)].slice(0, 3).join(' and ');
  return uses.some(({ isWhole }) => isWhole)
    ? `The value is from ${distinct}.`
    : `The text contains ${distinct}.`;
}
