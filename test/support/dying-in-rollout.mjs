/**
 * `node dying-in-rollout.mjs <JSON>`: a worker that kills itself before or after the first change of a rollout or
 * approval at which no earlier worker died, like a machine that loses power. It runs the build, and prints the name of
 * that step before it dies: `running 2 before` is directly before batch 2 begins.
 *
 * Facts: settings, clock { from, began, speed }, passed: the names of the steps at which others died.
 */
import { writeSync } from 'node:fs';
import { built } from './built.mjs';

const { openCaretaker } = await built('app/caretaker');
const { systemClock } = await built('clock');
const { openLog } = await built('log');

const { settings, clock, passed } = JSON.parse(process.argv[2]);
const dieAt = (step) => {
  if (passed.includes(step)) return;
  writeSync(1, `died at: ${step}\n`);
  process.kill(process.pid, 'SIGKILL');
};
const caretaker = await openCaretaker({
  settings,
  log: await openLog({ level: 'error', form: 'json' }),
  clock: {
    now: () => Math.round(clock.from + (Date.now() - clock.began) * clock.speed),
    sleep: (ms, signal) => systemClock.sleep(ms / clock.speed, signal),
  },
});
const { batches, runs } = caretaker.records;

const around = (object, name, nameOf) => {
  const original = object[name].bind(object);
  object[name] = async (...args) => {
    const step = nameOf(...args);
    if (step !== undefined) dieAt(`${step} before`);
    const result = await original(...args);
    if (step !== undefined) dieAt(`${step} after`);
    return result;
  };
};
const begun = ({ batches: all }) => all.filter(({ begunAt }) => begunAt !== undefined).length;
around(batches, 'place', () => 'place');
around(batches, 'step', (_run, { rollout }) => rollout && `${rollout.is} ${begun(rollout)}`);
around(
  runs,
  'move',
  (_run, to, { step }) => step && `move to ${to} ${step.rollout ? 0 : step.approvals.length}`,
);

caretaker.engine.work(20);
process.stdout.write('at work\n');
