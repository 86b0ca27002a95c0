/** Reads `config/caretaker.yaml` and the environment into one frozen `Settings`. */
import { statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { adminPrincipal } from '../access/principal.ts';
import { defined } from '../defined.ts';
import { CaretakerError, systemCodeOf } from '../errors.ts';
import type { RedisSettings, RedisSignIn } from '../redis/connect.ts';
import { keepSecret } from '../secrets.ts';
import { suggestionFor } from '../suggest.ts';
import { daysOf } from '../yaml/days.ts';
import { type Diagnostic, fileDiagnostic, InvalidFilesError, inOrder } from '../yaml/diagnostic.ts';
import { readStrictly } from '../yaml/read-strictly.ts';
import { typographicTexts } from '../yaml/typographic-quotes.ts';
import { type Path, type Remark, YamlFile } from '../yaml/yaml-file.ts';
import { accessOf, mentionsIn } from './access-file.ts';
import { ConfigFile } from './config-file.ts';
import { type Environment, environmentOf, exposedEnv, fillVariables, maskVariables } from './environment.ts';
import { deepFreeze, type KnownAccount, type Settings } from './settings.ts';
import { literalSecret, plainHttp, shortTokens } from './unsafe.ts';

export interface Where {
  /**
   * `--config`; default `CARETAKER_CONFIG`, then `config/caretaker.yaml` in `cwd` or the nearest folder above
   * it.
   */
  configPath?: string | undefined;
  cwd: string;
  env: Environment;
}

/** The defaults: each key is used if the file does not have it. */
const defaults = `accounts:
  default:
    base_url: \${CARETAKER_BASE_URL}
    token: \${CARETAKER_API_TOKEN}
redis: \${REDIS_URL:-embedded}
policies: ./policies
data_dir: \${CARETAKER_DATA_DIR:-.caretaker}
dashboard:
  host: \${CARETAKER_DASHBOARD_HOST:-127.0.0.1}
  password: \${CARETAKER_DASHBOARD_PASSWORD:-}
`;
const defaultFile = join('config', 'caretaker.yaml');

/** No configuration was found: probably the wrong folder. */
export class NoConfigError extends CaretakerError {
  readonly code = 'NO_CONFIG';
  constructor(readonly folder: string) {
    super(
      `There is no ${defaultFile} in ${folder} or any folder above it. Change to your project folder, name the file with --config, or create one with "caretaker init".`,
    );
  }
}

/**
 * The project folder: `data_dir` is relative to it, and `.env` is read from it, in whatever folder a command
 * is started. It is the folder above `config/caretaker.yaml`. For a file of another name, it is the folder of
 * the file.
 */
export function projectOf(file: string): string {
  const folder = dirname(resolve(file));
  return join(basename(folder), basename(file)) === defaultFile ? dirname(folder) : folder;
}

/**
 * Loads the settings, complete and frozen. From then on, their secrets are hidden in all output.
 *
 * An account without base URL or token is no error here, because many commands need no account. `accountOf`
 * checks it.
 *
 * @throws {NoConfigError} when there is no file.
 * @throws {InvalidFilesError} with all errors in the file or in `.env`.
 */
export function loadSettings({ configPath, cwd, env }: Where): Settings {
  const file = fileToRead(configPath, cwd, env);
  const environment = environmentOf(projectOf(file), env);
  const builtIn = valid(YamlFile.parse('(built-in defaults)', defaults, maskVariables));
  const own = valid(YamlFile.read(file, maskVariables));
  const ownFilled = fill(own, environment);
  const builtInFilled = fill(builtIn, environment);
  const isOwn = (path: Path) =>
    path.length === 0 ||
    Object.hasOwn(ownFilled.value, String(path[0])) ||
    !Object.hasOwn(builtInFilled.value, String(path[0]));
  const read = readStrictly(ConfigFile, { ...builtInFilled.value, ...ownFilled.value }, (path, remark) => {
    if (!isOwn(path)) return builtIn.finding(path, { ...remark, form: false });
    return own.finding(path, { ...remark, form: remark.form && !ownFilled.filled.has(path.join('.')) });
  });
  const findings = [...ownFilled.findings, ...('findings' in read ? read.findings : [])];
  if ('value' in read)
    findings.push(...faultsOfNames(read.value).map(([path, remark]) => own.finding(path, remark)));
  if (!('value' in read) || findings.length > 0)
    throw new InvalidFilesError(inOrder(withoutRepetitions(findings)));
  const { unset } = isOwn(['accounts']) ? ownFilled : builtInFilled;
  const warnings = [
    ...ownFilled.unsetOwn,
    ...ownFilled.literals,
    ...plainHttp(read.value),
    ...shortTokens(read.value),
    ...typographicTexts(own.value(), (path) => own.typographicQuotes(path)),
  ].map(([path, remark]) => own.finding(path, remark));
  const exposed = exposedEnv(projectOf(file));
  return deepFreeze({
    file,
    ...toSettings(read.value, unset, file),
    warnings: inOrder(exposed ? [...warnings, exposed] : warnings),
    policyMentions: mentionsOf(read.value, 'policy').map(({ path, name }) => ({
      ...own.finding(path, {
        message: `There is no policy "${name}": this ${path[0] === 'access' ? 'limit covers' : 'maintenance freezes'} nothing.`,
      }),
      policy: name,
    })),
  });
}

/** All mentions of policies, or of accounts, outside of policies. */
const mentionsOf = ({ access, maintenance }: ConfigFile, key: 'policy' | 'account') => [
  ...mentionsIn(access, key === 'policy' ? 'policies' : 'accounts'),
  ...Object.entries(maintenance).flatMap(([rule, { [key]: name }]) =>
    name === undefined ? [] : [{ path: ['maintenance', rule, key], name }],
  ),
];

/** What the keys cannot say alone: accounts that do not exist, a name with two meanings. */
function faultsOfNames(config: ConfigFile): [Path, Remark][] {
  const { accounts, access, dashboard } = config;
  const known = Object.keys(accounts);
  const unknown = mentionsOf(config, 'account')
    .filter(({ name }) => !known.includes(name))
    .map(({ path, name }): [Path, Remark] => [
      path,
      { message: `There is no account "${name}".`, suggestion: suggestionFor(name, known) },
    ]);
  const isTaken =
    Object.hasOwn(access.users, adminPrincipal.name) && (dashboard.password ?? '').trim() !== '';
  const message = `The user ${adminPrincipal.name} stands for dashboard.password: choose another name, or remove that password.`;
  return isTaken ? [...unknown, [['access', 'users', adminPrincipal.name], { at: 'key', message }]] : unknown;
}

/** A missing variable also makes its key missing. Only the first finding for each path is kept. */
const withoutRepetitions = (findings: Diagnostic[]): Diagnostic[] => {
  const seen = new Set<string>();
  return findings.filter(({ path, message }) => {
    const key = path === '' ? message : path;
    return !seen.has(key) && seen.add(key);
  });
};

function fileToRead(given: string | undefined, cwd: string, env: Environment): string {
  const chosen = given ?? (env['CARETAKER_CONFIG'] || undefined);
  if (chosen === undefined) return nearestConfig(cwd);
  const file = resolve(cwd, chosen);
  if (isThere(file)) return file;
  const source = given === undefined ? 'CARETAKER_CONFIG' : '--config';
  throw new InvalidFilesError([fileDiagnostic(file, `The config file that ${source} names does not exist.`)]);
}

/** Searches the current folder and then each folder above it, as git does for its repository. */
function nearestConfig(cwd: string): string {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const file = join(folder, defaultFile);
    if (isThere(file)) return file;
    if (folder === dirname(folder)) throw new NoConfigError(resolve(cwd));
  }
}

