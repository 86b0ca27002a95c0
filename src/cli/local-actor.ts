/** Who acts when a command is run on a machine with access to Redis. */
import { hostname, userInfo } from 'node:os';
import { localPrincipal } from '../access/principal.ts';
import type { Actor } from '../control/command.ts';

/** The user of the operating system. */
export const localActor = (): Actor => ({
  principal: localPrincipal(userInfo().username),
  from: `cli@${hostname()}`,
});
