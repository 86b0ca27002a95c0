import { constants, existsSync } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { type Budget, openBudget } from '../../budget/budget.ts';
import { openClient } from '../../client/client.ts';
import { systemClock } from '../../clock.ts';
import { AccountMovedError } from '../../contract/service-address.ts';
import { CaretakerError, messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { openQueues } from '../../queue/queues.ts';
import {
  effectOf,
  FreezeStore,
  formatFreeze,
  formatFrozen,
  unfreezeCommand,
} from '../../records/freeze-store.ts';
import { prepareRecords, processId, RecordsVersionError } from '../../records/migrations/migrate.ts';
import { RECORDS_VERSION } from '../../records/migrations/migrations.ts';
import { type Presence, PresenceStore } from '../../records/presence-store.ts';
import { AlertStore, clockJumps } from '../../records/reported.ts';
import { RunStore } from '../../records/run-store.ts';
import { redisClock } from '../../redis/clock.ts';
import { connectRedis } from '../../redis/connect.ts';
import { DataFolderError } from '../../redis/embedded/folder.ts';
import { hasEnded } from '../../redis/embedded/processes.ts';
import { type RedisTrouble, redisTroubles } from '../../redis/health.ts';
import { writeRefusal } from '../../redis/refusal.ts';
import type { Store } from '../../redis/store.ts';
import { daemonOf } from '../../schedule/policy-agreement.ts';
import { differencesOf, formatDifference } from '../../schedule/versions.ts';
import { AccountNotSetUpError, accountOf } from '../../settings/account.ts';
import type { Settings } from '../../settings/settings.ts';
import { countOf } from '../../text.ts';
import { InvalidFilesError, shortFile } from '../../yaml/diagnostic.ts';
import { wrapped } from '../../yaml/width.ts';
import { commandLog, type GlobalOptions, sayWait, settingsOf } from '../context.ts';
import { checkDeliveries, checkKept, checkOutbox, checkPolicies, checkReferences } from '../doctor-checks.ts';
import { exit } from '../exit.ts';
import { type Check, checkDescription } from '../output/service-description.ts';
import { isForPeople, show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';

/** With less free space, the records of a busy fleet may fill the disk within a day. */
const MIN_FREE_BYTES = 1024 ** 3;

/** Prints checks as soon as they are done. */
type Report = (...checks: Check[]) => void;

/**
 * Checks everything that Caretaker needs, and prints how to fix each problem. Costs two requests per account, and
 * those of `checkReferences`.
 */
export async function doctor(terminal: Terminal, options: GlobalOptions): Promise<number> {
  const checks: Check[] = [];
  const report: Report = (...more) => {
    checks.push(...more);
    if (isForPeople(options)) for (const check of more) terminal.data(line(check, terminal));
  };
  const settings = checkSettings(terminal, options, report);
  if (settings) {
    report(await checkPolicies(settings));
    await checkDataFolder(settings, report);
    await checkRedisAndAccounts(settings, options, terminal, report);
  }
  const value = checks.map(({ what, state, message }) => ({ what, state, message }));
  await show(terminal, options, { value, text: () => undefined });
  return Math.max(
    exit.ok,
    ...checks.map(({ state, code }) => (state === 'wrong' ? (code ?? exit.badInput) : exit.ok)),
  );
}

/** The width of the mark before a check. */
const MARK = 'warning  '.length;

function line({ what, state, message }: Check, { paint, dataColumns }: Terminal): string {
  const marks = {
    ok: paint('green', 'ok     '),
    warning: paint('yellow', 'warning'),
    wrong: paint('red', 'wrong  '),
  };
  const sentence = `${what}: ${message.replace(/\.$/, '')}`;
  const room = dataColumns === undefined ? undefined : dataColumns - MARK;
  return `${marks[state]}  ${wrapped(sentence, room).replaceAll('\n', `\n${' '.repeat(MARK)}`)}`;
}

function checkSettings(terminal: Terminal, options: GlobalOptions, report: Report): Settings | undefined {
  try {
    const settings = settingsOf(terminal, options);
    const { warnings, file = 'the built-in defaults (no file)' } = settings;
    const places = [...new Set(warnings.map((one) => shortFile(one.file)))].join(' and ');
    report(
      warnings.length === 0
        ? { what: 'configuration', state: 'ok', message: file }
        : {
            what: 'configuration',
            state: 'warning',
            message: `${countOf(warnings.length, 'warning')} in ${places}: "caretaker validate" shows ${warnings.length === 1 ? 'it' : 'them'}`,
          },
    );
    return settings;
  } catch (error) {
    if (!(error instanceof CaretakerError)) throw error;
    const many = error instanceof InvalidFilesError ? ' "caretaker validate" shows every error.' : '';
    report({ what: 'configuration', state: 'wrong', message: `${error.message}${many}` });
    return undefined;
  }
}

/** The data folder holds the files of an embedded Redis, and downloads. */
async function checkDataFolder(settings: Settings, report: Report): Promise<void> {
  const what = 'data folder';
  const { dataDir } = settings;
  try {
    const folder = nearestFolder(dataDir);
    await access(`${folder}/.`, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    const message = `${dataDir}, ${formatSpace(free)} free`;
    if (free >= MIN_FREE_BYTES) return report({ what, state: 'ok', message });
    report({
      what,
      state: 'warning',
      message: `${message}: free some space, or set data_dir to a folder on a larger disk`,
    });
  } catch (error) {
    const { message } = new DataFolderError(dataDir, { cause: error });
    // Only an embedded Redis needs the folder.
    const needed = settings.redis.kind === 'embedded';
    report({ what, state: needed ? 'wrong' : 'warning', message: message, code: exit.unreachable });
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
  report: Report,
): Promise<void> {
  const names = Object.keys(settings.accounts);
  let redis: Awaited<ReturnType<typeof connectRedis>>;
  const log = await commandLog(terminal, options);
  try {
    redis = await connectRedis(settings.redis, settings.dataDir, log);
  } catch (error) {
    report({ what: 'Redis', state: 'wrong', message: messageOf(error), code: exit.unreachable });
    const message = 'not checked, because requests are counted in Redis';
    report(...names.map((name): Check => ({ what: `account "${name}"`, state: 'warning', message })));
    return;
  }
  try {
    report(...(await checkRedis(redis.store, redis.where)));
    const troubles = await troublesOf(redis.store, log);
    report(...troubles.map(troubleCheck));
    const records = await checkRecords(redis.store, log);
    report(records);
    if (records.state === 'ok') {
      const { now } = await redisClock(redis.store, systemClock);
      const jumps = await clockJumps(new AlertStore(redis.store), now());
      report(...jumps.map((message): Check => ({ what: 'clock of Redis', state: 'warning', message })));
      report(...(await checkDaemons(redis.store, troubles)));
      report(...(await checkFreeze(redis.store)));
      report(...(await checkHeldRuns(redis.store)));
      report(...(await checkOutbox(redis.store)));
      report(...(await checkDeliveries(redis.store)));
    }
    for (const name of names) {
      terminal.show(`connecting to ${settings.accounts[name]?.baseUrl ?? name} ...`);
      await checkAccount(settings, name, redis.store, log, report, sayWait(terminal));
    }
  } finally {
    await redis.close();
  }
}

/** Checks the version of the records. Like every command, this migrates older records. */
async function checkRecords(store: Store, log: Log): Promise<Check> {
  const what = 'records';
  try {
    await prepareRecords({ store, owner: processId(), clock: await redisClock(store, systemClock), log });
    return { what, state: 'ok', message: `version ${RECORDS_VERSION}` };
  } catch (error) {
    const refusal = writeRefusal(error);
    if (refusal !== undefined) return { what, state: 'warning', message: `not migrated: ${refusal}` };
    if (!(error instanceof RecordsVersionError)) throw error;
    return { what, state: 'wrong', message: error.message, code: exit.unreachable };
  }
}

async function checkDaemons(store: Store, troubles: readonly RedisTrouble[]): Promise<Check[]> {
  const clock = await redisClock(store, systemClock);
  const presence = new PresenceStore(store);
  const { running, ended } = await withoutEnded(await presence.running(clock.now()));
  const read = await Promise.all(running.map((one) => daemonOf({ presence }, one)));
  const differences = differencesOf(read.flatMap((one) => one ?? [])).map(formatDifference);
  return [
    running.length === 0 && troubles.some(({ refuses }) => refuses)
      ? {
          what: 'daemon',
          state: 'warning',
          message: 'unknown: daemons cannot register themselves while Redis refuses writes',
        }
      : daemonsCheck(running.filter((one) => !isStarting(one))),
    ...running.filter(isStarting).map(
      ({ pid, host }): Check => ({
        what: 'daemon',
        state: 'warning',
        message: `pid ${pid} on ${host} is starting: it does not serve its dashboard yet. If that lasts, its log shows why`,
      }),
    ),
    ...ended.map(
      ({ pid, host }): Check => ({
        what: 'daemon',
        state: 'warning',
        message: `pid ${pid} on ${host} has ended without a word. Its log shows why; what it had begun is continued when a daemon runs`,
      }),
    ),
    ...differences.map((message): Check => ({ what: 'policies of the daemons', state: 'warning', message })),
    ...(await checkKept(presence, clock.now())),
  ];
}

/** It registers before it fires anything; its port may turn out to be in use. */
const isStarting = ({ roles, dashboardPort }: Presence): boolean =>
  roles.includes('dashboard') && dashboardPort === undefined;

/** A process of this host is looked at: its last sign of life may be some seconds old. */
async function withoutEnded(seen: readonly Presence[]): Promise<{ running: Presence[]; ended: Presence[] }> {
  const gone = await Promise.all(
    seen.map(
      async ({ host, identity }) =>
        host === hostname() && identity !== undefined && (await hasEnded(identity)),
    ),
  );
  return { running: seen.filter((_, at) => !gone[at]), ended: seen.filter((_, at) => gone[at]) };
}

function daemonsCheck(running: readonly Presence[]): Check {
  const what = 'daemon';
  const daemons = running.map(({ pid, host, roles }) => `pid ${pid} on ${host} (${roles.join(', ')})`);
  if (running.some(({ roles }) => roles.includes('scheduler')))
    return { what, state: 'ok', message: `running: ${daemons.join('; ')}` };
  const none =
    daemons.length === 0 ? 'none is running' : `${daemons.join('; ')}; none has the role scheduler`;
  return {
    what,
    state: 'warning',
    message: `${none}. Scheduled runs start only while "caretaker daemon" is running`,
  };
}

async function checkFreeze(store: Store): Promise<Check[]> {
  const clock = await redisClock(store, systemClock);
  const freezes = await new FreezeStore(store).active(clock.now());
  return freezes.map((freeze) => {
    const begin = freeze.scope ? `${formatFrozen(freeze)} is ` : '';
    const message = `${begin}${formatFreeze(freeze)}: ${effectOf(freeze)}; "${unfreezeCommand(freeze)}" ends the freeze`;
    return { what: 'freeze', state: 'warning', message };
  });
}

/** Problems of a Redis that responds. Eviction has its own check. */
async function troublesOf(store: Store, log: Log): Promise<RedisTrouble[]> {
  const queues = openQueues(store, log);
  try {
    return await redisTroubles(store, queues);
  } finally {
    await queues.close();
  }
}

const troubleCheck = ({ stops, message }: RedisTrouble): Check => ({
  what: 'Redis',
  state: stops ? 'wrong' : 'warning',
  message,
  code: exit.unreachable,
});

async function checkHeldRuns(store: Store): Promise<Check[]> {
  const runs = new RunStore(store);
  const accounts = await runs.held(await runs.activeAccounts());
  return accounts
    .flatMap(({ held }) => held)
    .map((run) => ({
      what: 'held run',
      state: 'warning',
      message: `${run} is held, because Redis was restored to an older state. "caretaker runs resume ${run} --release" continues it and may change targets a second time; "caretaker runs cancel ${run}" cancels it`,
    }));
}

async function checkRedis(store: Store, where: string): Promise<Check[]> {
  const info = await store.info();
  const fact = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
  const version = fact('redis_version');
  const persistent = fact('aof_enabled') === '1';
  const fsync = persistent ? await fsyncOf(store) : undefined;
  const policy = fact('maxmemory_policy');
  return [
    { what: 'Redis', state: 'ok', message: `${version}, ${where}` },
    persistent
      ? persistence(fsync)
      : {
          what: 'Redis persistence',
          state: 'warning',
          message: 'no append-only file: a crash loses the state of active runs. Set appendonly yes',
        },
    policy === 'noeviction' || policy === ''
      ? { what: 'Redis eviction', state: 'ok', message: policy || 'not reported' }
      : {
          what: 'Redis eviction',
          state: 'wrong',
          message: `${policy} may delete records of Caretaker: set maxmemory-policy noeviction`,
        },
  ];
}

/**
 * When Redis writes its append-only file to disk; undefined when it does not report that, as hosted ones do.
 */
async function fsyncOf(store: Store): Promise<string | undefined> {
  const answer = await store.config('GET', 'appendfsync').catch(() => undefined);
  return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : undefined;
}

function persistence(fsync: string | undefined): Check {
  const what = 'Redis persistence';
  if (fsync === undefined) return { what, state: 'ok', message: 'append-only file' };
  if (fsync === 'always')
    return { what, state: 'ok', message: 'append-only file, written to disk before every response' };
  if (fsync === 'no') {
    const message =
      'append-only file, written to disk when the operating system decides: a power loss may lose the last 30 seconds. Set appendfsync always';
    return { what, state: 'warning', message };
  }
  const message =
    'append-only file, written to disk every second: after a power loss, up to two seconds are lost and active runs are held. appendfsync always loses nothing';
  return { what, state: 'ok', message };
}

async function checkAccount(
  settings: Settings,
  name: string,
  store: Store,
  log: Log,
  report: Report,
  onWait: ReturnType<typeof sayWait>,
): Promise<void> {
  const what = `account "${name}"`;
  try {
    const account = accountOf(settings, name);
    const clock = await redisClock(store, systemClock);
    const process = `${hostname()}.${globalThis.process.pid}.doctor`;
    const said = { process, address: account.baseUrl, onWait: (until: number) => onWait(name, until) };
    const budget = openBudget(store, clock, name, { ...account.budget, ...said });
    let hasLimitHeader = false;
    const listening: Budget = {
      ...budget,
      learn(ticket, report) {
        hasLimitHeader ||= report?.limit !== undefined;
        return budget.learn(ticket, report);
      },
    };
    const client = openClient({ account, budget: listening, clock, log });
    try {
      const { meta } = await client.call('listSites', { perPage: 1 }, { requestClass: 'person' });
      const total = meta?.pagination?.totalItems;
      const sites = total === undefined ? '' : `, ${countOf(total, 'site')}`;
      report({ what, state: 'ok', message: `${account.baseUrl} responds and accepts the token${sites}` });
      const { limit, remaining } = await budget.state();
      const source = hasLimitHeader
        ? 'as the service reports'
        : 'the limit is requests_per_minute of the configuration, because the service does not report one';
      const message = `${remaining} of ${limit} requests left in the current window; ${source}`;
      report({ what: `budget of "${name}"`, state: 'ok', message });
      report(...(await checkReferences(settings, name, client, store)));
      report(...(await checkDescription(account, budget)));
    } finally {
      await client.close();
    }
  } catch (error) {
    const isConfigured = !(error instanceof AccountNotSetUpError || error instanceof AccountMovedError);
    const code = isConfigured ? exit.unreachable : exit.badInput;
    report({ what, state: 'wrong', message: messageOf(error), code });
  }
}
