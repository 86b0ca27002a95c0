/** The fields of an item and their types, against which a condition is checked. */
import { CaretakerError } from '../errors.ts';

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

/** A variable that is a list of objects with these fields. */
export class ListOf {
  constructor(readonly fields: FieldTree) {}
}

/** The variables of an expression other than `now`, with their fields. The first one is the subject. */
export type Variables = Readonly<Record<string, FieldTree | ListOf>>;

/** A variable as a field. */
export function fieldOfVariable(variable: FieldTree | ListOf): Field {
  const isList = variable instanceof ListOf;
  const whole = { nullable: false, optional: false };
  const item = { kind: 'object', fields: isList ? variable.fields : variable, ...whole } as const;
  return isList ? { kind: 'list', of: item, ...whole } : item;
}

/** A decision needs a field that the service did not show. */
export class NotShownError extends CaretakerError {
  readonly code = 'NOT_SHOWN';

  constructor(
    /** The field as it is written in conditions: `site.sync.paused`. */
    readonly field: string,
  ) {
    super(`The service does not show ${field}.`);
  }
}

/** What the function returns, or that a field was not shown. */
export function orNotShown<T>(decide: () => T): T | NotShownError {
  try {
    return decide();
  } catch (error) {
    if (error instanceof NotShownError) return error;
    throw error;
  }
}

/** What is wrong with an expression. */
export interface Fault {
  message: string;
  /** The position in the expression, in characters. */
  offset?: number | undefined;
  suggestion?: string | undefined;
}
