/**
 * A fleet with a long history, written through the stores that the engine uses: 100,000 sites, 10,000 runs and a million
 * outcomes, or a part of it.
 *
 * One policy is noisy: four of ten runs are its, all of them in the last day. One run has every site.
 */
import { policy } from './stage.mjs';

const DAY_MS = 86_400_000;
const DAYS = 60;
const POLICIES = 200;
const NOISY = 'noisy';
/** So many runs are written at the same time. */
const AT_ONCE = 6;
const PAGE = 500;

const words = [
  'harbour',
  'old-town',
  'lakeside',
  'mill',
  'station',
  'garden',
  'castle',
  'bridge',
  'forest',
  'market',
];
const trades = [
  'bakery',
  'dental',
  'florist',
  'hotel',
  'legal',
  'cycles',
  'books',
  'physio',
  'roofing',
  'tiles',
];
const labelOf = (site) => `https://${words[site % 10]}-${trades[Math.floor(site / 10) % 10]}-${site}.example`;

export const policyNames = [NOISY, ...Array.from({ length: POLICIES - 1 }, (_, index) => `policy-${index}`)];

/** Of each run: its policy, when it was created and how many targets it has. */
function* runsOf({ runs, outcomes, sites, now }) {
  const noisy = Math.floor(runs * 0.4);
  const each = Math.max(1, Math.floor((outcomes - sites - noisy) / (runs - noisy - 1)));
  yield { name: 'policy-0', at: now - 2 * DAY_MS, targets: sites };
  for (let index = 0; index < noisy; index += 1)
    yield { name: NOISY, at: now - Math.floor(((index + 1) * DAY_MS) / (noisy + 1)), targets: 1 };
  for (let index = 0; index < runs - noisy - 1; index += 1) {
    const name = policyNames[1 + (index % (POLICIES - 1))];
    yield { name, at: now - Math.floor(((index + 1) * DAYS * DAY_MS) / (runs - noisy)), targets: each };
  }
}

const ends = [
  ...Array.from({ length: 17 }, () => ({ outcome: 'succeeded', reason: 'done' })),
  { outcome: 'failed', reason: 'task-failed', detail: 'The service reports: the disk of the site is full.' },
  { outcome: 'failed', reason: 'timeout', detail: 'The time limit passed after 2 h.' },
  { outcome: 'skipped', reason: 'daily-limit', detail: 'The site has used up its syncs for today.' },
];

/** The id of the run with every site. */
export const bigRunId = (now) => idOf('policy-0', now - 2 * DAY_MS, 0);
const idOf = (name, at, number) =>
  `${name}.${new Date(at).toISOString().replace(/[-:]|\.\d+/g, '')}-${number}`;

/** Writes the fleet. `told` is called with the number of outcomes so far. */
export async function fillFleet({ records }, { runs, outcomes, sites, now, told = () => undefined }) {
  const waiting = runsOf({ runs, outcomes, sites, now });
  let number = 0;
  let next = 0;
  let written = 0;
  const writeNext = async () => {
    for (const one of waiting) {
      const mine = number++;
      const first = next;
      next = (next + one.targets) % sites;
      await writeRun(records, { ...one, number: mine, first, sites });
      written += one.targets;
      told(written);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, writeNext));
}

/** Writes runs of one target each. */
export async function fillRuns({ records }, { runs, sites, now }) {
  for (let number = 0; number < runs; number += 1)
    await writeRun(records, { name: 'policy-1', at: now - number, targets: 1, number, first: number, sites });
}

/** A run that is queued. */
export const runAt = (name, at, number) => ({
  id: idOf(name, at, number),
  policy: name,
  job: 'site-sync',
  account: 'default',
  status: 'queued',
  trigger: 'schedule',
  scheduledFor: at,
  createdAt: at,
  requests: 0,
  counts: { planned: 0, succeeded: 0, failed: 0, skipped: 0, cancelled: 0 },
  policyJson: JSON.stringify({ ...policy(), name, description: 'Syncs what was not synced.' }),
  policyHash: 'bench',
});

