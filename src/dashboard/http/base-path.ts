/**
 * The dashboard under a path of its proxy, such as https://ops.example.com/caretaker (`public_url`).
 *
 * The path is removed from a request before anything reads it, unless the proxy has done so, and added to the
 * addresses of an answer in one place. So all other code knows addresses from "/" on.
 */
import { createMiddleware } from 'hono/factory';
import type { Env } from './context.ts';

/** `/caretaker`; empty when there is none. */
export const basePathOf = (publicUrl: string | undefined): string =>
  publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');

/** The address of a request without the path. Never with two slashes at the start, which would name another server. */
export function withoutBase(address: string, base: string): string {
  const rest = address.startsWith(base) ? address.slice(base.length) : undefined;
  return rest === undefined || !/^(?:[/?]|$)/.test(rest) ? address : `/${rest.replace(/^[/\\]+/, '')}`;
}

/** The attributes with an address of ours. Texts cannot be mistaken for them: JSX escapes their quotation marks. */
const ATTRIBUTES = /( (?:href|src|action|formaction|content)="(?:0;url=)?)\/(?!\/)/g;

/** Adds the path to redirects, links, forms, files and cookies. What the script of the pages asks for, it finds itself. */
export const addBase = (base: string) =>
  createMiddleware<Env>(async (c, next) => {
    await next();
    if (base === '') return;
    const { headers } = c.res;
    const location = headers.get('location');
    if (location?.startsWith('/')) headers.set('location', base + location);
    const link = headers.get('link');
    if (link) headers.set('link', link.replaceAll('</', `<${base}/`));
    const cookies = headers.getSetCookie();
    headers.delete('set-cookie');
    for (const cookie of cookies)
      headers.append(
        'set-cookie',
        cookie.replace(/; Path=(\/[^;]*)/i, (_, path) => `; Path=${base}${path === '/' ? '' : path}`),
      );
    if (headers.get('content-type')?.startsWith('text/html'))
      c.res = new Response((await c.res.text()).replace(ATTRIBUTES, `$1${base}/`), c.res);
  });
