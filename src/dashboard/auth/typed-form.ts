/**
 * A form that was sent when its session had ended. The person signs in, and finds the question again with what was typed;
 * the form is never sent by itself. Nothing is kept here: the address of the question carries the fields. No form beyond
 * the sign-in page has a secret.
 */
import type { Principal } from '../../access/principal.ts';
import type { Exchange } from '../http/context.ts';
import { principalOf } from './caller.ts';

/** The parameter with the name of the user who typed it. */
const BY = 'typed_by';
/** It is a part of two addresses, in one of them encoded twice. What is longer has to be typed again. */
const MAX_LENGTH = 2_000;

/** The question that a form belongs to, with the fields as they were sent. */
export async function pathOfForm(c: Exchange): Promise<string> {
  const { path } = c.req;
  const back = c.req.query('back');
  // It asks nothing.
  if (path === '/sign-out') return '/';
  const form = Object.entries(await c.req.parseBody({ all: true }));
  const fields = form.flatMap(([name, values]) =>
    [values]
      .flat()
      .flatMap((value) => (typeof value === 'string' ? [[name, value] as [string, string]] : [])),
  );
  const by = c.get('session')?.user;
  const query = new URLSearchParams([
    ...(back ? [['back', back] as [string, string]] : []),
    ...fields,
    [BY, by ?? ''],
  ]);
  return by !== undefined && String(query).length <= MAX_LENGTH ? `${path}?${query}` : (back ?? path);
}

const whoTyped = (path: string): string | undefined =>
  new URLSearchParams(path.split('?')[1]).get(BY) ?? undefined;

/** Whether the address has what somebody typed. */
export const isTyped = (path: string): boolean => whoTyped(path) !== undefined;

/** Where a sign-in leads to: what someone else has typed is left out. */
export function pathAfter(path: string, { name }: Principal): string {
  const by = whoTyped(path);
  if (by === undefined || by === name) return path;
  return new URLSearchParams(path.split('?')[1]).get('back') ?? '/';
}

/** What the reader had typed into a field of the question, and had chosen of its boxes; undefined when it is a new question. */
export function typedIn(c: Exchange): ((field: string) => readonly string[]) | undefined {
  if (c.req.query(BY) !== principalOf(c).name) return undefined;
  return (field) => c.req.queries(field) ?? [];
}
