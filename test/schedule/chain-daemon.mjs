/**
 * `node chain-daemon.mjs <JSON>`: a daemon that works and schedules, and kills itself at one exact step between
 * the end of a run and the start of the run that follows it, like a machine that loses power. It runs the build.
 *
 * Facts: settings, clock { from, began, speed }, policies, cut. Cuts: after-end (of the predecessor's run, before
 * anything that follows in this process), before-create, after-create (before the queue knows of the run),
 * before-cursor. Without a cut it runs until it is killed.
 */
import { writeSync } from 'node:fs';
import { built } from '../support/built.mjs';

const { openCaretaker } = await built('app/caretaker');
const { systemClock } = await built('clock');
const { openLog } = await built('log');
const { isFinal } = await built('run/moves');
const { startCronTick } = await built('schedule/cron-tick');
const { startScheduler } = await built('schedule/scheduler');

const { settings, clock, policies, cut } = JSON.parse(process.argv[2]);
const [, follower] = policies;
const die = (step) => {
  if (cut !== step) return;
  writeSync(1, 'cut\n');
  process.kill(process.pid, 'SIGKILL');
};
const log = await openLog({ level: 'error', form: 'json' });
const time = {
  now: () => Math.round(clock.from + (Date.now() - clock.began) * clock.speed),
  sleep: (ms, signal) => systemClock.sleep(ms / clock.speed, signal),
};
const { engine, records } = await openCaretaker({ settings, log, clock: time });

const { runs, ledger } = records;
const move = runs.move.bind(runs);
runs.move = async (run, to, change) => {
  const moved = await move(run, to, change);
  if (moved && run.policy !== follower.name && isFinal(to)) die('after-end');
  return moved;
};
const create = runs.create.bind(runs);
runs.create = async (run, ...rest) => {
  if (run.policy === follower.name) die('before-create');
  const made = await create(run, ...rest);
  if (run.policy === follower.name) die('after-create');
  return made;
};
let created = false;
const advance = ledger.record.bind(ledger);
ledger.record = async (policy, pending, cursor) => {
  if (created && policy === follower.name) die('before-cursor');
  return advance(policy, pending, cursor);
};

engine.work(10);
startScheduler({
  policies: () => policies,
  async fire(policy, firing) {
    const run = await engine.fire(policy, firing);
    created = true;
    return run;
  },
  records,
  clock: time,
  log,
  tick: (answer) => startCronTick({ answer, locks: records.locks, clock: systemClock, log, everySeconds: 1 }),
});
process.stdout.write('at work\n');
