/**
 * `node person.mjs <JSON>`: a process that carries out one act of a person with an idempotency key, and prints its
 * answer as JSON: `{}`, or the code and message of its error. It runs the build, and may be killed at any time; then the
 * same act is asked for again.
 *
 * Facts: settings, clock { from, began, speed }, command, input, key.
 */
import { built } from '../support/built.mjs';
import { sharedClock } from './clock.mjs';

const { openCaretaker } = await built('app/caretaker');
const { systemClock } = await built('clock');
const { answerOnce } = await built('control/carry-out');
const { approveRun, rejectRun } = await built('control/commands/approve-run');
const { resumeRun } = await built('control/commands/resume-run');
const { openLog } = await built('log');

const { settings, clock, command: name, input, key } = JSON.parse(process.argv[2]);
const command = [approveRun, rejectRun, resumeRun].find((one) => one.name === name);
const caretaker = await openCaretaker({
  settings,
  log: await openLog({ level: 'error', form: 'json' }),
  clock: sharedClock(clock, systemClock),
});
process.stdout.write('at work\n');
const by = { principal: { kind: 'user', name: 'anna', grants: [{ role: 'admin' }] }, from: '192.0.2.1' };
const answer = await answerOnce(command, caretaker, input, by, key).then(
  () => ({}),
  ({ code = 'INTERNAL', message }) => ({ code, message }),
);
process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.exit(0));
