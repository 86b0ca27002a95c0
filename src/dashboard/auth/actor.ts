/** Who sends a request, and from where, for the commands that it carries out. */
import type { Actor } from '../../control/command.ts';
import type { Exchange } from '../http/context.ts';
import { addressOf } from './client-address.ts';
import { principalOf } from './principal-of.ts';

export const actorOf = (c: Exchange): Actor => ({ principal: principalOf(c), from: addressOf(c) });
