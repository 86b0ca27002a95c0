/**
 * Work that ends at an exact command to Redis, as in a process that is killed there: the command was carried out, its
 * answer never arrives, and nothing more is sent. As nothing is sent to the service without the budget in Redis, no
 * request is either. It is in this process, so that a death at each command can be tried.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Caretaker, openCaretaker } from '../../src/app/caretaker.ts';
import type { World } from './caretaker.ts';

interface Life {
  sent: number;
  /** How many commands are sent before it ends. */
  readonly commands: number;
  end(): void;
}
type Send = (...given: unknown[]) => Promise<unknown>;

const lives = new AsyncLocalStorage<Life>();

/** Cuts the commands that belong to a life. */
function cutting({ redis: { store } }: Pick<Caretaker, 'redis'>): void {
  const connection = store as unknown as { sendCommand: Send };
  const send = connection.sendCommand.bind(connection);
  connection.sendCommand = (...given) => {
    const life = lives.getStore();
    if (!life) return send(...given);
    if (life.sent >= life.commands) {
      life.end();
      return new Promise(() => {});
    }
    life.sent += 1;
    const answer = send(...given);
    if (life.sent < life.commands) return answer;
    answer.then(life.end, life.end);
    return new Promise(() => {});
  };
}

/**
 * Lets a Caretaker of its own work until it has sent so many commands. Gives how many it sent, and whether the work was
 * done before.
 */
export async function workUntilCut(
  { caretaker: { settings }, clock, log }: World,
  commands: number,
  work: (dying: Caretaker) => Promise<unknown>,
): Promise<{ done: boolean; sent: number }> {
  const dying = await openCaretaker({ settings, log, clock });
  cutting(dying);
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const life: Life = { sent: 0, commands, end };
  if (commands === 0) end();
  const whole = commands > 0 && lives.run(life, () => work(dying)).then(() => true);
  const done = await Promise.race([whole || false, ended.then(() => false)]);
  // What waits for an answer waits for ever.
  void dying.close();
  return { done, sent: life.sent };
}
