/**
 * Validates a value against its schema, and turns each problem into a finding: one sentence with a position.
 */
import { z } from 'zod';
import { isHolder, isOfForm, protoKeysIn } from '../schema-issue.ts';
import { suggestionFor } from '../suggest.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { Path, Remark } from './yaml-file.ts';

// Finds the parts of a zod schema, and their keys, that apply to a path in a value.

/** All schemas that may apply at `path`. A union has several. */
export function schemasAt(schema: z.core.$ZodType, path: Path): z.core.$ZodType[] {
  return path.reduce<z.core.$ZodType[]>(
    (schemas, part) => schemas.flatMap((one) => childrenOf(one, part)),
    unwrapped(schema),
  );
}

/** The keys an object schema declares. */
export const keysOf = (schema: z.core.$ZodType): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];

function childrenOf(schema: z.core.$ZodType, part: PropertyKey): z.core.$ZodType[] {
  if (schema instanceof z.ZodObject) {
    const shape: Record<PropertyKey, z.core.$ZodType | undefined> = schema.shape;
    const child = Object.hasOwn(shape, part) ? shape[part] : undefined;
    return child ? unwrapped(child) : [];
  }
  if (schema instanceof z.ZodArray) return unwrapped(schema.element);
  if (schema instanceof z.ZodRecord) return unwrapped(schema.valueType);
  return [];
}

/** Unwraps optional, default, transform and similar wrappers, and splits unions. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(unwrapped);
  if (schema instanceof z.ZodPipe) return unwrapped(schema.in);
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
  ) {
    return unwrapped(schema.unwrap());
  }
  return [schema];
}

/** A file with thousands of errors is of another kind; the first ones show that. */
const MAX_FINDINGS = 100;

export type Read<T> = { value: T } | { findings: Diagnostic[] };
/** Adds the position in a file to a remark, for example `YamlFile.finding`. */
export type Place = (path: Path, remark: Remark) => Diagnostic;

/**
 * Returns the value as parsed by `schema`, or all findings.
 *
 * `path` is the path of the value in the root of `place`. `above` is the path of that root, used only in the
 * sentences. Sentences never contain a value, because it may come from a variable and be a secret.
 */
export function readStrictly<S extends z.ZodType>(
  schema: S,
  value: unknown,
  place: Place,
  path: Path = [],
  above: Path = [],
): Read<z.output<S>> {
  const read = schema.safeParse(value, { error: predicate });
  const dropped = droppedFrom(schema, value);
  if (read.success && dropped.length === 0) return { value: read.data };
  const all = [
    ...(read.error?.issues ?? [])
      .flatMap((issue) => flattened(issue))
      .flatMap((issue) =>
        remarks(issue, schema, value, [...above, ...path]).map(
          ([inner, remark]): Found => [inner, { ...remark, form: isOfForm(issue) }],
        ),
      ),
    ...dropped,
  ].slice(0, MAX_FINDINGS);
  const findings = all
    .filter((one, at) => !isMisspelt(one, all) && !isOfWrongKind(one, all.slice(0, at)))
    .map(([inner, remark]) => place([...path, ...inner], remark));
  return { findings };
}

/** Finds the keys that zod drops silently from records. In objects, zod reports them itself. */
const droppedFrom = (schema: z.ZodType, value: unknown): Found[] =>
  protoKeysIn(value)
    .filter((path) => schemasAt(schema, path.slice(0, -1)).some((holder) => holder instanceof z.ZodRecord))
    .map((path) => [path, { at: 'key', message: `"${path.at(-1)}" is not a known key.`, form: true }]);

/** Whether a missing key exists with a misspelled name, which is already reported. */
function isMisspelt([path, { missing = [] }]: Found, all: readonly Found[]): boolean {
  const meant = missing.map((key) => `did you mean ${key}?`);
  const map = JSON.stringify(path.slice(0, -1));
  return all.some(
    ([other, { suggestion = '' }]) =>
      meant.includes(suggestion) && JSON.stringify(other.slice(0, -1)) === map,
  );
}

/** Whether the type of the value is already reported as wrong. Further problems of it are not reported. */
const isOfWrongKind = ([path]: Found, before: readonly Found[]): boolean =>
  before.some(([other, { isWrongKind }]) => isWrongKind && JSON.stringify(other) === JSON.stringify(path));

type Issue = z.core.$ZodIssue;
type Found = [Path, Remark & { isWrongKind?: true }];

/** For a union, returns the issues of the closest option, or the issue of the union if no option is close. */
function flattened(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const inside = issue.errors.filter((issues) =>
    issues.every((one) => one.path.length > 0 || !isWrongKind(one)),
  );
  const [nearest] = inside.toSorted((a, b) => a.length - b.length);
  if (!nearest) return [issue];
  return nearest.flatMap((one) => flattened({ ...one, path: [...issue.path, ...one.path] }));
}

/** Whether the value has a type that the option does not accept, so that the option was not intended. */
const isWrongKind = (issue: Issue): boolean =>
  issue.code === 'invalid_type' ||
  issue.code === 'invalid_value' ||
  (issue.code === 'invalid_union' &&
    issue.errors.every((issues) => issues.some((one) => one.path.length === 0 && isWrongKind(one))));

