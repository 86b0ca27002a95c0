import type { Principal } from '../../access/principal.ts';
import type { Actor } from '../../control/command.ts';
import type { Exchange } from '../http/context.ts';
import { addressOf } from './client-address.ts';

/** Who sent this request. The guard has set it on every address that is not open to everyone. */
export function principalOf(c: Exchange): Principal {
  const principal = c.get('principal');
  if (!principal) throw new Error(`${c.req.path} has no guard that identifies the caller.`);
  return principal;
}

/** Whether the request carries a bearer token. */
export const isBearer = (c: Exchange): boolean => /^bearer /i.test(c.req.header('authorization') ?? '');

/** Who sends a request, and from where, for the commands that it carries out. */
export const actorOf = (c: Exchange): Actor => ({ principal: principalOf(c), from: addressOf(c) });
