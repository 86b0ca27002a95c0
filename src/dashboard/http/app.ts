/** The hono app: the middleware for every request, then the table of routes, then bull-board. */
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { HTTPException } from 'hono/http-exception';
import { CaretakerError } from '../../errors.ts';
import { sendNoEndpoint } from '../api/json.ts';
import { forPrograms, sendError, statusOf } from '../api/problem-document.ts';
import { guard, identify } from '../auth/guard.tsx';
import { ownHostOnly, sameOriginOnly } from '../auth/origin.ts';
import { openLivePages } from '../events/live-pages.ts';
import { sendProblem } from '../pages/problem.tsx';
import { redisAnswers } from '../queries/redis-answers.ts';
import { scopedTo } from '../queries/scope.ts';
import { addBase } from './base-path.ts';
import { BOARD_PATH, openBoard, ownBoardPage } from './board.ts';
import { bodyLimit } from './body-limit.ts';
import type { DashboardContext, Env, Exchange, PageContext } from './context.ts';
import { safeHeaders } from './headers.ts';
import { inTime } from './in-time.ts';
import { openPageMaker } from './page-maker.ts';
import { boardRule, routes, unknownApiRule, unknownPageRule } from './routes.ts';

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
  app.use(safeHeaders, ownHostOnly(context), sameOriginOnly(context), identify(context));
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
  app.onError((error, c) => {
    if (error instanceof HTTPException) return sendProblem(c, forCaller(c), error.status, error.message);
    // Its message is a sentence for people: the request cannot be carried out now.
    if (error instanceof CaretakerError)
      return forPrograms.test(c.req.path)
        ? sendError(c, error)
        : sendProblem(c, forCaller(c), statusOf(error), error.message);
    context.log.error({ err: error, path: c.req.path }, 'a page of the dashboard failed');
    return sendProblem(c, forCaller(c), 500, 'The page failed; the log of the daemon has the error.');
  });
  return app;
}
