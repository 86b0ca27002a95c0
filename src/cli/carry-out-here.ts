/** Carries out a command on the records of this folder. The daemon that it is meant for may use another Redis. */
import type { z } from 'zod';
import type { OpenRecords } from '../app/open-records.ts';
import { carryOut } from '../control/carry-out.ts';
import type { AnyCommand, BaseDeps, Command } from '../control/command.ts';
import { localActor } from './local-actor.ts';
import type { Terminal } from './output/terminal.ts';

/** Where something is recorded. */
type Place = Pick<BaseDeps, 'records' | 'clock'> & Pick<OpenRecords, 'redis'>;

/**
 * Carries it out as the person at this terminal. For all that changes something which is left to a daemon: prints one
 * line if no daemon has ever run on this Redis.
 */
export async function carryOutHere<Schema extends z.ZodType, Result, Deps>(
  command: Command<Schema, Result, Deps>,
  deps: Deps & BaseDeps & Place,
  input: z.input<Schema>,
  terminal: Terminal,
): Promise<Result> {
  const result = await carryOut(command, deps, input, localActor());
  await noteNoDaemon(deps, terminal);
  return result;
}

/** Carries out a command, and gives the answer that programs get. What only reads leaves nothing to a daemon. */
export async function answerHere(
  command: AnyCommand,
  deps: BaseDeps & Place,
  input: object,
  terminal: Terminal,
): Promise<object> {
  const result = await carryOut(command, deps, input, localActor());
  if (!command.reads) await noteNoDaemon(deps, terminal);
  return command.toAnswer(result, input);
}

/** The records about which that was said. A command can carry out several. */
const noted = new WeakSet<object>();

export async function noteNoDaemon({ records, redis, clock }: Place, terminal: Terminal): Promise<void> {
  if (noted.has(records)) return;
  noted.add(records);
  if (await records.alerts.hasWorked()) return;
  if ((await records.presence.ids(clock.now())).length > 0) return;
  terminal.message(
    `${terminal.paint('yellow', 'warning')}: No daemon has ever run on this Redis (${redis.where}). If one runs, it uses another data_dir or REDIS_URL, and does not see this.`,
  );
}
