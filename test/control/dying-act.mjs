/**
 * `node dying-act.mjs <JSON>`: a process that carries out one act and kills itself at an exact step of it. It runs
 * the build. Facts: settings, policy, cut: `before-act`, `after-act` or `after-result`.
 */
import { built } from '../support/built.mjs';

const { openCaretaker } = await built('app/caretaker');
const { answerOnce } = await built('control/carry-out');
const { runPolicy } = await built('control/commands/run-policy');
const { openLog } = await built('log');

const { settings, policy, cut } = JSON.parse(process.argv[2]);
const caretaker = await openCaretaker({ settings, log: await openLog({ level: 'error', form: 'json' }) });
const die = () => process.kill(process.pid, 'SIGKILL');
const engine = {
  async fire(...given) {
    if (cut === 'before-act') die();
    const run = await caretaker.engine.fire(...given);
    if (cut === 'after-act') die();
    return run;
  },
};
const { acts } = caretaker.records;
acts.answer = async () => die();
const by = { principal: { kind: 'user', name: 'anna', grants: [{ role: 'admin' }] }, from: '192.0.2.1' };
const deps = { ...caretaker, engine, policy: () => policy, needAccount: () => undefined };
await answerOnce(runPolicy, deps, { policy: policy.name }, by, 'key-1');
