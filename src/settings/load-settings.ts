/** Reads `config/caretaker.yaml` and the environment into the one frozen `Settings`. */
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CaretakerError } from '../errors.ts';
import type { RedisSettings } from '../redis/connect.ts';
import { keepSecret } from '../secrets.ts';
import { daysOf } from '../yaml/days.ts';
import { type Diagnostic, fileDiagnostic, InvalidFilesError, inOrder } from '../yaml/diagnostic.ts';
import { readStrictly } from '../yaml/read-strictly.ts';
import { type Path, YamlFile } from '../yaml/yaml-file.ts';
import { ConfigFile } from './config-file.ts';
import { environmentOf } from './environment.ts';
import type { KnownAccount, Settings } from './settings.ts';
import { deepFreeze } from './settings.ts';
import { type Environment, fillVariables, maskVariables } from './variables.ts';

export interface Where {
  /**
   * `--config`; default `CARETAKER_CONFIG`, then `config/caretaker.yaml` in `cwd` or the nearest folder above
   * it.
   */
  configPath?: string | undefined;
  cwd: string;
  env: Environment;
}

/** What holds where the file says nothing: each key of it stands in for one that is left out there. */
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

/** There is no configuration where one is looked for: probably the wrong folder. */
export class NoConfigError extends CaretakerError {
  readonly code = 'NO_CONFIG';
  constructor(readonly folder: string) {
    super(
      `There is no ${defaultFile} in ${folder} or any folder above it: go to your project, name the file with --config, or write one with "caretaker init".`,
    );
  }
}

/**
 * The folder to which `data_dir` is relative and in which `.env` is read, wherever a command is started: the
 * one above `config/caretaker.yaml`, and of any other file the one it lies in.
 */
export function projectOf(file: string): string {
  const folder = dirname(resolve(file));
  return join(basename(folder), basename(file)) === defaultFile ? dirname(folder) : folder;
}

/**
 * The settings, complete and frozen; every secret among them is unprintable from now on.
 *
 * An account without base URL or token is no mistake here, since many commands need none: `accountOf` tells.
 *
 * @throws {NoConfigError} when there is no file.
 * @throws {InvalidFilesError} with everything that is wrong in the file, or in `.env`.
 */
export function loadSettings({ configPath, cwd, env }: Where): Settings {
  const file = fileToRead(configPath, cwd, env);
  const environment = environmentOf(projectOf(file), env);
  const builtIn = whole(YamlFile.parse('(built-in defaults)', defaults, maskVariables));
  const own = whole(YamlFile.read(file, maskVariables));
  const ownFilled = fill(own, environment);
  const builtInFilled = fill(builtIn, environment);
  const isOwn = (path: Path) =>
    path.length === 0 ||
    Object.hasOwn(ownFilled.value, String(path[0])) ||
    !Object.hasOwn(builtInFilled.value, String(path[0]));
  const read = readStrictly(ConfigFile, { ...builtInFilled.value, ...ownFilled.value }, (path, remark) =>
    (isOwn(path) ? own : builtIn).finding(path, remark),
  );
  const findings = [...ownFilled.findings, ...('findings' in read ? read.findings : [])];
  if (!('value' in read) || findings.length > 0)
    throw new InvalidFilesError(inOrder(withoutEchoes(findings)));
  const { unset } = isOwn(['accounts']) ? ownFilled : builtInFilled;
  return deepFreeze({ file, ...toSettings(read.value, unset, file) });
}

/** A variable that is missing leaves its key missing as well: one finding a place is enough, the first. */
const withoutEchoes = (findings: Diagnostic[]): Diagnostic[] => {
  const seen = new Set<string>();
  return findings.filter(({ path, message }) => {
    const key = path === '' ? message : path;
    return !seen.has(key) && seen.add(key);
  });
};

