/**
 * `node dying.mjs <JSON>`: a worker that kills itself at one exact step of an effect, like a machine that
 * loses power, or stops itself, like a machine that sleeps. It runs the build. The step is found by wrapping
 * the worker's dependencies.
 *
 * Facts: settings, clock { from, began, speed }, cut { step, operation, signal }. Steps: before-intent,
 * after-intent, after-answer, after-result; with any other it runs until it is killed. The signal is SIGKILL,
 * or SIGSTOP, once. On SIGTERM it finishes its work and exits.
 */
import { writeSync } from 'node:fs';
import { built } from './built.mjs';

const { openCaretaker } = await built('app/caretaker');
const { systemClock } = await built('clock');
const { openLog } = await built('log');

const { settings, clock, cut } = JSON.parse(process.argv[2]);
let cuts = 0;
const die = () => {
  cuts += 1;
  if (cuts > 1) return;
  writeSync(1, 'cut\n');
  process.kill(process.pid, cut.signal ?? 'SIGKILL');
};
const caretaker = await openCaretaker({
  settings,
  log: await openLog({ level: 'error', form: 'json' }),
  clock: {
    now: () => Math.round(clock.from + (Date.now() - clock.began) * clock.speed),
    sleep: (ms, signal) => systemClock.sleep(ms / clock.speed, signal),
  },
});
const { targets, outbox } = caretaker.records;
const { client } = caretaker.link('default');
let answered = false;

const noteIntent = targets.noteIntent.bind(targets);
targets.noteIntent = async (run, dispatched, intent) => {
  const ours = intent.operation === cut.operation;
  if (ours && cut.step === 'before-intent') die();
  const fence = await noteIntent(run, dispatched, intent);
  if (ours && cut.step === 'after-intent') die();
  return fence;
};
const noteSiteIntent = outbox.noteIntent.bind(outbox);
outbox.noteIntent = async (claim, name, at) => {
  const ours = (name === 'work') === (cut.operation === 'createSiteCustomWorks');
  if (ours && cut.step === 'before-intent') die();
  const noted = await noteSiteIntent(claim, name, at);
  if (ours && cut.step === 'after-intent') die();
  return noted;
};
const setState = outbox.setState.bind(outbox);
outbox.setState = async (...args) => {
  await setState(...args);
  if (answered && cut.step === 'after-result') die();
};
const call = client.call.bind(client);
client.call = async (operation, input, options) => {
  const answer = await call(operation, input, options);
  if (operation === cut.operation) {
    answered = true;
    if (cut.step === 'after-answer') die();
  }
  return answer;
};
const move = targets.move.bind(targets);
targets.move = async (...args) => {
  const moved = await move(...args);
  if (answered && cut.step === 'after-result') die();
  return moved;
};

const working = caretaker.engine.work(1);
process.on('SIGTERM', async () => {
  await working.stop();
  await caretaker.close();
  process.exit(0);
});
process.stdout.write('at work\n');
