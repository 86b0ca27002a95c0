/**
 * A daemon with 1,000 policies: the time until it is ready, its CPU use while nothing is due, and how late it
 * fires.
 */
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built } from '../support/built.mjs';
import { onStage, sleep, startDaemon } from './stage.mjs';

const { connectRecords } = await built('app/open-records');
const { openLog } = await built('log');

const MINUTE = 60_000;
const FILES = 100;
const IN_EACH = 10;
/**
 * So many policies fire every minute, and find nothing to do; the others are due once a year, half a year
 * from now.
 */
const EVERY_MINUTE = 10;
const MONTH = ((new Date().getUTCMonth() + 6) % 12) + 1;
const MINUTES = 2;
/**
 * From so far after a full minute until so far before the next, the daemon is measured while nothing is due.
 */
const REST_FROM_MS = 15_000;
const REST_MS = 40_000;

/** Times in `/proc` are counted in hundredths of a second. */
async function cpuSecondsOf(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

const nameOf = (number) => `policy-${number}`;
const textOf = (number) => {
  const cron = number < EVERY_MINUTE ? '* * * * *' : `${number % 60} ${number % 24} 10 ${MONTH} *`;
  return `  - name: ${nameOf(number)}
    job: site-sync
    schedule: { cron: "${cron}", timezone: Europe/Berlin, overlap: allow }
    select:
      filters: { connection_status: { eq: connected }, tags: { in: ["${number}"] } }
      where: site.sync.last_sync_at < now - duration("20h")
`;
};

async function writePolicies(folder) {
  await mkdir(join(folder, 'policies'), { recursive: true });
  await writeFile(join(folder, 'caretaker.yaml'), 'policies: ./policies\ndashboard: { port: 0 }\n');
  for (let file = 0; file < FILES; file += 1) {
    const texts = Array.from({ length: IN_EACH }, (_, index) => textOf(file * IN_EACH + index));
    await writeFile(join(folder, 'policies', `${file}.yaml`), `policies:\n${texts.join('')}`);
  }
}

/** How late each scheduled run of these minutes was created. */
async function latenesses(folder, from) {
  const log = await openLog({ level: 'error', form: 'json' });
  const { records, close } = await connectRecords(
    { audit: { keptMs: 86_400_000 }, redis: { kind: 'embedded' }, dataDir: join(folder, 'data') },
    log,
  );
  try {
    const ledgers = await Promise.all(
      Array.from({ length: EVERY_MINUTE }, (_, number) =>
        records.ledger.between(nameOf(number), from, from + (MINUTES - 1) * MINUTE, 100),
      ),
    );
    const late = ledgers.flat().map(({ scheduledFor, at }) => at - scheduledFor);
    if (late.length !== EVERY_MINUTE * MINUTES) throw new Error(`${late.length} firings were recorded.`);
    return late.sort((a, b) => a - b);
  } finally {
    await close();
  }
}

export async function schedule() {
  const folder = await mkdtemp(join(tmpdir(), 'caretaker-bench-'));
  await writePolicies(folder);
  try {
    return await onStage({ sites: 1, workers: 0 }, async ({ service }) => {
      const begun = performance.now();
      const daemon = await startDaemon({
        cwd: folder,
        env: { CARETAKER_CONFIG: join(folder, 'caretaker.yaml'), CARETAKER_DATA_DIR: join(folder, 'data') },
        service,
        ready: /the daemon is running/,
      });
      try {
        const readyMs = performance.now() - begun;
        const readyCpu = await cpuSecondsOf(daemon.pid);
        const first = Math.floor(Date.now() / MINUTE + 1) * MINUTE;
        await sleep(first + REST_FROM_MS - Date.now());
        const before = await cpuSecondsOf(daemon.pid);
        await sleep(REST_MS);
        const after = await cpuSecondsOf(daemon.pid);
        await sleep(first + (MINUTES - 1) * MINUTE + REST_FROM_MS - Date.now());
        const late = await latenesses(folder, first);
        const share = before === undefined ? {} : { [IDLE]: ((after - before) / (REST_MS / 1_000)) * 100 };
        return {
          [READY]: readyMs / 1_000,
          ...(readyCpu === undefined ? {} : { [READY_CPU]: readyCpu }),
          ...share,
          [LATE]: late[Math.floor(late.length / 2)],
          [LATEST]: late.at(-1),
        };
      } finally {
        daemon.kill('SIGTERM');
        await once(daemon, 'exit');
      }
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const READY = 'daemon with 1,000 policies ready (s)';
const READY_CPU = 'daemon with 1,000 policies ready (s of CPU)';
const IDLE = 'daemon with 1,000 policies, nothing due (% of a core)';
const LATE = 'a firing is late by (ms)';
const LATEST = 'the latest of 20 scheduled runs is late by (ms)';

/** The goals. */
export const toReachOfSchedule = { [READY]: { most: 1.5 }, [IDLE]: { most: 1 }, [LATEST]: { most: 250 } };