function fileToRead(given: string | undefined, cwd: string, env: Environment): string {
  const asked = given ?? (env['CARETAKER_CONFIG'] || undefined);
  if (asked === undefined) return nearestConfig(cwd);
  const file = resolve(cwd, asked);
  if (existsSync(file)) return file;
  const source = given === undefined ? 'CARETAKER_CONFIG' : '--config';
  throw new InvalidFilesError([fileDiagnostic(file, `The config file that ${source} names does not exist.`)]);
}

/** As git finds its repository: in the current folder, else in the nearest one above. */
function nearestConfig(cwd: string): string {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const file = join(folder, defaultFile);
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) throw new NoConfigError(resolve(cwd));
  }
}

function whole(file: YamlFile | Diagnostic[]): YamlFile {
  if (file instanceof YamlFile) return file;
  throw new InvalidFilesError(file);
}

interface FilledFile {
  value: Record<string, unknown>;
  findings: Diagnostic[];
  /** Variables that are not set or empty, by the path of an account's base URL or token. */
  unset: Record<string, string>;
}

const isLazy = (path: Path) =>
  path.length === 3 && path[0] === 'accounts' && (path[2] === 'base_url' || path[2] === 'token');

function fill(file: YamlFile, environment: Environment): FilledFile {
  const findings: Diagnostic[] = [];
  const unset: Record<string, string> = {};
  const value = file.value((scalar, path) => {
    if (typeof scalar !== 'string') return scalar;
    const filled = fillVariables(scalar, environment);
    findings.push(...filled.remarks.map((remark) => file.finding(path, remark)));
    if (!isLazy(path)) {
      findings.push(...filled.missing.map((variable) => file.finding(path, missingVariable(variable))));
    } else if (!filled.value && filled.names[0] !== undefined) {
      unset[path.join('.')] = filled.names[0];
    }
    return filled.value;
  });
  // A file in which everything is commented out says nothing, and that is fine.
  if (value === null || value === undefined) return { value: {}, findings, unset };
  if (typeof value === 'object' && !Array.isArray(value)) {
    return { value: value as Record<string, unknown>, findings, unset };
  }
  throw new InvalidFilesError([file.finding([], { message: 'The file must be a map of keys and values.' })]);
}

const missingVariable = (variable: string) => ({
  message: `The environment variable ${variable} is not set.`,
  suggestion: `set it, or give a default: \${${variable}:-...}`,
});

function toSettings(config: ConfigFile, unset: Record<string, string>, file: string): Omit<Settings, 'file'> {
  const { accounts, calendars, daemon, dashboard, notifications, redis, retention } = config;
  const password = secret(dashboard.password);
  return {
    accounts: mapValues(accounts, (account, name) => toAccount(name, account, unset)),
    redis: toRedis(redis),
    policiesDir: resolve(dirname(file), config.policies),
    dataDir: resolve(projectOf(file), config.data_dir),
    daemon: { concurrency: daemon.concurrency },
    dashboard: { host: dashboard.host, port: dashboard.port, ...(password && { password }) },
    notifications: mapValues(notifications, (receiver, name) => ({ name, ...receiver })),
    calendars: mapValues(calendars, (entries) => entries.map(daysOf)),
    retention: { runsMs: retention.runs },
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
  const password = secret(redis.password);
  const group = 'sentinels' in redis ? redis.sentinels : redis.cluster;
  const port = 'sentinels' in redis ? 26_379 : 6379;
  const servers = group.map((server) => ({ host: server.host, port: server.port ?? port }));
  return 'sentinels' in redis
    ? { kind: 'sentinel', sentinels: servers, name: redis.name, ...(password && { password }) }
    : { kind: 'cluster', nodes: servers, ...(password && { password }) };
}

/** Keeps a secret from being printed, and takes an empty one for none. */
function secret(value: string | undefined): string | undefined {
  const trimmed = value?.trim();
  keepSecret(trimmed);
  return trimmed === '' ? undefined : trimmed;
}

const mapValues = <T, R>(record: Record<string, T>, map: (value: T, key: string) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
