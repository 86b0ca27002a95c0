/** The hono app: the middleware for every request, then the table of routes, then bull-board. */
import { type ErrorHandler, Hono } from 'hono';
import { compress } from 'hono/compress';
import { createMiddleware } from 'hono/factory';
import { HTTPException } from 'hono/http-exception';
import { timeout } from 'hono/timeout';
import type { Principal } from '../../access/principal.ts';
import { CaretakerError } from '../../errors.ts';
import { isLoopback } from '../../settings/settings.ts';
import { sendNoEndpoint } from '../api/json.ts';
import { forPrograms, sendError, statusOf } from '../api/problem-document.ts';
import { cameByHttps } from '../auth/client-address.ts';
import { guard, identify } from '../auth/guard.tsx';
import { ownHostOnly, sameOriginOnly } from '../auth/origin.ts';
import { type MakePage, openLivePages } from '../events/live-pages.ts';
import { sendProblem } from '../pages/problem.tsx';
import { scopedTo } from '../queries/scope.ts';
import { addBase } from './base-path.ts';
import { BOARD_PATH, openBoard, ownBoardPage } from './board.ts';
import type { DashboardContext, Env, Exchange, PageContext } from './context.ts';
import { inTime, redisAnswers } from './in-time.ts';
import { boardRule, type Route, routes, unknownApiRule, unknownPageRule } from './routes.ts';

/** The methods of an address of the API. */
const methodsAt = (path: string): string[] =>
  routes
    .filter((route) => route.programs && isAt(route.path, path))
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

const isAt = (route: string, path: string): boolean => {
  const [parts, given] = [route.split('/'), path.split('/')];
  return (
    parts.length === given.length && parts.every((part, at) => part.startsWith(':') || part === given[at])
  );
};

/** Commands wait while Redis is away. A page does not wait longer than this. */
const RECORDS_TIMEOUT_MS = 5_000;
const ACT_TIMEOUT_MS = 60_000;

export function createApp(given: PageContext): Hono<Env> {
  const app = new Hono<Env>();
  const context: DashboardContext = {
    ...given,
    plansInWork: new Map(),
    livePages: openLivePages(given, (path, principal) => makePage(path, principal)),
  };
  const makePage = openPageMaker(context, RECORDS_TIMEOUT_MS);
  const forCaller = (c: Exchange) => scopedTo(c.get('principal'), context);
  // Streams are left as they are. No page has a secret that a person who can choose a part of it could guess by its size.
  app.use(compress(), addBase(context.basePath));
  app.use(safeHeaders(context), ownHostOnly(context), sameOriginOnly(context), identify(context));
  app.use(bodyLimit);
  app.use(
    inTime({ redisMs: RECORDS_TIMEOUT_MS, actMs: ACT_TIMEOUT_MS }, () => redisAnswers(given.control.records)),
  );
  for (const { method, path, handle, ...rule } of routes) {
    app.on(method, path, guard(rule, context), (c) => handle(c, forCaller(c)));
  }
  app.all('/api/*', guard(unknownApiRule, context), sendNoEndpoint(methodsAt));
  app.use(`${BOARD_PATH}/*`, guard(boardRule, context), ownBoardPage);
  app.get(`${BOARD_PATH}/`, (c) => c.redirect(BOARD_PATH));
  app.all(`${BOARD_PATH}/*`, openBoard(context.queues, context.basePath));
  app.all('*', guard(unknownPageRule, context), (c) =>
    sendProblem(c, forCaller(c), 404, 'There is no such page.'),
  );
  app.onError(onError(context));
  return app;
}

const onError =
  (context: DashboardContext): ErrorHandler<Env> =>
  (error, c) => {
    const scoped = scopedTo(c.get('principal'), context);
    if (error instanceof HTTPException) return sendProblem(c, scoped, error.status, error.message);
    // Its message is a sentence for people: the request cannot be carried out now.
    if (error instanceof CaretakerError)
      return forPrograms.test(c.req.path)
        ? sendError(c, error)
        : sendProblem(c, scoped, statusOf(error), error.message);
    context.log.error({ err: error, path: c.req.path }, 'a page of the dashboard failed');
    return sendProblem(c, scoped, 500, 'The page failed; the log of the daemon has the error.');
  };

