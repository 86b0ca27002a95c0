import { built } from '../support/built.mjs';

const { openCaretaker } = await built('app/caretaker');
const { startDaemon } = await built('app/daemon');
const { openLog } = await built('log');
/** A process that only serves the dashboard. Facts: settings. Reports its address, and its CPU time on request. */

const settings = JSON.parse(process.argv[2]);
const caretaker = await openCaretaker({ settings, log: await openLog({ level: 'error', form: 'json' }) });
const { dashboard } = await startDaemon({ caretaker, roles: ['dashboard'] });
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ cpuMs: (user + system) / 1_000, rss: process.memoryUsage.rss() });
});
process.send({ url: dashboard.url });
