import type { z } from 'zod';
import type { Principal } from '../../access/principal.ts';
import { carryOut } from '../../control/carry-out.ts';
import type { Actor, Command } from '../../control/command.ts';
import type { ControlDeps } from '../../control/commands.ts';
import { redact, scrubOnce } from '../../secrets.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
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

/**
 * What a command that lists something gives to the caller: what the caller may see. Its texts were redacted when they
 * were recorded, and are redacted again.
 *
 * @throws {InvalidRequestError}
 */
export const ask = async <Schema extends z.ZodType, Result>(
  c: Exchange,
  { control }: Pick<DashboardContext, 'control'>,
  command: Command<Schema, Result, ControlDeps>,
  input: z.input<Schema>,
): Promise<Result> => redact(await carryOut(command, control, input, actorOf(c)), scrubOnce) as Result;

/**
 * Carries out a command that changes something, for the caller.
 *
 * @throws what `carryOut` throws.
 */
export async function change<Schema extends z.ZodType, Result>(
  c: Exchange,
  { control, log }: Pick<DashboardContext, 'control' | 'log'>,
  command: Command<Schema, Result, ControlDeps>,
  input: z.input<Schema>,
): Promise<Result> {
  const result = await carryOut(command, control, input, actorOf(c));
  log.info({ command: command.name, input }, 'carried out from the dashboard');
  return result;
}
