import type { Principal } from '../../access/principal.ts';
import type { Exchange } from '../http/context.ts';

/** Who sent this request. The guard has set it on every address that is not open to everybody. */
export function principalOf(c: Exchange): Principal {
  const principal = c.get('principal');
  if (!principal) throw new Error(`${c.req.path} has no guard that identifies the caller.`);
  return principal;
}
