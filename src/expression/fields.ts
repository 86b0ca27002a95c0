/** The fields of an item and their types, against which a condition is checked. */
/**
 * The type of a field. `day` is a date without a time; `any` is a value whose shape the spec does not show.
 */
export type Kind =
  | { kind: 'string'; values?: readonly string[] }
  | { kind: 'boolean' | 'number' | 'timestamp' | 'day' | 'any' }
  | { kind: 'list' | 'map'; of: Field }
  | { kind: 'object'; fields: FieldTree };

/**
 * A field, and whether the spec allows it to be null or missing. What only our lenient reading allows does
 * not count.
 */
export type Field = Kind & { nullable: boolean; optional: boolean };

export type FieldTree = { readonly [name: string]: Field };
