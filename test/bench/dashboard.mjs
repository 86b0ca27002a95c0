/** A process that only serves the dashboard. Facts: settings. Reports its address, and its CPU time on request. */
import { openCaretaker } from '../../dist/src/app/caretaker.js';
import { startDaemon } from '../../dist/src/app/daemon.js';
import { openLog } from '../../dist/src/log.js';

const settings = JSON.parse(process.argv[2]);
const caretaker = await openCaretaker({ settings, log: await openLog({ level: 'error', form: 'json' }) });
const { dashboard } = await startDaemon({ caretaker, roles: ['dashboard'] });
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ cpuMs: (user + system) / 1_000, rss: process.memoryUsage.rss() });
});
process.send({ url: dashboard.url });
