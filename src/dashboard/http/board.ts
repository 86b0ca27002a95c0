import { type Handler, Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { z } from 'zod';
import { Entry } from '../../queue/entry.ts';
import type { Queues } from '../../queue/queues.ts';
import { redact, scrub } from '../../secrets.ts';
import { ICON } from '../components/icon.tsx';
import { runPath, targetPath } from '../components/paths.ts';
import type { Env } from './context.ts';

/** Where bull-board is: the page Queues leads there. */
export const BOARD_PATH = '/queues/board';

/** bull-board, loaded at the first request: that takes nearly as long as to start the rest of the dashboard. */
export function openBoard(queues: Queues, base: string): Handler<Env> {
  let board: Promise<Hono> | undefined;
  return async (c) => {
    board ??= makeBoard(queues, base);
    return (await board).fetch(c.req.raw, c.env);
  };
}

/** A read-only view of the queues: the records would not know of a change made there. */
async function makeBoard(queues: Queues, base: string): Promise<Hono> {
  const [{ createBullBoard }, { BullMQAdapter }, { HonoAdapter }, { serveStatic }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/hono'),
    import('@hono/node-server/serve-static'),
  ]);
  const server = new HonoAdapter(serveStatic);
  server.setBasePath(BOARD_PATH);
  const externalJobUrl = (entry: Parameters<typeof linkOf>[0]) => {
    const link = linkOf(entry);
    return { ...link, href: base + link.href };
  };
  createBullBoard({
    queues: queues.boards().map((queue) => {
      const description = descriptions[queue.name] ?? '';
      const board = new BullMQAdapter(queue, { readOnlyMode: true, description, externalJobUrl });
      for (const field of ['data', 'returnValue'] as const) board.setFormatter(field, redact);
      board.setFormatter('name', ({ name }: { name: string }) => scrub(name));
      return board;
    }),
    serverAdapter: server,
    options: {
      uiConfig: {
        boardTitle: 'Caretaker: queues',
        hideDocsLink: true,
        hideRedisDetails: true,
        favIcon: { default: ICON, alternative: ICON },
        jobDetails: { defaultTab: 'Data' },
      },
    },
  });
  return new Hono().route(BOARD_PATH, server.registerPlugin());
}

/** The part of a result that a link needs. */
const Result = z.object({ account: z.string() });

/** What the queues are, by their names. */
const descriptions: Record<string, string> = {
  plans: 'Runs that are to be planned. The last 1,000 that ended are kept for a day.',
  deliveries: 'Notifications that are to be sent. The last 1,000 attempts are kept for a day.',
  actions: 'Targets that are to be worked on. The last 1,000 that ended are kept for a day.',
};

/** The page of ours that shows more of an entry: that of its only site once its account is known, else that of its run. */
export function linkOf({ data, returnvalue }: { data: unknown; returnvalue: unknown }): {
  displayText: string;
  href: string;
} {
  const { data: entry } = Entry.safeParse(data);
  if (!entry || entry.kind === 'deliver') return { displayText: 'Runs', href: '/runs' };
  const run = runPath(entry.run);
  const [target, ...others] = entry.kind === 'act' ? entry.targets : [];
  if (!target || others.length > 0) return { displayText: 'Run', href: run };
  const { data: result } = Result.safeParse(returnvalue);
  if (!result) return { displayText: 'Run', href: `${run}?search=${encodeURIComponent(target.id)}` };
  const path = targetPath(result.account, target.id);
  return { displayText: 'Site and run', href: `${path}?run=${encodeURIComponent(entry.run)}` };
}

/**
 * Changes bull-board's page on its way: without files from other servers and without inline styles, which our
 * content policy refuses.
 */
export const ownBoardPage = createMiddleware<Env>(async (c, next) => {
  await next();
  // The names of its files have a hash.
  if (c.req.path.startsWith(`${BOARD_PATH}/static/`) && c.res.ok)
    c.res.headers.set('Cache-Control', 'private, max-age=31536000, immutable');
  if (!c.res.headers.get('content-type')?.startsWith('text/html')) return;
  const page = (await c.res.text())
    .replace(/<link[^>]+href="https?:\/\/[^>]*>/g, '')
    .replace(/<div id="root">[\s\S]*?(?=<script defer)/, '<div id="root">Loading …</div>');
  c.res = new Response(page, c.res);
});
