/**
 * The sandbox in a separate process, so that its work is not counted as ours: one for each account. Facts: sites, taskMs,
 * rateLimit, windowMs, accounts.
 */
import { built } from '../support/built.mjs';

const { startSandbox } = await built('sandbox/sandbox');

const { sites, taskMs, rateLimit, windowMs, accounts } = JSON.parse(process.argv[2]);

async function startAccount() {
  const sandbox = await startSandbox({ sites, rateLimit, windowMs, journal: 1_000 });
  for (const id of sandbox.siteIds()) {
    const site = sandbox.site(id);
    site.connect();
    site.lock(false);
    site.pause(false);
    site.underMaintenance(false);
    site.syncTakes(taskMs);
  }
  return sandbox;
}

const all = [];
for (let number = 0; number < accounts; number += 1) all.push(await startAccount());

/** The counts of all accounts. */
function added(countsOf) {
  const total = {};
  for (const sandbox of all)
    for (const [name, count] of Object.entries(countsOf(sandbox))) total[name] = (total[name] ?? 0) + count;
  return total;
}

process.on('message', ({ ask }) => {
  if (ask !== 'state') return;
  const limitedIn = ({ journal }) => journal.requests.filter(({ status }) => status === 429).length;
  process.send({
    requests: added(({ journal }) => journal.totals.requests),
    effects: added(({ journal }) => journal.totals.effects),
    limited: all.reduce((sum, sandbox) => sum + limitedIn(sandbox), 0),
  });
});
const [{ url, token }] = all;
process.send({ url, token, accounts: all.map((one) => ({ url: one.url, token: one.token })) });
