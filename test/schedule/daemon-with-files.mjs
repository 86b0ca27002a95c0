/**
 * `node daemon-with-files.mjs <JSON>`: a daemon with the scheduler role in a process of its own, on the
 * policy files of a folder given to it, with the clock that all processes of the test share. Its log goes to
 * standard error, and it works until it is killed.
 */
import { built } from '../support/built.mjs';

const { openCaretaker } = await built('app/caretaker');
const { startDaemon } = await built('app/daemon');
const { systemClock } = await built('clock');
const { openLog } = await built('log');

const { settings, clock, roles } = JSON.parse(process.argv[2]);
const log = await openLog({ level: 'info', form: 'json' });
const caretaker = await openCaretaker({
  settings,
  log,
  clock: {
    now: () => Math.round(clock.from + (Date.now() - clock.began) * clock.speed),
    sleep: (ms, signal) => systemClock.sleep(ms / clock.speed, signal),
  },
});
await startDaemon({ caretaker, roles });
process.stdout.write('at work\n');
