/**
 * `node notifying.mjs <JSON>`: a process that notifies, until it is killed. It runs the build. Facts: settings, clock
 * { from, began, speed }.
 */
import { built } from '../support/built.mjs';

const { openCaretaker } = await built('app/caretaker');
const { systemClock } = await built('clock');
const { openLog } = await built('log');

const { settings, clock } = JSON.parse(process.argv[2]);
const caretaker = await openCaretaker({
  settings,
  log: await openLog({ level: 'error', form: 'json' }),
  clock: {
    now: () => Math.round(clock.from + (Date.now() - clock.began) * clock.speed),
    sleep: (ms, signal) => systemClock.sleep(ms / clock.speed, signal),
  },
});
caretaker.notifier.work();
