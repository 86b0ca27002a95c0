/** A worker in a separate process, which reports its memory on request. Facts: settings. */
import { openCaretaker } from '../../dist/src/app/caretaker.js';
import { openLog } from '../../dist/src/log.js';

const settings = JSON.parse(process.argv[2]);
const caretaker = await openCaretaker({ settings, log: await openLog({ level: 'error', form: 'json' }) });
caretaker.engine.work(settings.daemon.concurrency);
process.on('message', () => {
  globalThis.gc?.();
  process.send({ rss: process.memoryUsage.rss(), cpuMs: process.cpuUsage().user / 1_000 });
});
process.send({ at: 'work' });
