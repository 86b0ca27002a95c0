import { built } from '../support/built.mjs';

const { openCaretaker } = await built('app/caretaker');
const { openLog } = await built('log');
/** A worker in a separate process, which reports its memory and CPU time on request. Facts: settings. */

const settings = JSON.parse(process.argv[2]);
const caretaker = await openCaretaker({ settings, log: await openLog({ level: 'error', form: 'json' }) });
caretaker.engine.work(settings.daemon.concurrency);
process.on('message', () => {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  process.send({ rss: process.memoryUsage.rss(), cpuMs: (user + system) / 1_000 });
});
process.send({ at: 'work' });
