import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import type { Hono } from 'hono';
import type { Queues } from '../../queue/queues.ts';
import { redact } from '../../secrets.ts';

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
