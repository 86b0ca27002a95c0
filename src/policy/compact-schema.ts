/** Makes a JSON Schema smaller: a part that occurs in several places is written once, in `$defs`. */

type Json = Readonly<Record<string, unknown>>;

/** A shorter part costs less than references to it. */
const MIN_LENGTH = 80;

const keywordsOf = {
  schema: ['items', 'additionalProperties', 'propertyNames', 'contains', 'not', 'if', 'then', 'else'],
  list: ['allOf', 'anyOf', 'oneOf'],
  map: ['properties', '$defs'],
};

/**
 * A schema that means the same. A part that nothing matches becomes `false`: editors then say that the key is not
 * allowed.
 */
export function compacted<Root extends { $defs: object }>(root: Root): Root {
  const counts = new Map<string, number>();
  const count = (part: unknown): void => {
    if (!isMap(part)) return;
    const text = JSON.stringify(part);
    counts.set(text, (counts.get(text) ?? 0) + 1);
    // What is inside a repeated part is written once with it.
    if (counts.get(text) === 1) withParts(part, count);
  };
  const shared = new Map<string, string>();
  const $defs: Record<string, unknown> = {};
  const write = (part: unknown): unknown => {
    if (!isMap(part)) return part;
    if (isNothing(part)) return false;
    const text = JSON.stringify(part);
    const isRepeated = (counts.get(text) ?? 0) > 1 && text.length >= MIN_LENGTH;
    if (!isRepeated || isShown(part)) return withParts(part, write);
    let name = shared.get(text);
    if (name === undefined) {
      name = `part-${shared.size + 1}`;
      shared.set(text, name);
      $defs[name] = withParts(part, write);
    }
    return { $ref: `#/$defs/${name}` };
  };
  withParts(root as unknown as Json, count);
  const written = withParts(root as unknown as Json, write) as unknown as Root;
  return { ...written, $defs: { ...written.$defs, ...$defs } };
}

/** The schema with the result of `part` for each schema in it. */
const withParts = (schema: Json, part: (inner: unknown) => unknown): Json =>
  Object.fromEntries(
    Object.entries(schema).map(([key, inner]) => {
      if (keywordsOf.schema.includes(key)) return [key, part(inner)];
      if (keywordsOf.list.includes(key)) return [key, (inner as unknown[]).map(part)];
      if (!keywordsOf.map.includes(key)) return [key, inner];
      const parts = Object.entries(inner as Json).map(([name, one]) => [name, part(one)]);
      return [key, Object.fromEntries(parts)];
    }),
  );

const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Editors call a type by its title, or else by the name of its reference, which it is not known. */
const isShown = ({ type, title }: Json): boolean => type !== undefined && title === undefined;

const isNothing = ({ not, ...rest }: Json): boolean =>
  isMap(not) && Object.keys(not).length === 0 && Object.keys(rest).length === 0;
