/**
 * The sandbox in a separate process, so that its work is not counted as ours. Facts: sites, taskMs,
 * rateLimit, windowMs.
 */
import { startSandbox } from '../../dist/src/sandbox/sandbox.js';

const { sites, taskMs, rateLimit, windowMs } = JSON.parse(process.argv[2]);
const sandbox = await startSandbox({ sites, rateLimit, windowMs, journal: 1_000 });
for (const id of sandbox.siteIds()) {
  const site = sandbox.site(id);
  site.connect();
  site.lock(false);
  site.pause(false);
  site.underMaintenance(false);
  site.syncTakes(taskMs);
}
process.on('message', ({ ask }) => {
  if (ask === 'state') {
    const { requests, effects } = sandbox.journal.totals;
    process.send({
      requests,
      effects,
      limited: sandbox.journal.requests.filter(({ status }) => status === 429).length,
      cpuMs: process.cpuUsage().user / 1_000,
    });
  }
});
process.send({ url: sandbox.url, token: sandbox.token });
