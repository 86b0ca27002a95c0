/**
 * A worker in this process that is lost at one exact step of an effect, as a process is that is killed there: what
 * waits for an answer of Redis waits for ever, and nothing more is sent to Redis. As no effect is requested without an
 * intent in Redis, none is requested either. It costs a tenth of a process, which `dying.ts` has for the long tests.
 */
import type { Redis } from 'ioredis';
import { type Caretaker, openCaretaker } from '../../src/app/caretaker.ts';
import type { OperationId } from '../../src/contract/operations.ts';
import { supervisorLease } from '../../src/records/lock-store.ts';
import { around } from './between.ts';
import { until, type World } from './caretaker.ts';
import type { Step } from './dying.ts';
import { keptLog } from './quiet.ts';

const never = () => new Promise<never>(() => {});

/** Gives a function that cuts every connection of a Caretaker to Redis. Those of its workers are opened later. */
function connectionsOf({ redis: { store } }: Caretaker): () => void {
  const connections = [store as Redis];
  const follow = (connection: Redis) => {
    const duplicate = connection.duplicate.bind(connection);
    connection.duplicate = (...given) => {
      const opened = duplicate(...given);
      connections.push(opened);
      follow(opened);
      return opened;
    };
  };
  follow(store as Redis);
  return () => {
    for (const connection of connections) {
      connection.sendCommand = never;
      connection.disconnect();
    }
  };
}

/**
 * Lets a worker work until it is lost at a step of the next such effect. Then its lease has expired: that takes six
 * seconds by the clock of Redis, which no test can move.
 */
export async function loseAt(world: World, step: Step, operation: OperationId): Promise<void> {
  const { clock, sandbox } = world;
  const before = sandbox.journal.effectsOf(operation).length;
  const lost = await openCaretaker({ settings: world.caretaker.settings, clock, log: keptLog() });
  const cut = connectionsOf(lost);
  const { client } = lost.link('default');
  const { targets } = lost.records;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const lose = () => {
    cut();
    end();
    return never();
  };
  let answered = false;

  around(targets, 'noteIntent', async (note, _run, _target, intent) => {
    const ours = intent.operation === operation;
    if (ours && step === 'before-intent') return lose();
    const fence = await note();
    return ours && step === 'after-intent' ? lose() : fence;
  });
  around(client, 'call', async (call, asked) => {
    const answer = await call();
    if (asked !== operation) return answer;
    answered = true;
    return step === 'after-answer' ? lose() : answer;
  });
  around(targets, 'move', async (move) => {
    const moved = await move();
    return answered && step === 'after-result' ? lose() : moved;
  });

  if (step === 'after-send') sandbox.failNext({ operation }, 'slow');
  lost.engine.work(1);
  if (step === 'after-send') {
    await until(world, () => sandbox.journal.effectsOf(operation).length > before);
    void lose();
  }
  await ended;
  // Its requests that are in progress are cut, too.
  await client.close();
  await world.caretaker.records.locks.release(supervisorLease('default'), lost.owner);
}
