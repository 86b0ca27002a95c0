import { constants, existsSync } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { loadJobs } from '../../app/jobs.ts';
import { type Budget, openBudget } from '../../budget/budget.ts';
import { openClient } from '../../client/client.ts';
import { systemClock } from '../../clock.ts';
import { CaretakerError, messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { loadPolicies } from '../../policy/load-policies.ts';
import { openQueues } from '../../queue/queues.ts';
import { FreezeStore, formatFreeze } from '../../records/freeze-store.ts';
import { prepareRecords, RecordsVersionError } from '../../records/migrations/migrate.ts';
import { RECORDS_VERSION } from '../../records/migrations/migrations.ts';
import { processId } from '../../records/migrations/process-id.ts';
import { type Presence, PresenceStore } from '../../records/presence-store.ts';
import { RunStore } from '../../records/run-store.ts';
import { redisClock } from '../../redis/clock.ts';
import { connectRedis } from '../../redis/connect.ts';
import { DataFolderError } from '../../redis/embedded/folder.ts';
import { type RedisTrouble, redisTroubles } from '../../redis/health.ts';
import { writeRefusal } from '../../redis/refusal.ts';
import type { Store } from '../../redis/store.ts';
import { daemonOf } from '../../schedule/policy-agreement.ts';
import { differencesOf, formatDifference } from '../../schedule/versions.ts';
import { AccountNotSetUpError, accountOf } from '../../settings/account.ts';
import type { Settings } from '../../settings/settings.ts';
import { countOf } from '../../text.ts';
import { InvalidFilesError } from '../../yaml/diagnostic.ts';
import { wrapped } from '../../yaml/width.ts';
import { commandLog, type GlobalOptions, settingsOf } from '../context.ts';
import { exit } from '../exit.ts';
import { type Check, checkDescription } from '../output/service-description.ts';
import type { Terminal } from '../output/terminal.ts';

const MIN_REDIS = [6, 2] as const;

/** Below so much free space the records of a busy fleet may fill the disk within a day. */
const MIN_FREE_BYTES = 1024 ** 3;

/** Prints a check as soon as it is done. */
type Tell = (...checks: Check[]) => void;

/**
 * Checks everything that Caretaker needs, and says what to do about what is missing. Costs two requests an
 * account.
 */
export async function doctor(terminal: Terminal, options: GlobalOptions): Promise<number> {
  const checks: Check[] = [];
  const tell: Tell = (...more) => {
    checks.push(...more);
    if (!options.json) for (const check of more) terminal.data(line(check, terminal));
  };
  const settings = checkSettings(options, tell);
  if (settings) {
    await checkPolicies(settings, tell);
    await checkDataFolder(settings, tell);
    await checkRedisAndAccounts(settings, options, terminal, tell);
  }
  if (options.json) terminal.json(checks.map(({ what, state, says }) => ({ what, state, says })));
  return Math.max(
    exit.ok,
    ...checks.map(({ state, code }) => (state === 'wrong' ? (code ?? exit.badInput) : exit.ok)),
  );
}

/** How wide the mark before a check is. */
const MARK = 'warning  '.length;

function line({ what, state, says }: Check, { paint, dataColumns }: Terminal): string {
  const marks = {
    ok: paint('green', 'ok     '),
    warning: paint('yellow', 'warning'),
    wrong: paint('red', 'wrong  '),
  };
  const sentence = `${what}: ${says.replace(/\.$/, '')}`;
  const room = dataColumns === undefined ? undefined : dataColumns - MARK;
  return `${marks[state]}  ${wrapped(sentence, room).replaceAll('\n', `\n${' '.repeat(MARK)}`)}`;
}

function checkSettings(options: GlobalOptions, tell: Tell): Settings | undefined {
  try {
    const settings = settingsOf(options);
    tell({
      what: 'configuration',
      state: 'ok',
      says: settings.file ?? 'the built-in defaults (no file)',
    });
    return settings;
  } catch (error) {
    if (!(error instanceof CaretakerError)) throw error;
    const many = error instanceof InvalidFilesError ? ' "caretaker validate" shows every error.' : '';
    tell({ what: 'configuration', state: 'wrong', says: `${error.message}${many}` });
    return undefined;
  }
}

async function checkPolicies(settings: Settings, tell: Tell): Promise<void> {
  const { policies, findings } = loadPolicies({
    dir: settings.policiesDir,
    registry: await loadJobs(),
    settings,
  });
  tell(
    findings.length === 0
      ? { what: 'policies', state: 'ok', says: `${policies.length} in ${settings.policiesDir}` }
      : {
          what: 'policies',
          state: 'wrong',
          says: `${countOf(findings.length, 'error')}: "caretaker validate" shows ${findings.length === 1 ? 'it' : 'them'}`,
        },
  );
}

/** What an embedded Redis keeps, and what is downloaded, goes there. */
async function checkDataFolder(settings: Settings, tell: Tell): Promise<void> {
  const what = 'data folder';
  const { dataDir } = settings;
  try {
    const folder = nearestFolder(dataDir);
    await access(`${folder}/.`, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    const says = `${dataDir}, ${formatSpace(free)} free`;
    if (free >= MIN_FREE_BYTES) return tell({ what, state: 'ok', says });
    tell({ what, state: 'warning', says: `${says}: make room, or set data_dir to a larger disk` });
  } catch (error) {
    const { message } = new DataFolderError(dataDir, { cause: error });
    // Nothing of a Redis that is elsewhere goes there.
    const needed = settings.redis.kind === 'embedded';
    tell({ what, state: needed ? 'wrong' : 'warning', says: message, code: exit.unreachable });
  }
}

const formatSpace = (bytes: number): string =>
  bytes >= 1024 ** 3 ? `${(bytes / 1024 ** 3).toFixed(1)} GiB` : `${Math.floor(bytes / 1024 ** 2)} MiB`;

function nearestFolder(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestFolder(dirname(path));
}

async function checkRedisAndAccounts(
  settings: Settings,
  options: GlobalOptions,
  terminal: Terminal,
  tell: Tell,
): Promise<void> {
  const names = Object.keys(settings.accounts);
  let redis: Awaited<ReturnType<typeof connectRedis>>;
  const log = await commandLog(options);
  try {
    redis = await connectRedis(settings.redis, settings.dataDir, log);
  } catch (error) {
    tell({ what: 'Redis', state: 'wrong', says: messageOf(error), code: exit.unreachable });
    const says = 'not asked, since requests are counted in Redis';
    tell(...names.map((name): Check => ({ what: `account "${name}"`, state: 'warning', says })));
    return;
  }
  try {
    tell(...(await checkRedis(redis.store, redis.where)));
    const troubles = await troublesOf(redis.store, log);
    tell(...troubles.map(troubleCheck));
    const records = await checkRecords(redis.store, log);
    tell(records);
    if (records.state === 'ok') {
      tell(...(await checkDaemons(redis.store, troubles)));
      tell(...(await checkFreeze(redis.store)));
      tell(...(await checkHeldRuns(redis.store)));
    }
    for (const name of names) {
      terminal.show(`asking ${settings.accounts[name]?.baseUrl ?? name} ...`);
      await checkAccount(settings, name, redis.store, log, tell);
    }
  } finally {
    await redis.close();
  }
}

/** Whether the records have the version of this release; like every command, this migrates older ones. */
async function checkRecords(store: Store, log: Log): Promise<Check> {
  const what = 'records';
  try {
    await prepareRecords({ store, owner: processId(), clock: await redisClock(store, systemClock), log });
    return { what, state: 'ok', says: `version ${RECORDS_VERSION}` };
  } catch (error) {
    const refusal = writeRefusal(error);
    if (refusal !== undefined) return { what, state: 'warning', says: `not migrated: ${refusal}` };
    if (!(error instanceof RecordsVersionError)) throw error;
    return { what, state: 'wrong', says: error.message, code: exit.unreachable };
  }
}

async function checkDaemons(store: Store, troubles: readonly RedisTrouble[]): Promise<Check[]> {
  const clock = await redisClock(store, systemClock);
  const presence = new PresenceStore(store);
  const here = await presence.running(clock.now());
  const read = await Promise.all(here.map((one) => daemonOf({ presence }, one)));
  const differences = differencesOf(read.flatMap((one) => one ?? [])).map(formatDifference);
  return [
    here.length === 0 && troubles.some(({ refuses }) => refuses)
      ? {
          what: 'daemon',
          state: 'warning',
          says: 'not known: none can show itself while Redis refuses to write',
        }
      : daemonsCheck(here),
    ...differences.map((says): Check => ({ what: 'policies of the daemons', state: 'warning', says })),
  ];
}

function daemonsCheck(here: readonly Presence[]): Check {
  const what = 'daemon';
  const daemons = here.map(({ pid, host, roles }) => `pid ${pid} on ${host} (${roles.join(', ')})`);
  if (here.some(({ roles }) => roles.includes('scheduler')))
    return { what, state: 'ok', says: `running: ${daemons.join('; ')}` };
  const none = daemons.length === 0 ? 'none is running' : `${daemons.join('; ')}, but none that schedules`;
  return {
    what,
    state: 'warning',
    says: `${none}: there are manual runs only, until "caretaker daemon" runs`,
  };
}

async function checkFreeze(store: Store): Promise<Check[]> {
  const clock = await redisClock(store, systemClock);
  const freeze = await new FreezeStore(store).at(clock.now());
  if (!freeze) return [];
  const says = `${formatFreeze(freeze)}: no run starts; "caretaker unfreeze" ends the freeze`;
  return [{ what: 'freeze', state: 'warning', says }];
}

/** What is wrong with a Redis that answers; eviction has a line of its own. */
async function troublesOf(store: Store, log: Log): Promise<RedisTrouble[]> {
  const queues = openQueues(store, log);
  try {
    return await redisTroubles(store, queues);
  } finally {
    await queues.close();
  }
}

const troubleCheck = ({ stops, says }: RedisTrouble): Check => ({
  what: 'Redis',
  state: stops ? 'wrong' : 'warning',
  says,
  code: exit.unreachable,
});

async function checkHeldRuns(store: Store): Promise<Check[]> {
  const runs = new RunStore(store);
  const held = await Promise.all((await runs.activeAccounts()).map((account) => runs.held(account)));
  return held.flat().map((run) => ({
    what: 'held run',
    state: 'warning',
    says: `${run} waits, since Redis was put back to an older state: "caretaker runs release ${run}" continues it, which may change targets a second time; "caretaker runs cancel ${run}" ends it`,
  }));
}

async function checkRedis(store: Store, where: string): Promise<Check[]> {
  const info = await store.info();
  const fact = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
  const version = fact('redis_version');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const old = major < MIN_REDIS[0] || (major === MIN_REDIS[0] && minor < MIN_REDIS[1]);
  const persistent = fact('aof_enabled') === '1';
  const fsync = persistent ? await fsyncOf(store) : undefined;
  const policy = fact('maxmemory_policy');
  return [
    old
      ? {
          what: 'Redis',
          state: 'wrong',
          says: `${version} at ${where} is too old: ${MIN_REDIS.join('.')} is needed`,
        }
      : { what: 'Redis', state: 'ok', says: `${version}, ${where}` },
    persistent
      ? persistence(fsync)
      : {
          what: 'Redis persistence',
          state: 'warning',
          says: 'no append-only file: a crash forgets what is under way (appendonly yes)',
        },
    policy === 'noeviction' || policy === ''
      ? { what: 'Redis eviction', state: 'ok', says: policy || 'not shown' }
      : {
          what: 'Redis eviction',
          state: 'wrong',
          says: `${policy} may throw our records away: set maxmemory-policy noeviction`,
        },
  ];
}

/** When Redis writes its append-only file to disk; nothing where it does not say, as hosted ones do. */
async function fsyncOf(store: Store): Promise<string | undefined> {
  const answer = await store.config('GET', 'appendfsync').catch(() => undefined);
  return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : undefined;
}

function persistence(fsync: string | undefined): Check {
  const what = 'Redis persistence';
  if (fsync === undefined) return { what, state: 'ok', says: 'append-only file' };
  if (fsync === 'always') return { what, state: 'ok', says: 'append-only file, on disk before every answer' };
  if (fsync === 'no') {
    const says =
      'append-only file, put on disk when the system likes to: a power loss may forget half a minute of what was done (appendfsync always)';
    return { what, state: 'warning', says };
  }
  const says =
    'append-only file, put on disk every second: a power loss forgets up to two seconds of what was done, and what was under way is then held (appendfsync always loses nothing)';
  return { what, state: 'ok', says };
}

async function checkAccount(
  settings: Settings,
  name: string,
  store: Store,
  log: Log,
  tell: Tell,
): Promise<void> {
  const what = `account "${name}"`;
  try {
    const account = accountOf(settings, name);
    const clock = await redisClock(store, systemClock);
    const process = `${hostname()}.${globalThis.process.pid}.doctor`;
    const budget = openBudget(store, clock, name, { ...account.budget, process, address: account.baseUrl });
    let toldLimit = false;
    const listening: Budget = {
      ...budget,
      learn(ticket, report) {
        toldLimit ||= report?.limit !== undefined;
        return budget.learn(ticket, report);
      },
    };
    const client = openClient({ account, budget: listening, clock, log });
    try {
      const { meta } = await client.call('listSites', { perPage: 1 }, { requestClass: 'person' });
      const total = meta?.pagination?.totalItems;
      const sites = total === undefined ? '' : `, ${countOf(total, 'site')}`;
      tell({ what, state: 'ok', says: `${account.baseUrl} answers and takes our token${sites}` });
      const { limit, remaining } = await budget.state();
      const source = toldLimit
        ? 'as the service shows'
        : 'by requests_per_minute of the configuration, because the service shows no limit';
      const says = `${remaining} of ${limit} requests left in this minute, ${source}`;
      tell({ what: `budget of "${name}"`, state: 'ok', says });
      tell(...(await checkDescription(account, budget)));
    } finally {
      await client.close();
    }
  } catch (error) {
    const code = error instanceof AccountNotSetUpError ? exit.badInput : exit.unreachable;
    tell({ what, state: 'wrong', says: messageOf(error), code });
  }
}
