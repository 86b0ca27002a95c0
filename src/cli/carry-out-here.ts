/** Carries out a command on the records of this folder. The daemon that it is meant for may use another Redis. */

import { hostname, userInfo } from 'node:os';
import { localPrincipal } from '../access/principal.ts';
import type { OpenRecords } from '../app/open-records.ts';
import { answer } from '../control/carry-out.ts';
import type { Actor, AnyCommand, BaseDeps } from '../control/command.ts';
import type { Terminal } from './output/terminal.ts';

/** Where something is recorded. */
type Place = Pick<BaseDeps, 'records' | 'clock'> & Pick<OpenRecords, 'redis'>;

/** Carries it out as the person at this terminal, and gives the answer that programs get. */
export const answerHere = (command: AnyCommand, deps: BaseDeps, input: object): Promise<object> =>
  answer(command, deps, input, localActor());

/** The records about which that was said. A command can carry out several. */
const noted = new WeakSet<object>();

/** For what is left to a daemon: prints one line if none has ever run on this Redis. */
export async function noteNoDaemon({ records, redis, clock }: Place, terminal: Terminal): Promise<void> {
  if (noted.has(records)) return;
  noted.add(records);
  if (await records.alerts.hasWorked()) return;
  if ((await records.presence.ids(clock.now())).length > 0) return;
  terminal.message(
    `${terminal.paint('yellow', 'warning')}: No daemon has ever run on this Redis (${redis.where}). If one runs, it uses another data_dir or REDIS_URL, and does not see this.`,
  );
}

/** The user of the operating system. */
export const localActor = (): Actor => ({
  principal: localPrincipal(userInfo().username),
  from: `cli@${hostname()}`,
});
