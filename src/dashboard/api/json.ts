/** Answers for programs. */
import { stream } from 'hono/streaming';
import { isStream } from '../../control/carry-out.ts';
import { visibleJson } from '../../text.ts';
import type { Exchange } from '../http/context.ts';
import { refuse } from './problem-document.ts';

/** Sends JSON without control characters: a person may read it in a terminal. A list has the address of its next page. */
export function sendJson(c: Exchange, value: object): Response {
  const { next } = value as { next?: unknown };
  if (typeof next === 'string' && c.req.method === 'GET') {
    const page = new URL(c.req.url);
    page.searchParams.set('after', next);
    c.header('Link', `<${page.pathname}${page.search}>; rel="next"`);
  }
  c.header('Content-Type', 'application/json; charset=UTF-8');
  const rows = Object.entries(value).find(([, one]) => isStream(one));
  return rows
    ? sendStream(c, value, ...(rows as [string, AsyncIterable<object>]))
    : c.body(visibleJson(value));
}

/** Sends the rows of the field `name` while they are read, so their number does not matter. */
const sendStream = (c: Exchange, value: object, name: string, rows: AsyncIterable<object>): Response =>
  stream(c, async (body) => {
    await body.write(`${visibleJson({ ...value, [name]: undefined }).slice(0, -1)},"${name}":[`);
    let separator = '';
    for await (const row of rows) {
      await body.write(separator + visibleJson(row));
      separator = ',';
    }
    await body.write(']}\n');
  });

/** For addresses under `/api` that no command has: there is none, or not with this method. */
export function sendNoEndpoint(methodsAt: (path: string) => readonly string[]) {
  return (c: Exchange): Response => {
    const methods = methodsAt(c.req.path);
    const all = 'GET /api/v1/openapi.json describes all endpoints.';
    if (methods.length === 0) return refuse(c, 404, 'NOT_FOUND', `There is no such endpoint; ${all}`);
    c.header('Allow', methods.join(', '));
    const allowed = methods.filter((one) => one !== 'HEAD').join(' and ');
    return refuse(c, 405, 'METHOD_NOT_ALLOWED', `This endpoint is for ${allowed} alone; ${all}`);
  };
}