/** A target that is planned. */
export const pendingTarget = (id, label) => ({
  id,
  label,
  state: 'pending',
  fence: 0,
  attempts: 0,
  waits: 0,
});

async function writeRun(records, { name, at, targets, number, first, sites }) {
  const run = runAt(name, at, number);
  await records.runs.create(run, { concurrency: 50, targetMs: 60_000 });
  await records.runs.move(run, 'planning', { at });
  const fence = await records.plans.begin(run.id);
  const siteAt = (index) => (first + index) % sites;
  const planned = (index) => pendingTarget(`site-${siteAt(index)}`, labelOf(siteAt(index)));
  for (let from = 0; from < targets; from += PAGE) {
    const page = Array.from({ length: Math.min(PAGE, targets - from) }, (_, index) => planned(from + index));
    await records.plans.add(run.id, fence, page);
  }
  await records.runs.move(run, 'running', { at, planComplete: true });
  const isNoisy = name === NOISY;
  let failed = 0;
  for (let from = 0; from < targets; from += PAGE) {
    await Promise.all(
      Array.from({ length: Math.min(PAGE, targets - from) }, (_, index) => {
        const target = planned(from + index);
        const end = isNoisy ? ends[17] : ends[(siteAt(from + index) + number) % ends.length];
        if (end.outcome === 'failed') failed += 1;
        const taskId = `task-${number}-${from + index}`;
        const ended = {
          ...target,
          ...end,
          state: 'ended',
          attempts: 1,
          taskId,
          startedAt: at,
          finishedAt: at + 90_000,
        };
        return records.targets.move(run, ended, {
          from: ['pending'],
          spent: { syncSite: 1 },
          effects: [{ operation: 'syncSite', id: taskId }],
          at: at + 90_000,
        });
      }),
    );
  }
  const status = failed === targets ? 'failed' : failed > 0 ? 'partial' : 'succeeded';
  await records.runs.move(run, status, { at: at + 120_000 });
}

const severities = ['error', 'warning', 'warning', 'info'];

/** Writes open findings: each of half of the policies has as many, on sites one after the other. */
export async function fillFindings({ records }, { findings, sites, now }) {
  const of = policyNames.slice(1, 1 + POLICIES / 2);
  const each = Math.floor(findings / of.length);
  for (const [number, name] of of.entries()) {
    const startedAt = now - (number % 20) * 3_600_000;
    const run = runAt(name, startedAt, number);
    await records.runs.create(run, { concurrency: 50, targetMs: 60_000 });
    const compared = { id: run.id, account: run.account, policy: name, startedAt, isWhole: true };
    for (let from = 0; from < each; from += PAGE) {
      const seen = Array.from({ length: Math.min(PAGE, each - from) }, (_, index) => {
        const site = (number * each + from + index) % sites;
        return {
          target: `site-${site}`,
          label: labelOf(site),
          severity: severities[site % severities.length],
          about: words[site % words.length],
          message: `The last backup of the site is ${1 + (site % 30)} days old.`,
        };
      });
      await records.findings.note(compared, from / PAGE + 1, seen);
    }
    await records.runs.move(run, 'skipped', { at: startedAt });
  }
}

/** Writes what each of these accounts spent in the last hour, for each minute, by three policies. */
export async function fillBudgets(store, accounts, now) {
  const minute = Math.floor(now / 60_000) * 60_000;
  for (const account of accounts) {
    const writes = store.pipeline();
    for (let ago = 0; ago < 60; ago += 1) {
      const spent = { limit: 200 };
      for (const name of policyNames.slice(0, 3)) spent[`action ${name}`] = 20 + (ago % 40);
      writes.hset(`{caretaker}:budget:${account}:spent:minute:${minute - ago * 60_000}`, spent);
    }
    await writes.exec();
  }
}
