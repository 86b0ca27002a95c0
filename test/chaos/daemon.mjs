/**
 * `node daemon.mjs <JSON>`: a worker in a separate process, for a given Redis and service, with the clock
 * that all processes of the test share. It runs the build, so that it starts in a fraction of a second, and
 * works until it is killed.
 */
import { openCaretaker } from '../../dist/src/app/caretaker.js';
import { systemClock } from '../../dist/src/clock.js';
import { openLog } from '../../dist/src/log.js';

const { settings, clock } = JSON.parse(process.argv[2]);
const log = await openLog({ level: 'error', form: 'json' });
const caretaker = await openCaretaker({
  settings,
  log,
  clock: {
    now: () => Math.round(clock.from + (Date.now() - clock.began) * clock.speed),
    sleep: (ms, signal) => systemClock.sleep(ms / clock.speed, signal),
  },
});
caretaker.engine.work(settings.daemon.concurrency);
process.stdout.write('at work\n');