/** Whether there is such a file, also one that this user may not read: reading it says so. */
function isThere(file: string): boolean {
  try {
    statSync(file);
    return true;
  } catch (error) {
    return !/^(ENOENT|ENOTDIR)$/.test(systemCodeOf(error) ?? '');
  }
}

function valid(file: YamlFile | Diagnostic[]): YamlFile {
  if (file instanceof YamlFile) return file;
  throw new InvalidFilesError(file);
}

interface FilledFile {
  value: Record<string, unknown>;
  findings: Diagnostic[];
  /** Variables that are unset or empty, by the path of the base URL or token that uses them. */
  unset: Record<string, string>;
  /** A warning for those of them that no newcomer has to set. */
  unsetOwn: [Path, Remark][];
  /** The paths of values that have a variable. */
  filled: ReadonlySet<string>;
  /** Secrets that are written in the file itself. */
  literals: [Path, Remark][];
}

const isCheckedLater = (path: Path) =>
  path.length === 3 && path[0] === 'accounts' && (path[2] === 'base_url' || path[2] === 'token');

function fill(file: YamlFile, environment: Environment): FilledFile {
  const findings: Diagnostic[] = [];
  const unset: Record<string, string> = {};
  const withVariable = new Set<string>();
  const literals: [Path, Remark][] = [];
  const unsetOwn: [Path, Remark][] = [];
  const value = file.value((scalar, path) => {
    if (typeof scalar !== 'string') return scalar;
    const filled = fillVariables(scalar, environment);
    if (filled.value !== scalar) withVariable.add(path.join('.'));
    findings.push(...filled.remarks.map((remark) => file.finding(path, remark)));
    const literal = filled.names.length === 0 ? literalSecret(path, filled.value) : undefined;
    if (literal) literals.push([path, literal]);
    if (!isCheckedLater(path)) {
      findings.push(...filled.missing.map((variable) => file.finding(path, missingVariable(variable))));
    } else if (!filled.value && filled.names[0] !== undefined) {
      unset[path.join('.')] = filled.names[0];
      const remark = unsetVariable(filled.names[0], String(path[1]));
      if (remark) unsetOwn.push([path, remark]);
    }
    return filled.value;
  });
  // A file in which everything is commented out is valid.
  const found = { findings, unset, unsetOwn, literals, filled: withVariable };
  if (value === null || value === undefined) return { value: {}, ...found };
  if (typeof value === 'object' && !Array.isArray(value)) {
    return { value: value as Record<string, unknown>, ...found };
  }
  throw new InvalidFilesError([file.finding([], { message: 'The file must be a map of keys and values.' })]);
}

