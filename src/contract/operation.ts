/**
 * One operation of the service as data. The table of all of them is `operations.ts`; the client, the sandbox,
 * `caretaker api`, the policy loader and `/openapi.json` read it, and nothing repeats it.
 */
import type { z } from 'zod';
import type { Filters, List } from './list.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

export interface Operation {
  /** The section of the specification that has the operation's row. */
  section: `4.${number}`;
  summary: string;
  method: Method;
  /** Relative to the base URL, parameters in braces: `/sites/{site_id}/sync`. */
  path: `/${string}`;
  /** What it takes besides the list protocol in the query string. */
  query?: z.ZodObject;
  /** What it takes as a body, read strictly; `bodyRequired` says whether one must be sent. */
  body?: z.ZodType;
  bodyRequired?: boolean;
  success: 200 | 201 | 204;
  /**
   * What it answers: a JSON shape, a PDF stream, or nothing (204). For lists, the shape of the whole page.
   */
  answer?: z.ZodType;
  answers?: 'pdf';
  /** The error statuses of the operation's row. */
  errors: readonly number[];
  list?: List<Filters, string>;
  /**
   * Set where the operation changes the account. `repeatable`: asking twice leaves the same account as asking
   * once. `once`: a second request would do it again (send, start, create), so a lost answer must be
   * reconciled first.
   */
  effect?: 'repeatable' | 'once';
}

/** Keeps the literal types of an operation while checking it; ids are the keys of the table. */
export const operation = <const O extends Operation>(declared: O): O => declared;

type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;

/** The path's parameters, by name. */
export type PathParameters<O extends Operation> = { [N in Names<O['path']>]: string };

/** The names in the path's braces, in order. */
export const pathParameters = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
