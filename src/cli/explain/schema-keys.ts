/**
 * The keys that a JSON Schema describes, with type, default and meaning: for `caretaker explain` and for
 * docs/configuration.md.
 */
export interface Schema {
  type?: string | string[];
  title?: string;
  description?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  format?: string;
  not?: object;
  anyOf?: Schema[];
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
}

export interface Key {
  /** `notify[].on`, `accounts.<name>.token`. */
  path: string;
  /** In words: `duration`, `whole number, 1 to 20`; values that are texts are in backquotes. */
  type: string;
  /** The default, `required`, or empty. */
  standard: string;
  text: string;
  schema: Schema;
}

const words: Record<string, string> = {
  string: 'text',
  number: 'number',
  boolean: 'true or false',
  object: 'map',
};

function typeOf(schema: Schema): string {
  if (schema.title) return schema.title;
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.format === 'date') return 'day';
  if (schema.type === 'integer') {
    const bounded = (schema.minimum ?? 0) > 0 && (schema.maximum ?? 0) < 1_000_000;
    return bounded ? `whole number, ${schema.minimum} to ${schema.maximum}` : 'whole number';
  }
  if (schema.type === 'array') return `list: ${schema.items ? typeOf(schema.items) : ''}`;
  return [schema.type ?? '']
    .flat()
    .map((type) => words[type] ?? type)
    .join(' or ');
}

/** Every key with a description, those of a map after the map. */
export function keysOf(schema: Schema, path = ''): Key[] {
  const required = schema.required ?? [];
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, inner]): Key[] => {
    const at = path === '' ? key : `${path}.${key}`;
    const [, text = inner.description ?? '', standard = ''] =
      /^(.*?)\s*\bDefault:?\s(.*)\.$/.exec(inner.description ?? '') ?? [];
    if (!inner.description) return [];
    return [
      {
        path: at,
        type: inner.not ? '' : typeOf(inner),
        standard: standard || (required.includes(key) ? 'required' : ''),
        text,
        schema: inner,
      },
      ...keysOf(inner, at),
    ];
  });
  const { additionalProperties: named, items, anyOf = [] } = schema;
  return [
    ...own,
    ...(typeof named === 'object' && path !== 'select.filters' ? keysOf(named, `${path}.<name>`) : []),
    ...(items ? keysOf(items, `${path}[]`) : []),
    ...anyOf.flatMap((one) => keysOf(one, path)),
  ];
}
