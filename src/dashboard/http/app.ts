/** The hono app: the middleware for every request, then the table of routes, then bull-board. */
import { Hono } from 'hono';
import { etag } from 'hono/etag';
import { HTTPException } from 'hono/http-exception';
import { timeout } from 'hono/timeout';
import { CaretakerError } from '../../errors.ts';
import { sendNoEndpoint } from '../api/json.ts';
import { guard } from '../auth/guard.tsx';
import { ownHostOnly, sameOriginOnly } from '../auth/origin.ts';
import { sendProblem } from '../pages/problem.tsx';
import { BOARD_PATH, openBoard, ownBoardPage } from './board.ts';
import { bodyLimit } from './body-limit.ts';
import type { DashboardContext, Env } from './context.ts';
import { safeHeaders } from './headers.ts';
import { routes } from './routes.ts';

/** Forms of the dashboard are far smaller. */
const MAX_BODY_BYTES = 16_384;
/** Commands wait while Redis is away. A page does not wait longer than this. */
const RECORDS_TIMEOUT_MS = 5_000;

export function createApp(context: DashboardContext): Hono<Env> {
  const app = new Hono<Env>();
  app.use(safeHeaders, ownHostOnly(context.host), sameOriginOnly, bodyLimit(MAX_BODY_BYTES));
  app.use(timeout(RECORDS_TIMEOUT_MS, () => new HTTPException(503, { message: 'Redis does not answer.' })));
  app.use('/client/*', etag());
  for (const { method, path, access, handle } of routes) {
    app.on(method, path, guard(access, context), (c) => handle(c, context));
  }
  app.all('/api/*', guard('program', context), sendNoEndpoint);
  app.use(`${BOARD_PATH}/*`, guard('person', context), ownBoardPage);
  app.get(`${BOARD_PATH}/`, (c) => c.redirect(BOARD_PATH));
  app.all(`${BOARD_PATH}/*`, openBoard(context.queues));
  app.all('*', guard('person', context), (c) => sendProblem(c, context, 404, 'There is no such page.'));
  app.onError((error, c) => {
    if (error instanceof HTTPException) return sendProblem(c, context, error.status, error.message);
    // Its message is a sentence for people: the request cannot be carried out now.
    if (error instanceof CaretakerError) return sendProblem(c, context, 409, error.message);
    context.log.error({ err: error, path: c.req.path }, 'a page of the dashboard failed');
    return sendProblem(c, context, 500, 'The page failed; the log of the daemon has the error.');
  });
  return app;
}