function remarks(issue: Issue, schema: z.ZodType, value: unknown, before: Path): Found[] {
  if (issue.code === 'unrecognized_keys') {
    const known = schemasAt(schema, issue.path).flatMap(keysOf);
    return issue.keys
      .slice(0, MAX_FINDINGS)
      .map((key) => [
        [...issue.path, key],
        { at: 'key', message: `"${key}" is not a known key.`, suggestion: suggestionFor(key, known) },
      ]);
  }
  const subject = subjectOf([...before, ...issue.path]);
  const written = valueAt(value, issue.path);
  if (written === undefined && issue.code !== 'custom') {
    return [[issue.path, { message: `${subject}is missing.`, missing: [String(issue.path.at(-1))] }]];
  }
  const says = issue.code === 'invalid_key' ? issue.issues[0]?.message : issue.message;
  const message = `${subject}${(says ?? issue.message).replace(/\.$/, '')}.`;
  if (issue.code === 'invalid_key') return [[issue.path, { at: 'key', message }]];
  if (issue.code === 'invalid_value' && typeof written === 'string') {
    return [[issue.path, { message, suggestion: meant(written, issue.values) }]];
  }
  const suggestion = ownSuggestion(issue) ?? quotesFor(issue, written);
  const missing = missingKeys(issue);
  return [
    [
      issue.path,
      {
        message,
        suggestion,
        ...(missing && { missing }),
        ...(issue.code === 'invalid_type' && { isWrongKind: true as const }),
      },
    ],
  ];
}

/** In YAML, an unquoted number or `true` is not a string, and one value is not a list. */
function quotesFor(issue: Issue, written: unknown): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  if (issue.expected === 'array') {
    if (typeof written === 'string') return 'write it as a list, in [ ]';
    return isHolder(written) ? 'write each entry after a hyphen: "- name: ..."' : undefined;
  }
  return issue.expected === 'string' && /^(number|boolean)$/.test(typeof written) ? 'quote it' : undefined;
}

/** A custom check may provide a suggestion: `params: { suggestion }`. */
function ownSuggestion(issue: Issue): string | undefined {
  const params: Record<string, unknown> = issue.code === 'custom' ? (issue.params ?? {}) : {};
  return typeof params['suggestion'] === 'string' ? params['suggestion'] : undefined;
}

/** A custom check can report that one of several keys is missing: `params: { missing }`. */
function missingKeys(issue: Issue): string[] | undefined {
  const missing: unknown = issue.code === 'custom' ? issue.params?.['missing'] : undefined;
  return Array.isArray(missing) ? missing.map(String) : undefined;
}

/** The sentence already lists the values, so a suggestion is only added for a similar one. */
function meant(written: string, values: readonly unknown[]): string | undefined {
  const words = values.map(String);
  const hint = suggestionFor(written, words);
  if (hint?.startsWith('did you mean')) return hint;
  const related = relatedTo(written.toLowerCase(), words);
  return related === undefined ? undefined : `did you mean ${related}?`;
}

const synonyms: Readonly<Record<string, string>> = {
  error: 'failed',
  errors: 'failed',
  ok: 'succeeded',
  done: 'succeeded',
};

/** A word with the same meaning or another ending: `failed` for `failure`. */
function relatedTo(written: string, words: readonly string[]): string | undefined {
  const same = Object.hasOwn(synonyms, written) ? synonyms[written] : undefined;
  if (same !== undefined && words.includes(same)) return same;
  const related = words.filter((word) => word.startsWith(written.slice(0, Math.max(4, written.length - 4))));
  return related.length === 1 && written.length >= 4 ? related[0] : undefined;
}

function subjectOf(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return 'The file ';
  if (typeof last !== 'number') return `"${String(last)}" `;
  const list = path.at(-2);
  return `Entry ${last + 1} ${list === undefined ? '' : `of "${String(list)}" `}`;
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, part) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[part],
    value,
  );
}

/** The default message of an issue, to be appended to the name of the key. Schemas may override it. */
function predicate(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? issue.expected}, not ${kindOf(issue.input)}`;
    case 'invalid_value':
      return `must be ${listing(issue.values.map(String))}`;
    case 'invalid_key':
      return 'is not a valid name';
    case 'too_small':
      return `must ${size(issue.origin, 'at least', issue.minimum)}`;
    case 'too_big':
      return `must ${size(issue.origin, 'at most', issue.maximum)}`;
    case 'invalid_union':
      return 'does not match any supported form';
    case 'invalid_format':
      return formats[issue.format] ?? 'has an unsupported format';
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    default:
      return 'is not supported';
  }
}

const formats: Record<string, string> = {
  email: 'must be an email address',
  url: 'must be an address such as https://example.com',
  date: 'must be a day such as 2026-12-20',
  datetime: 'must be a time such as 2026-11-21T02:00:00Z',
};

const kinds: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map of keys and values',
  record: 'a map of keys and values',
  array: 'a list',
};

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Number.isNaN(value)) return 'NaN';
  if (Array.isArray(value)) return 'a list';
  return { string: 'a string', number: 'a number', boolean: 'a boolean', object: 'a map' }[
    typeof value as string
  ] as string;
}

function size(origin: string, bound: string, limit: number | bigint): string {
  if (origin === 'string')
    return `have ${bound} ${limit} ${Number(limit) === 1 ? 'character' : 'characters'}`;
  if (origin === 'array') return `have ${bound} ${limit} ${Number(limit) === 1 ? 'entry' : 'entries'}`;
  return `be ${bound} ${limit}`;
}

/** `a, b or c`. */
function listing(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
