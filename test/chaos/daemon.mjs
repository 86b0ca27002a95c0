/**
 * `node daemon.mjs <JSON>`: a worker and scheduler in a separate process, for a given Redis and service, with the clock
 * that all processes of the test share. It runs the build, so that it starts in a fraction of a second, and
 * works until it is killed.
 */
import { built } from '../support/built.mjs';
import { sharedClock } from './clock.mjs';

const { openCaretaker } = await built('app/caretaker');
const { systemClock } = await built('clock');
const { openLog } = await built('log');
const { startCronTick } = await built('schedule/cron-tick');
const { startScheduler } = await built('schedule/scheduler');

const { settings, clock, policies = [] } = JSON.parse(process.argv[2]);
const log = await openLog({ level: 'error', form: 'json' });
const time = sharedClock(clock, systemClock);
const { engine, notifier, records } = await openCaretaker({ settings, log, clock: time });
engine.work(settings.daemon.concurrency);
notifier.work();
// The policies that follow others (`schedule.after`); all others are started by the test.
startScheduler({
  policies: () => policies,
  fire: (policy, firing) => engine.fire(policy, firing),
  records,
  clock: time,
  log,
  tick: (answer) => startCronTick({ answer, locks: records.locks, clock: systemClock, log, everySeconds: 1 }),
});
process.stdout.write('at work\n');
