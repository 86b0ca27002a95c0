/** `node folder-daemon.mjs <JSON>`: a whole daemon that reads a policies folder, for a given Redis, service and clock. */
import { built } from '../support/built.mjs';
import { sharedClock } from './clock.mjs';

const { openCaretaker } = await built('app/caretaker');
const { startDaemon } = await built('app/daemon');
const { systemClock } = await built('clock');
const { openLog } = await built('log');

const { settings, clock } = JSON.parse(process.argv[2]);
const time = sharedClock(clock, systemClock);
const log = await openLog({ level: 'error', form: 'json' });
const caretaker = await openCaretaker({ settings, log, clock: time });
await startDaemon({ caretaker, roles: ['scheduler', 'worker'] });
process.stdout.write('at work\n');
