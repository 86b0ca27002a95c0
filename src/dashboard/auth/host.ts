import { createMiddleware } from 'hono/factory';
import { isLoopback } from '../../settings/loopback.ts';
import type { Env } from '../http/context.ts';

/**
 * Answers only those who call a loopback dashboard by a loopback name: a page elsewhere whose name was made
 * to point at this machine (DNS rebinding) gets nothing. The port is free, since tunnels change it.
 */
export const ownHostOnly = (listeningOn: string) =>
  createMiddleware<Env>(async (c, next) => {
    if (isLoopback(listeningOn) && !isLoopback(nameIn(c.req.header('host') ?? ''))) {
      return c.text(
        'This dashboard answers to 127.0.0.1 and localhost only. A proxy in front of it has to send one of them as Host.\n',
        421,
      );
    }
    return next();
  });

function nameIn(host: string): string {
  try {
    return new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '');
  } catch {
    return ''; // not a host at all, so none of ours
  }
}
