/**
 * The ends of two failed runs and their notification, interrupted after every single command to Redis by a process
 * that dies there. Another process takes over: the runs have ended, both are counted, and their receiver has got one
 * message, since the second failure is not a new one; twice only if the process died between the message and its
 * result, and then with the same id. And the same with every answer of Redis lost; each with messages that are
 * delivered at once, and held.
 */
import type { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { around } from '../support/between.ts';
import { openCutRedis } from '../support/cut-redis.ts';
import type { HeldClock } from '../support/held-clock.ts';
import { sampleOf } from '../support/sample.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { activeRun, aProcess, aRedis, endRun, telling, webhooks } from './world.ts';

/** A policy of its own for each interruption. */
const policyOf = (name: string) => ({ ...telling({ on: ['failed'], to: 'ops' }), name });
type Process = ReturnType<typeof aProcess>;

/** Both runs of a policy have begun. */
async function begin(one: Process, id: string): Promise<void> {
  for (const part of ['a', 'b']) await activeRun(one, policyOf(id), { id: `${id}.${part}` });
}

/** Ends the runs, hands their delivery to the queue and attempts it: all that one process does. */
async function endAndNotify(one: Process, id: string): Promise<void> {
  for (const part of ['a', 'b']) {
    const run = await one.records.runs.get(`${id}.${part}`);
    if (run?.status === 'running') await endRun(one, run, 'failed');
  }
  await one.notifier.tick();
  await one.notifier.deliverDue();
}

/** The process dies after `commands` commands: it sends no other, and gets no answer of them. */
function dieAfter(redis: Redis, commands: number): Promise<void> {
  const answers: unknown[] = [];
  return new Promise<void>((die) => {
    around(redis, 'sendCommand', (send) => {
      if (answers.length < commands) {
        const answer = send();
        answers.push(answer);
        return answer;
      }
      void Promise.allSettled(answers).then(() => die());
      return new Promise(() => undefined) as never;
    });
  });
}

/** How many commands one process needs for all of it. */
async function commandsOfAll(connect: () => Redis, settings: Settings): Promise<number> {
  const one = aProcess(connect(), settings);
  await begin(one, 'whole');
  let sent = 0;
  around(one.redis, 'sendCommand', (send) => {
    sent += 1;
    return send();
  });
  await endAndNotify(one, 'whole');
  await one.queues.close();
  return sent;
}

type Settings = ReturnType<typeof webhooks>;

const idsOf = ({ received }: Receiver, policy: string) =>
  received.flatMap(({ headers, body }) =>
    JSON.parse(body).data.policy === policy ? [String(headers['webhook-id'])] : [],
  );

/** After a minute the claim of a dead process has ended. */
async function takeOver(
  connect: () => Redis,
  settings: Settings,
  id: string,
  clock: HeldClock,
): Promise<void> {
  const other = aProcess(connect(), settings, clock);
  await endAndNotify(other, id);
  await clock.advance(61_000);
  await endAndNotify(other, id);
  for (const part of ['a', 'b'])
    expect((await other.records.runs.get(`${id}.${part}`))?.status).toBe('failed');
  expect(await other.records.notices.open(10)).toEqual([]);
  expect(await other.records.holds.due(clock.now() + 86_400_000, 10)).toEqual([]);
  expect(await other.records.deliveries.due(clock.now() + 86_400_000, 10)).toEqual([]);
  expect((await other.records.problems.ofPolicy(id)).of('runs', 'ops')).toMatchObject({ count: 2 });
  const all = await other.records.deliveries.list({ limit: 1_000 });
  expect(all.filter((one) => one.policy === id)).toMatchObject([{ state: 'delivered' }]);
  await other.queues.close();
}

/** `npm test` interrupts only at every sixth command. */
const EVERY = sampleOf(6, 1);

const waits = [{ group_wait: 0 }, { group_wait: 30_000 }];

test.each(waits)(
  'a process that dies after any command loses no notification, and repeats at most one, with its id: %o',
  async (rules) => {
    const ops = await startReceiver(204);
    const settings = webhooks({ ops }, undefined, rules);
    const { connect } = await aRedis();
    const commands = await commandsOfAll(connect, settings);
    expect(commands).toBeGreaterThan(8);
    const repeated: number[] = [];

    for (let after = 0; after < commands; after += EVERY) {
      const id = `run-${after}`;
      const dying = aProcess(connect(), settings);
      await begin(dying, id);
      const died = dieAfter(dying.redis, after);
      await Promise.race([endAndNotify(dying, id), died]);
      await takeOver(connect, settings, id, dying.clock);
      const ids = idsOf(ops, id);
      expect(new Set(ids).size, `after ${after} commands`).toBe(1);
      expect(ids.length, `after ${after} commands`).toBeLessThanOrEqual(2);
      if (ids.length === 2) repeated.push(after);
    }

    // The only such place: the message has been sent, and its result is not recorded yet.
    if (EVERY === 1) expect(repeated).toHaveLength(1);
    else expect(repeated.length).toBeLessThan(2);
  },
);

test.each(waits)(
  'a lost answer of Redis to any command loses no notification, and repeats none: %o',
  async (rules) => {
    const ops = await startReceiver(204);
    const settings = webhooks({ ops }, undefined, rules);
    const { connect, server } = await aRedis();
    const commands = await commandsOfAll(connect, settings);

    for (let nth = 1; nth <= commands; nth += EVERY) {
      const id = `run-${nth}`;
      const cut = await openCutRedis(server.socketPath);
      onTestFinished(() => cut.stop());
      const one = aProcess(cut.redis, settings);
      await begin(one, id);
      let sent = 0;
      around(cut.redis, 'sendCommand', (send) => {
        sent += 1;
        if (sent === nth) cut.loseNextAnswer();
        return send();
      });
      await endAndNotify(one, id);
      expect(cut.lost(), `command ${nth}`).toBe(1);
      await takeOver(connect, settings, id, one.clock);
      expect(idsOf(ops, id), `command ${nth}`).toHaveLength(1);
      cut.redis.disconnect();
    }
  },
);
