import { connectRedis, redisClock } from '../../app/connect.ts';
import { loadJobs } from '../../app/jobs.ts';
import { openBudget } from '../../budget/budget.ts';
import { openClient } from '../../client/client.ts';
import { AccountRefusedError, UnavailableError } from '../../client/errors.ts';
import { systemClock } from '../../clock.ts';
import { CaretakerError, messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { loadPolicies } from '../../policy/load-policies.ts';
import type { Store } from '../../records/redis.ts';
import { accountOf } from '../../settings/account.ts';
import { InvalidFilesError } from '../../settings/finding.ts';
import type { Settings } from '../../settings/settings.ts';
import { commandLog, type GlobalOptions, settingsOf } from '../context.ts';
import { exit } from '../exit.ts';
import { type Check, checkDescription } from '../service-description.ts';
import type { Terminal } from '../terminal.ts';

const OLDEST_REDIS = [6, 2] as const;

/** Checks everything that Caretaker needs, and says what to do about what is missing. Costs a request or two an account. */
export async function doctor(terminal: Terminal, options: GlobalOptions): Promise<number> {
  const checks: Check[] = [];
  const settings = checkSettings(options, checks);
  if (settings) {
    await checkPolicies(settings, checks);
    await checkRedisAndAccounts(settings, options, checks);
  }
  if (options.json) terminal.json(checks.map(({ what, state, says }) => ({ what, state, says })));
  else for (const check of checks) terminal.data(line(check, terminal));
  return Math.max(
    exit.ok,
    ...checks.map(({ state, code }) => (state === 'wrong' ? (code ?? exit.badInput) : exit.ok)),
  );
}

function line({ what, state, says }: Check, { paint }: Terminal): string {
  const marks = {
    ok: paint('green', 'ok     '),
    warning: paint('yellow', 'warning'),
    wrong: paint('red', 'wrong  '),
  };
  return `${marks[state]}  ${what}: ${says}`;
}

function checkSettings(options: GlobalOptions, checks: Check[]): Settings | undefined {
  try {
    const settings = settingsOf(options);
    checks.push({
      what: 'configuration',
      state: 'ok',
      says: settings.file ?? 'the built-in defaults (no file)',
    });
    return settings;
  } catch (error) {
    if (!(error instanceof CaretakerError)) throw error;
    const many = error instanceof InvalidFilesError ? ' "caretaker validate" shows every mistake.' : '';
    checks.push({ what: 'configuration', state: 'wrong', says: `${error.message}${many}` });
    return undefined;
  }
}

async function checkPolicies(settings: Settings, checks: Check[]): Promise<void> {
  const { policies, findings } = loadPolicies({
    dir: settings.policiesDir,
    registry: await loadJobs(),
    settings,
  });
  checks.push(
    findings.length === 0
      ? { what: 'policies', state: 'ok', says: `${policies.length} in ${settings.policiesDir}` }
      : {
          what: 'policies',
          state: 'wrong',
          says: `${findings.length} mistakes: "caretaker validate" shows them`,
        },
  );
}

async function checkRedisAndAccounts(
  settings: Settings,
  options: GlobalOptions,
  checks: Check[],
): Promise<void> {
  let redis: Awaited<ReturnType<typeof connectRedis>>;
  const log = await commandLog(options);
  try {
    redis = await connectRedis(settings.redis, settings.dataDir, log);
  } catch (error) {
    checks.push({ what: 'Redis', state: 'wrong', says: messageOf(error), code: exit.unreachable });
    return;
  }
  try {
    checks.push(...(await checkRedis(redis.store, redis.where)));
    for (const name of Object.keys(settings.accounts))
      checks.push(...(await checkAccount(settings, name, redis.store, log)));
  } finally {
    await redis.close();
  }
}

async function checkRedis(store: Store, where: string): Promise<Check[]> {
  const info = await store.info();
  const fact = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
  const version = fact('redis_version');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const old = major < OLDEST_REDIS[0] || (major === OLDEST_REDIS[0] && minor < OLDEST_REDIS[1]);
  const persistent = fact('aof_enabled') === '1';
  const policy = fact('maxmemory_policy');
  return [
    old
      ? {
          what: 'Redis',
          state: 'wrong',
          says: `${version} at ${where} is too old: ${OLDEST_REDIS.join('.')} is needed`,
          code: exit.unreachable,
        }
      : { what: 'Redis', state: 'ok', says: `${version} at ${where}` },
    persistent
      ? { what: 'Redis persistence', state: 'ok', says: 'append-only file' }
      : {
          what: 'Redis persistence',
          state: 'warning',
          says: 'no append-only file: a crash forgets what is under way (appendonly yes)',
        },
    policy === 'noeviction' || policy === ''
      ? { what: 'Redis eviction', state: 'ok', says: policy || 'not told' }
      : {
          what: 'Redis eviction',
          state: 'wrong',
          says: `${policy} may throw our records away: set maxmemory-policy noeviction`,
          code: exit.unreachable,
        },
  ];
}

async function checkAccount(settings: Settings, name: string, store: Store, log: Log): Promise<Check[]> {
  const what = `account "${name}"`;
  try {
    const account = accountOf(settings, name);
    const clock = await redisClock(store, systemClock);
    const budget = openBudget(store, clock, name, account.budget);
    const client = openClient({ account, budget, clock, log });
    try {
      const { meta } = await client.call('listSites', { perPage: 1 }, { priority: 'person' });
      const { limit, remaining } = await budget.state();
      return [
        {
          what,
          state: 'ok',
          says: `${account.baseUrl} answers, ${meta.pagination.totalItems} sites, ${remaining} of ${limit} requests left`,
        },
        ...(await checkDescription(account, budget)),
      ];
    } finally {
      await client.close();
    }
  } catch (error) {
    const away = error instanceof AccountRefusedError || error instanceof UnavailableError;
    return [{ what, state: 'wrong', says: messageOf(error), code: away ? exit.unreachable : exit.badInput }];
  }
}
