import { type Handler, Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Queues } from '../../queue/queues.ts';
import { redact } from '../../secrets.ts';
import type { Env } from './context.ts';

/** Where bull-board is. */
export const BOARD_PATH = '/queues';

/** bull-board, loaded at the first request: that takes nearly as long as to start the rest of the dashboard. */
export function openBoard(queues: Queues): Handler<Env> {
  let board: Promise<Hono> | undefined;
  return async (c) => {
    board ??= makeBoard(queues);
    return (await board).fetch(c.req.raw, c.env);
  };
}

/** A read-only view of the queues: the records would not know of a change made there. */
async function makeBoard(queues: Queues): Promise<Hono> {
  const [{ createBullBoard }, { BullMQAdapter }, { HonoAdapter }, { serveStatic }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/hono'),
    import('@hono/node-server/serve-static'),
  ]);
  const server = new HonoAdapter(serveStatic);
  server.setBasePath(BOARD_PATH);
  createBullBoard({
    queues: queues.boards().map((queue) => {
      const board = new BullMQAdapter(queue, { readOnlyMode: true });
      board.setFormatter('data', redact);
      return board;
    }),
    serverAdapter: server,
    options: { uiConfig: { boardTitle: 'Caretaker', hideDocsLink: true, hideRedisDetails: true } },
  });
  return new Hono().route(BOARD_PATH, server.registerPlugin());
}

/** The link back to our pages. */
const BACK_LINK = '<a id="way-back" href="/">← Back to Caretaker</a>';
const STYLE = '<link href="/client/board.css" rel="stylesheet">';

/**
 * Changes bull-board's page on its way: without files from other servers and without inline styles, which our
 * content policy refuses, and with a link back.
 */
export const ownBoardPage = createMiddleware<Env>(async (c, next) => {
  await next();
  if (!c.res.headers.get('content-type')?.startsWith('text/html')) return;
  const page = (await c.res.text())
    .replace(/<link[^>]+href="https?:\/\/[^>]*>/g, '')
    .replace(/<div id="root">[\s\S]*?(?=<script defer)/, `${BACK_LINK}<div id="root">Loading …</div>`)
    .replace('</head>', `${STYLE}</head>`);
  c.res = new Response(page, c.res);
});