/** Forms of the dashboard are far smaller. */
const MAX_FORM_BYTES = 16_384;
/** A request of a program may name a thousand targets. */
const MAX_JSON_BYTES = 262_144;
/** A saved plan has about a kilobyte for each target. */
const MAX_PLAN_BYTES = 16_777_216;
const PLANS = '/api/v1/plans/';

const maxBytesAt = (path: string): number => {
  if (path.startsWith(PLANS)) return MAX_PLAN_BYTES;
  return path.startsWith('/api/') ? MAX_JSON_BYTES : MAX_FORM_BYTES;
};

/**
 * Refuses bodies that announce a length above the limit; Node passes on no more bytes than were announced.
 * Browsers always announce a length, so a body in chunks is refused too and needs no counting.
 */
const bodyLimit = createMiddleware<Env>(async (c, next) => {
  const what = c.req.path.startsWith('/api/') ? 'body' : 'form';
  const maxBytes = maxBytesAt(c.req.path);
  if (c.req.header('transfer-encoding') !== undefined)
    throw new HTTPException(411, {
      message: `Send the ${what} with its length (Content-Length), not in chunks.`,
    });
  if (Number(c.req.header('content-length') ?? 0) > maxBytes)
    throw new HTTPException(413, { message: `A ${what} here has at most ${maxBytes} bytes.` });
  return next();
});

/** `base`: where a <base> may lead. */
const contentPolicy = (base: "'none'" | "'self'"): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    `base-uri ${base}`,
  ].join('; ');

const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  // Not `no-referrer`: then forms would arrive without the origin that `auth/origin.ts` checks.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/**
 * The security headers of every answer: no content from other servers, no inline scripts or styles, no frames,
 * no caching unless the handler allows it.
 */
const safeHeaders = (context: PageContext) =>
  createMiddleware<Env>(async (c, next) => {
    await next();
    const { headers } = c.res;
    const { path } = c.req;
    const isBoard = path === BOARD_PATH || path.startsWith(`${BOARD_PATH}/`);
    // bull-board finds its files by a <base> of its own.
    headers.set('Content-Security-Policy', contentPolicy(isBoard ? "'self'" : "'none'"));
    headers.set('X-Frame-Options', 'DENY');
    for (const [name, value] of Object.entries(securityHeaders)) headers.set(name, value);
    // It holds for every port of the host, and on this machine other programs have some without TLS.
    if (cameByHttps(c, context) && !isLoopback(new URL(context.publicUrl ?? c.req.url).hostname))
      headers.set('Strict-Transport-Security', 'max-age=31536000');
    if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store');
  });

/**
 * Makes the pages that readers have open: by the same rules and handlers as their requests, so that an update
 * shows nothing that the page itself would not.
 */
function openPageMaker(context: DashboardContext, timeoutMs: number): MakePage {
  const app = new Hono<Env>();
  const readers = new WeakMap<Request, Principal>();
  // No one asks, so the service is not asked.
  const updating = { ...context, control: { ...context.control, maxReadingMs: 0 } };
  app.use((c, next) => {
    c.set('principal', readers.get(c.req.raw));
    return next();
  });
  app.onError(onError(context));
  app.use(addBase(context.basePath), timeout(timeoutMs));
  for (const { path, handle, ...rule } of routes.filter(isPage))
    app.get(path, guard(rule, context), (c) => handle(c, scopedTo(c.get('principal'), updating)));
  return async (path, principal) => {
    const request = new Request(new URL(path, context.url), { headers: { accept: 'text/html' } });
    readers.set(request, principal);
    const answer = await app.fetch(request);
    const isHtml = answer.headers.get('content-type')?.startsWith('text/html');
    if (answer.status === 404 && isHtml) return null;
    return answer.status === 200 && isHtml ? answer.text() : undefined;
  };
}

/**
 * Addresses that send no page are left out: an update is never a stream, a file or a change. So are sessions, because an
 * update is made for all readers with the same grants, not for one.
 */
const isPage = ({ method, path, access, programs }: Route): boolean =>
  method === 'GET' && access !== 'open' && !programs && !/^\/(?:events|client|sessions)\b|\.csv$/.test(path);
