/**
 * What ten readers of a busy fleet cost: the CPU use of a process that only serves the dashboard, first without
 * readers, then with ten that keep a page open, as browsers do.
 *
 * 200 runs are running, and ten of their targets end each second: three accounts at their limit. They are written
 * straight to the records, so that nothing but the dashboard uses its process.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pendingTarget, runAt } from './fleet.mjs';
import { openPage } from './reader.mjs';
import { child, onStage, sleep } from './stage.mjs';
import { PASSWORD, signIn, writePolicies } from './visit.mjs';

const RUNS = 200;
const TARGETS = 40;
const ENDS_PER_SECOND = 10;
const WARM_UP_MS = 8_000;
const MEASURED_MS = 30_000;

const nameOf = (number) => `policy-${number}`;
const runId = (number) => `${nameOf(number)}.20261122T010000Z`;

const policyOf = (number) => `  - name: ${nameOf(number)}
    job: site-sync
    schedule: { cron: "${number % 60} ${number % 24} * * *", timezone: Europe/Berlin }
    select:
      filters: { connection_status: { eq: connected }, tags: { in: ["${number}"] } }
      where: site.sync.last_sync_at < now - duration("20h")
`;

/** Stores a run with a plan, which is running. */
async function storeRun({ records }, number) {
  const at = Date.now();
  const run = { ...runAt(nameOf(number), at, number), id: runId(number) };
  await records.runs.create(run, { concurrency: TARGETS, targetMs: 60_000 });
  await records.runs.move(run, 'planning', { at });
  const targets = Array.from({ length: TARGETS }, (_, index) =>
    pendingTarget(`site-${number}-${index}`, `site-${number}-${index}.example`),
  );

  await records.plans.add(run.id, await records.plans.begin(run.id), targets);
  await records.runs.move(run, 'running', { at, planComplete: true });
  return run;
}

/** Ends targets, one run after the other, until it is stopped; each eighth fails. */
function endTargets({ records }, runs) {
  let ended = 0;
  let stopped = false;
  const one = async () => {
    const run = runs[ended % runs.length];
    const at = Date.now();
    const [dispatched] = await records.targets.dispatch(run.id, at, 1);
    const { target } = (dispatched && (await records.targets.claim(run, dispatched, at))) ?? {};
    if (!target) throw new Error(`No target of ${run.id} is left.`);
    const failed = ended % 8 === 0;
    const end = { outcome: failed ? 'failed' : 'succeeded', reason: failed ? 'task-failed' : 'done' };
    const moved = { ...target, ...end, state: 'ended', finishedAt: at };
    await records.targets.move(run, moved, { from: ['acting'], spent: { syncSite: 1 }, at });
    ended += 1;
  };
  const done = (async () => {
    const begun = performance.now();
    while (!stopped) {
      await one();
      await sleep(begun + (ended * 1_000) / ENDS_PER_SECOND - performance.now());
    }
  })();
  return async () => {
    stopped = true;
    await done;
    return ended;
  };
}

/** The percentage of a core that a process uses for so long. */
async function percentageOf(dashboard) {
  const { cpuMs } = await dashboard.ask();
  const begun = performance.now();
  await sleep(MEASURED_MS);
  return (((await dashboard.ask()).cpuMs - cpuMs) / (performance.now() - begun)) * 100;
}

export async function readers() {
  const folder = await mkdtemp(join(tmpdir(), 'caretaker-bench-'));
  await writePolicies(
    folder,
    Array.from({ length: RUNS }, (_, number) => policyOf(number)),
  );
  try {
    return await onStage({ sites: 1, workers: 0 }, async ({ caretaker, settings }) => {
      const runs = [];
      for (let number = 0; number < RUNS; number += 1) runs.push(await storeRun(caretaker, number));
      const dashboard = await child('dashboard.mjs', {
        ...settings,
        policiesDir: join(folder, 'policies'),
        dashboard: { host: '127.0.0.1', port: 0, password: PASSWORD },
      });
      const stop = endTargets(caretaker, runs);
      try {
        await sleep(WARM_UP_MS);
        const without = await percentageOf(dashboard);
        const { url } = dashboard.said;
        const pages = ['/', '/runs', `/runs/${encodeURIComponent(runId(0))}`];
        const open = [];
        for (let number = 0; number < 10; number += 1)
          open.push(await openPage(url, pages[number % pages.length], await signIn(url)));
        await sleep(WARM_UP_MS);
        const before = open.map((reader) => reader.seen());
        const withTen = await percentageOf(dashboard);
        const perSecond = (what, of) =>
          of.reduce((sum, index) => sum + open[index].seen()[what] - before[index][what], 0) /
          of.length /
          (MEASURED_MS / 1_000);
        const all = [...open.keys()];
        const lists = all.filter((index) => index % pages.length !== 2);
        const seen = {
          [UPDATES]: perSecond('updates', lists),
          [BYTES]: perSecond('bytes', all) / 1_024,
        };
        for (const reader of open) reader.close();
        return { [TEN]: withTen - without, [NONE]: without, ...seen };
      } finally {
        await stop();
        await dashboard.end();
      }
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const TEN = 'ten readers of 200 running runs (% of a core)';
const NONE = 'the dashboard without readers (% of a core)';
const UPDATES = 'updates of a list that a reader receives (per second)';
const BYTES = 'what a reader receives (KB per second)';

/** The goal. */
export const toReachOfReaders = { [TEN]: { most: 5 } };
