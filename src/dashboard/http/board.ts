import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import type { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Queues } from '../../queue/queues.ts';
import { redact } from '../../secrets.ts';
import type { Env } from './parts.ts';

/** Where bull-board is. */
export const BOARD_PATH = '/queues';

/** BullMQ's own view of the queues: for looking, never for changing, since the records would not know of it. */
export function openBoard(queues: Queues): Hono {
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
  return server.registerPlugin();
}

/** The way back to our pages. */
const WAY_BACK = '<a id="way-back" href="/">← Back to Caretaker</a>';
const STYLE = '<link href="/board.css" rel="stylesheet">';

/**
 * Makes the board's page one of ours: nothing of it is loaded from elsewhere, nothing in it carries a style of its own
 * (our content policy refuses both, and the browser would complain), and it leads back.
 */
export const ownBoardPage = createMiddleware<Env>(async (c, next) => {
  await next();
  if (!c.res.headers.get('content-type')?.startsWith('text/html')) return;
  const page = (await c.res.text())
    .replace(/<link[^>]+href="https?:\/\/[^>]*>/g, '')
    .replace(/<div id="root">[\s\S]*?(?=<script defer)/, `${WAY_BACK}<div id="root">Loading …</div>`)
    .replace('</head>', `${STYLE}</head>`);
  c.res = new Response(page, c.res);
});
