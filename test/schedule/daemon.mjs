/**
 * `node daemon.mjs <JSON>`: a scheduler in a process of its own, on a machine whose clock is wrong and jumps
 * by an hour now and then. Its time is Redis's, sped up, and goes no further than what stands in Redis under
 * `limit`; it says on standard output when it begins to fire a moment, and works until it is killed.
 */
import { built } from '../support/built.mjs';

// Built by the clock of the machine.
await built('log');
const { settings, from, began, limit, speed, wrongByMs, policies } = JSON.parse(process.argv[2]);

const MachineDate = Date;
let wrong = wrongByMs;
globalThis.Date = class extends MachineDate {
  constructor(...parts) {
    if (parts.length > 0) super(...parts);
    else super(MachineDate.now() + wrong);
  }
  static now() {
    return MachineDate.now() + wrong;
  }
};
setInterval(() => {
  wrong = wrong === wrongByMs ? wrongByMs + 3_600_000 : wrongByMs;
}, 3_500);

const { openCaretaker } = await built('app/caretaker');
const { connectRedis } = await built('redis/connect');
const { redisClock } = await built('redis/clock');
const { steadyClock } = await built('clock');
const { openLog } = await built('log');
const { startCronTick } = await built('schedule/cron-tick');
const { startScheduler } = await built('schedule/scheduler');

const log = await openLog({ level: 'error', form: 'json' });
const { store } = await connectRedis(settings.redis, settings.dataDir, log);
const shared = await redisClock(store, steadyClock);
let furthest = Number(await store.get(limit));
setInterval(async () => {
  furthest = Number(await store.get(limit));
}, 50);
const clock = {
  now: () => Math.min(Math.round(from + (shared.now() - began) * speed), furthest),
  sleep: (ms, signal) => steadyClock.sleep(ms / speed, signal),
};
const { engine, records } = await openCaretaker({ settings, log, clock });
startScheduler({
  policies: () => policies,
  fire(policy, firing) {
    process.stdout.write(`fires ${firing.scheduledFor}\n`);
    return engine.fire(policy, firing);
  },
  records,
  clock,
  log,
  tick: (answer) => startCronTick({ answer, locks: records.locks, clock: shared, log, everySeconds: 1 }),
});
