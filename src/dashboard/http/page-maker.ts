import { Hono } from 'hono';
import { timeout } from 'hono/timeout';
import type { Principal } from '../../access/principal.ts';
import { guard } from '../auth/guard.tsx';
import type { MakePage } from '../events/live-pages.ts';
import { scopedTo } from '../queries/scope.ts';
import { addBase } from './base-path.ts';
import type { DashboardContext, Env } from './context.ts';
import { type Route, routes } from './routes.ts';

/**
 * Makes the pages that readers have open: by the same rules and handlers as their requests, so that an update
 * shows nothing that the page itself would not.
 */
export function openPageMaker(context: DashboardContext, timeoutMs: number): MakePage {
  const app = new Hono<Env>();
  const readers = new WeakMap<Request, Principal>();
  app.use((c, next) => {
    c.set('principal', readers.get(c.req.raw));
    c.set('isUpdate', true);
    return next();
  });
  app.use(addBase(context.basePath), timeout(timeoutMs));
  for (const { path, handle, ...rule } of routes.filter(isPage))
    app.get(path, guard(rule, context), (c) => handle(c, scopedTo(c.get('principal'), context)));
  return async (path, principal) => {
    const request = new Request(new URL(path, context.url), { headers: { accept: 'text/html' } });
    readers.set(request, principal);
    const answer = await app.fetch(request);
    const isHtml = answer.headers.get('content-type')?.startsWith('text/html');
    return answer.status === 200 && isHtml ? answer.text() : undefined;
  };
}

/** Addresses that send no page are left out: an update is never a stream, a file or a change. */
const isPage = ({ method, path, access, programs }: Route): boolean =>
  method === 'GET' && access !== 'open' && !programs && !/^\/(?:events|client)\b|\.csv$/.test(path);
