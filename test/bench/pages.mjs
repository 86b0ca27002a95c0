/**
 * How fast the pages of the dashboard and its search are with a long history: the time until the first byte of each page,
 * commands that Redis takes longer than a millisecond for, and the memory of Redis.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bigRunId, fillBudgets, fillFindings, fillFleet, fillRuns, policyNames } from './fleet.mjs';
import { firstPaints } from './paint.mjs';
import { child, onStage } from './stage.mjs';
import { PASSWORD, signIn, writePolicies } from './visit.mjs';

const scale = Number(process.env.BENCH_FLEET ?? 1);
const SIZE = { runs: 10_000 * scale, outcomes: 1_000_000 * scale, sites: 100_000 * scale };
const FINDINGS = 100_000 * scale;
/** To see what a run takes. */
const RUNS = 1_000;
const ACCOUNTS = 100;
const TIMES = 9;
const SLOW_US = 1_000;

const policyOf = (name, number) => `  - name: ${name}
    job: site-sync
    schedule: { cron: "${number % 60} ${number % 24} * * *", timezone: Europe/Berlin }
    select: { filters: { connection_status: { eq: connected } } }
`;

/** The pages, each with what it shows. */
const pagesOf = (now) => {
  const run = `/runs/${encodeURIComponent(bigRunId(now))}`;
  return {
    overview: '/',
    policies: '/policies',
    'a noisy policy': '/policies/noisy',
    'a policy': '/policies/policy-0',
    runs: '/runs',
    'failed runs': '/runs?status=failed',
    'runs of two conditions': '/runs?policy=noisy&status=cancelled',
    'a run of all sites': run,
    'its failed targets': `${run}?outcome=failed`,
    'a site': '/targets/default/site-4711',
    findings: '/findings',
    'findings with a text': '/findings?q=30+days',
    'findings with a text that none has': '/findings?q=nothing-has-this',
    'new findings': '/findings?state=new',
    sites: '/sites',
    'sites from Z to A': '/sites?dir=down',
    'sites by a part of the name': '/sites?q=dental',
    'sites that failed': '/sites?result=failed',
    approvals: '/approvals',
    schedule: '/schedule',
    budget: '/budget',
    audit: '/audit',
    system: '/system',
  };
};

const searches = {
  'search: a site by two words': 'dental 471',
  'search: a part that most sites have': 'example',
  'search: nothing': 'nothing-has-this',
  'search: a run': 'policy-7.2026',
  'search: a task': 'task-1-3',
  'search: a reason': 'timeout',
};

async function timesOf(address, path, cookie) {
  const times = [];
  for (let time = 0; time <= TIMES; time += 1) {
    const begun = performance.now();
    const answer = await fetch(address + path, {
      headers: { cookie, accept: 'text/html' },
      redirect: 'manual',
    });
    // The headers are sent with the first byte of the page.
    const ms = performance.now() - begun;
    await answer.text();
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw new Error(`${path} was answered with HTTP ${answer.status}.`);
    if (time > 0) times.push(ms);
  }
  return times.sort((a, b) => a - b);
}

/** The time of each address, and how many of its commands took Redis longer than a millisecond. */
async function measureAll(address, addresses, store, cookie) {
  const figures = {};
  for (const [name, path] of Object.entries(addresses)) {
    await store.slowlog('RESET');
    const times = await timesOf(address, path, cookie);
    if (!times) continue;
    figures[`${name} (ms)`] = times[Math.floor(TIMES / 2)];
    const slow = await store.slowlog('GET', 128);
    for (const [, , us, [command, key]] of slow)
      process.stderr.write(`${name}: ${command} ${String(key).slice(0, 60)} took ${us} us\n`);
  }
  return figures;
}

const memoryOf = async (store) => Number(/used_memory:(\d+)/.exec(await store.info('memory'))?.[1]);

export async function pages() {
  const folder = await mkdtemp(join(tmpdir(), 'caretaker-bench-'));
  await writePolicies(folder, policyNames.map(policyOf));
  try {
    return await onStage({ sites: 1, workers: 0 }, async ({ caretaker, settings }) => {
      const { store } = caretaker.redis;
      const now = Date.now();
      const before = await memoryOf(store);
      let said = 0;
      const told = (written) => {
        if (written - said < SIZE.outcomes / 10) return;
        said = written;
        process.stderr.write(`${written} outcomes\n`);
      };
      const begun = performance.now();
      await fillFleet(caretaker, { ...SIZE, now, told });
      process.stderr.write(`written in ${Math.round((performance.now() - begun) / 1_000)} s\n`);
      const after = await memoryOf(store);
      await fillFindings(caretaker, { ...SIZE, findings: FINDINGS, now });
      const withFindings = await memoryOf(store);
      await fillRuns(caretaker, { runs: RUNS, sites: SIZE.sites, now });
      const withRuns = await memoryOf(store);
      const { default: first } = settings.accounts;
      const accounts = Object.fromEntries(
        Array.from({ length: ACCOUNTS }, (_, index) => {
          const name = index === 0 ? 'default' : `account-${index}`;
          return [name, { ...first, name, budget: { ...first.budget, requestsPerMinute: 200 } }];
        }),
      );
      await fillBudgets(store, Object.keys(accounts), now);
      const dashboard = await child('dashboard.mjs', {
        ...settings,
        accounts,
        policiesDir: join(folder, 'policies'),
        dashboard: { host: '127.0.0.1', port: 0, password: PASSWORD },
      });
      try {
        const { url } = dashboard.said;
        const cookie = await signIn(url);
        await store.config('SET', 'slowlog-log-slower-than', String(SLOW_US), 'slowlog-max-len', '1000');
        const found = await measureAll(url, pagesOf(now), store, cookie);
        const suggested = Object.fromEntries(
          Object.entries(searches).map(([name, text]) => [
            name,
            `/search/suggestions?q=${encodeURIComponent(text)}`,
          ]),
        );
        const { rss } = await dashboard.ask();
        const first = performance.now();
        await (await fetch(`${url}${suggested['search: nothing']}`, { headers: { cookie } })).text();
        const firstMs = performance.now() - first;
        const searched = await measureAll(url, suggested, store, cookie);
        const labels = Number(await store.memory('USAGE', '{caretaker}:labels', 'SAMPLES', '0'));
        return {
          ...found,
          'the first search of a process (ms)': firstMs,
          ...searched,
          ...(await firstPaints(url, pagesOf(now), cookie)),
          'Redis memory of an outcome (bytes)': (after - before) / SIZE.outcomes,
          'Redis memory of a run with one outcome (bytes)': (withRuns - withFindings) / RUNS,
          'of it the labels for the search (bytes for each site)': labels / SIZE.sites,
          'Redis memory of an open finding (bytes)': (withFindings - after) / FINDINGS,
          'memory of a process for the search (MB)': ((await dashboard.ask()).rss - rss) / 2 ** 20,
        };
      } finally {
        await dashboard.end();
      }
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const LIMIT_MS = 100;
const PAINT_LIMIT_MS = 200;

/** The goals: the first byte of each page, and its first paint. */
export const toReachOfPages = Object.fromEntries([
  ...[...Object.keys(pagesOf(0)), ...Object.keys(searches)].map((name) => [
    `${name} (ms)`,
    { most: LIMIT_MS },
  ]),
  ...Object.keys(pagesOf(0)).map((name) => [`${name}, first paint (ms)`, { most: PAINT_LIMIT_MS }]),
]);
