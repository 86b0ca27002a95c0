/** What was done, said once on the next page. */
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { z } from 'zod';
import { cameByHttps } from '../auth/client-address.ts';
import { localPath } from '../auth/origin.ts';
import { withoutBase } from './base-path.ts';
import type { DashboardContext, Exchange } from './context.ts';

const KEPT_S = 30;

const Toast = z.object({
  text: z.string(),
  /** That it did not succeed: the line stays. */
  isFailure: z.exactOptional(z.literal(true)),
  /** Where to look, or how to undo it. */
  link: z.exactOptional(z.object({ path: z.string(), word: z.string() })),
});
export type Toast = z.output<typeof Toast>;

const nameFor = ({ port }: DashboardContext): string => `caretaker_toast_${port}`;

/** Leads to a page that says what was done. */
export function redirectWith(c: Exchange, context: DashboardContext, path: string, toast: Toast): Response {
  setCookie(c, nameFor(context), JSON.stringify(toast), {
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    secure: cameByHttps(c, context),
    maxAge: KEPT_S,
  });
  return c.redirect(path, 303);
}

/**
 * The page on which a person pressed a button, with its filters and its place in a list. The question about it passes
 * it on to the change.
 */
export function pageBefore(c: Exchange, { basePath }: DashboardContext, otherwise: string): string {
  const named = c.req.query('back') ?? c.req.header('referer');
  if (named === undefined) return otherwise;
  const path = withoutBase(localPath(named), basePath);
  return path.split('?')[0] === c.req.path || path.startsWith('/sign-in') ? otherwise : path;
}

/** Leads back there, or to `otherwise`. */
export const redirectBack = (
  c: Exchange,
  context: DashboardContext,
  otherwise: string,
  toast: Toast,
): Response => redirectWith(c, context, pageBefore(c, context, otherwise), toast);

/** What the last change asked to say, once. A cookie may have any content: links lead to pages of ours only. */
export function takeToast(c: Exchange, context: DashboardContext): Toast | undefined {
  const cookie = getCookie(c, nameFor(context));
  if (cookie === undefined) return undefined;
  deleteCookie(c, nameFor(context), { path: '/' });
  const read = Toast.safeParse(parse(cookie));
  if (!read.success) return undefined;
  const { link, ...rest } = read.data;
  return link ? { ...rest, link: { ...link, path: localPath(link.path) } } : rest;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
