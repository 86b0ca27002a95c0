/**
 * One operation of the service as data. `operations.ts` has the table of all of them. The client, the
 * sandbox, `caretaker api`, the policy loader and `/openapi.json` use it, and nothing is declared twice.
 */
import type { z } from 'zod';
import type { Filters, List } from './list.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

export interface Operation {
  /** The section of the specification with the operation's row. */
  section: `4.${number}`;
  summary: string;
  method: Method;
  /** Relative to the base URL, parameters in braces: `/sites/{site_id}/sync`. */
  path: `/${string}`;
  /** Query parameters other than those of the list protocol. */
  query?: z.ZodObject;
  /** The body, read strictly. `bodyRequired` shows whether it is required. */
  body?: z.ZodType;
  bodyRequired?: boolean;
  success: 200 | 201 | 204;
  /** The answer: a JSON shape, a PDF stream, or nothing (204). For lists, the shape of the whole page. */
  answer?: z.ZodType;
  answers?: 'pdf';
  /** The error statuses of the operation's row. */
  errors: readonly number[];
  list?: List<Filters, string>;
  /**
   * Set if the operation changes the account. `repeatable`: a second request has the same effect as one.
   * `once`: a second request would repeat the effect (send, start, create), so a lost answer must be
   * reconciled first.
   */
  effect?: 'repeatable' | 'once';
  /** What the single view of its item shows afterwards. In a status to which it leads, the same request is refused (422). */
  leadsTo?: { status: string } | { status?: never; [field: string]: unknown };
  /**
   * Set if the item gets a new id while it is in `status`: it is found again in `list` by the value of the field `by`.
   * The old id is gone then.
   */
  replaces?: { list: string; by: string; status: string };
  /**
   * Set if the operation deletes, overwrites or switches off something that the same request does not bring back,
   * or sends mail to clients. One sentence: what is lost. `approval` of a policy can depend on it.
   */
  destructive?: string;
}

/** What an operation declares: its errors are those that it has beyond the common ones. */
type Declared = Omit<Operation, 'section' | 'success' | 'errors'> &
  Partial<Pick<Operation, 'success' | 'errors'>>;

/**
 * Declares the operations of a section of the specification; it keeps their literal types. The keys of the table
 * are the ids.
 *
 * All rows of the specification have 401, 403 and 429, those that take a query or a body 400, and those with an id
 * in the path 404.
 */
export const operationsOf =
  (section: Operation['section']) =>
  <const O extends Declared>(declared: O): O & Pick<Operation, 'section' | 'success' | 'errors'> => {
    const { method, path, list, query, body, errors = [] } = declared;
    const takesInput = Boolean(list?.paged || query || body);
    const common = [...(takesInput ? [400] : []), 401, 403, ...(path.includes('{') ? [404] : []), 429];
    return {
      success: method === 'DELETE' ? 204 : 200,
      ...declared,
      section,
      errors: [...common, ...errors].sort((left, right) => left - right),
    };
  };

/** Whether an operation deletes its items: what is gone then is as it should be. */
export const deletes = ({ method, path }: Operation): boolean =>
  method === 'DELETE' || path.endsWith('/delete');

type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;

/** The path's parameters, by name. */
export type PathParameters<O extends Operation> = { [N in Names<O['path']>]: string };

/** The names in the path's braces, in order. */
export const pathParameters = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