/** Those of the shipped configuration. Without them, everything but an account can be used. */
const ofNewcomers = ['CARETAKER_BASE_URL', 'CARETAKER_API_TOKEN'];

const unsetVariable = (variable: string, account: string): Remark | undefined =>
  ofNewcomers.includes(variable)
    ? undefined
    : {
        message: `The environment variable ${variable} is not set, so nothing can be done for the account "${account}".`,
        suggestion: 'set it in the environment or in .env',
      };

const missingVariable = (variable: string) => ({
  message: `The environment variable ${variable} is not set.`,
  suggestion: `set it, or write a default: \${${variable}:-...}`,
});

type Found = 'file' | 'warnings' | 'policyMentions';

function toSettings(config: ConfigFile, unset: Record<string, string>, file: string): Omit<Settings, Found> {
  const { access, accounts, audit, calendars, daemon, dashboard, notifications, redis, retention } = config;
  const { maintenance } = config;
  const password = secret(dashboard.password);
  return {
    accounts: mapValues(accounts, (account, name) => toAccount(name, account, unset)),
    redis: toRedis(redis),
    policiesDir: resolve(dirname(file), config.policies),
    dataDir: resolve(projectOf(file), config.data_dir),
    daemon: { concurrency: daemon.concurrency },
    dashboard: {
      host: dashboard.host,
      port: dashboard.port,
      ...(password && { password }),
      ...(dashboard.public_url && { publicUrl: dashboard.public_url.replace(/\/+$/, '') }),
    },
    access: accessOf(access),
    notifications: mapValues(notifications, (receiver, name) => ({ name, ...receiver })),
    calendars: mapValues(calendars, (entries) => entries.map(daysOf)),
    maintenance: Object.entries(maintenance).map(
      ([name, { cron, timezone, for: forMs, reason, ...scope }]) => ({
        ...{ name, cron: [cron].flat(), timezone, forMs, scope: defined(scope) },
        ...defined({ reason }),
      }),
    ),
    retention: { runsMs: retention.runs },
    audit: { keptMs: audit.keep, ...(audit.file && { file: resolve(projectOf(file), audit.file) }) },
  };
}

function toAccount(
  name: string,
  { base_url: baseUrl, token: written, budget }: ConfigFile['accounts'][string],
  unset: Record<string, string>,
): KnownAccount {
  const token = secret(written);
  const unsetUrl = unset[`accounts.${name}.base_url`];
  const unsetToken = unset[`accounts.${name}.token`];
  return {
    name,
    ...(baseUrl && { baseUrl }),
    ...(token && { token }),
    unset: { ...(unsetUrl && { baseUrl: unsetUrl }), ...(unsetToken && { token: unsetToken }) },
    budget: {
      requestsPerMinute: budget.requests_per_minute,
      reserve: budget.reserve / 100,
      whenRedisIsDown: budget.when_redis_is_down,
    },
  };
}

function toRedis(redis: ConfigFile['redis']): RedisSettings {
  if ('kind' in redis) {
    if (redis.kind === 'url') secret(decodeURIComponent(new URL(redis.url).password));
    return redis;
  }
  const prefix = redis.prefix === undefined ? {} : { prefix: redis.prefix };
  if ('url' in redis) return { ...toRedis(redis.url), ...prefix };
  const { username, tls } = redis;
  const signIn = signInOf({ username, password: redis.password, tls });
  const group = 'sentinels' in redis ? redis.sentinels : redis.cluster;
  const port = 'sentinels' in redis ? 26_379 : 6379;
  const servers = group.map((server) => ({ host: server.host, port: server.port ?? port }));
  if ('cluster' in redis) return { kind: 'cluster', nodes: servers, ...signIn, ...prefix };
  const { name, sentinel_username, sentinel_password, sentinel_tls = tls } = redis;
  const atSentinels = signInOf({
    username: sentinel_username,
    password: sentinel_password,
    tls: sentinel_tls,
  });
  const differs = Object.keys(atSentinels).length > 0;
  return {
    kind: 'sentinel',
    ...{ sentinels: servers, name, ...signIn, ...prefix },
    ...(differs && { atSentinels }),
  };
}

/** What is set of it; the password is registered as a secret. */
function signInOf({
  username,
  password: given,
  tls,
}: { [key in keyof RedisSignIn]: RedisSignIn[key] | undefined }): RedisSignIn {
  const password = secret(given);
  return { ...(username && { username }), ...(password && { password }), ...(tls && { tls }) };
}

/** Registers a secret, so that it is never printed. Returns undefined for an empty one. */
function secret(value: string | undefined): string | undefined {
  const trimmed = value?.trim();
  keepSecret(trimmed);
  return trimmed === '' ? undefined : trimmed;
}

const mapValues = <T, R>(record: Record<string, T>, map: (value: T, key: string) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
