/** Which fields an item has, and of what kind: what a condition is checked against. */
/**
 * What a field holds. `day` is a date without a time; `any` is a value whose shape the spec does not show.
 */
export type Kind =
  | { kind: 'string'; values?: readonly string[] }
  | { kind: 'boolean' | 'number' | 'timestamp' | 'day' | 'any' }
  | { kind: 'list' | 'map'; of: Field }
  | { kind: 'object'; fields: FieldTree };

/**
 * A field, and whether the spec lets it be null or missing; what only our reading forgives does not count.
 */
export type Field = Kind & { nullable: boolean; optional: boolean };

export type FieldTree = { readonly [name: string]: Field };
