/**
 * The schema of `config/caretaker.yaml`, for validation, `caretaker schema` and the docs. It uses the names
 * of the file; only `load-settings.ts` translates them into `Settings`.
 */
import { z } from 'zod';
import { DaysEntry, isWeekday } from '../yaml/days.ts';
import { duration } from '../yaml/duration.ts';
import { percent } from '../yaml/percent.ts';
import { Receiver } from './channels.ts';
import { isLoopback } from './settings.ts';

/** A shorter password could be guessed from many machines despite the throttle of the dashboard. */
const MIN_PASSWORD = 12;

/** A name of an account, a notification channel or a policy. */
export const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    'must be a name of lowercase letters, digits and hyphens, up to 63 characters',
  );

/** Accepts strings too, because values of variables are strings. */
export const wholeNumber = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .union([z.number(), z.string()], { error: message })
    .transform((value, context) => {
      const number = typeof value === 'number' || /^\d+$/.test(value) ? Number(value) : Number.NaN;
      if (Number.isInteger(number) && number >= min && number <= max) return number;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ title: `whole number, ${min} to ${max}` });
};

const baseUrl = z.string().transform((text, context) => {
  const reject = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  const url = text.trim().replace(/\/+$/, '');
  if (url === '') return undefined;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return reject('must be an http:// or https:// address');
  }
  const { username, password, search, hash, pathname } = new URL(url);
  if (username || password)
    return reject('must not contain a user name or password; set the token in "token"');
  if (search || hash || !/\/api\/v\d$/.test(pathname)) {
    return reject(
      'must be an address that ends with the version of the API, such as https://example.com/api/v6',
    );
  }
  return url;
});

const Account = z.strictObject({
  base_url: z
    .optional(baseUrl)
    .describe('Address of the API, including its version: https://example.com/api/v6. Default none.'),
  token: z.optional(z.string()).describe('API token; use a variable. Default none.'),
  budget: z
    .strictObject({
      requests_per_minute: wholeNumber(1, 100_000)
        .prefault(200)
        .describe('Requests per minute that the service allows for the account. Default 200.'),
      reserve: percent(0, 90)
        .prefault('10%')
        .describe('Percentage of them that is reserved for other clients of the same account. Default 10%.'),
      when_redis_is_down: z
        .enum(['stop', 'share'])
        .default('stop')
        .describe(
          'While Redis is unavailable: requests wait for it (`stop`), or each process continues with an equal part (`share`). Default `stop`.',
        ),
    })
    .prefault({})
    .describe('The request budget of the account.'),
});

const port = wholeNumber(1, 65_535);

/** `host:port` as a string or as two keys. */
const Address = z
  .union([z.string(), z.strictObject({ host: z.string().min(1), port: z.optional(port) })], {
    error: 'must be an address such as redis-1:26379',
  })
  .transform((address, context) => {
    if (typeof address !== 'string') return address;
    const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:\s]+))(?::(\d{1,5}))?$/.exec(address) ?? [];
    const host = bracketed ?? plain;
    if (host !== undefined) return { host, port: digits === undefined ? undefined : Number(digits) };
    context.addIssue({ code: 'custom', message: 'must be an address such as redis-1:26379' });
    return z.NEVER;
  });

const redisPassword = z
  .optional(z.string())
  .describe('Password of the Redis servers; use a variable. Default none.');

const RedisUrl = z.string().transform((text, context) => {
  if (text === 'embedded') return { kind: 'embedded' } as const;
  if (URL.canParse(text) && /^rediss?:$/.test(new URL(text).protocol))
    return { kind: 'url', url: text } as const;
  context.addIssue({ code: 'custom', message: 'must be "embedded", or a redis:// or rediss:// address' });
  return z.NEVER;
});

const Sentinels = z.strictObject({
  sentinels: z
    .array(Address)
    .min(1)
    .describe('Addresses of the sentinels, each host:port. Default port 26379.'),
  name: z.string().min(1).describe('Name of the master group that they monitor.'),
  password: redisPassword,
});

const Cluster = z.strictObject({
  cluster: z
    .array(Address)
    .min(1)
    .describe('Addresses of one or more cluster nodes, each host:port. Default port 6379.'),
  password: redisPassword,
});

export const ConfigFile = z.strictObject({
  accounts: z
    .record(name, Account)
    .describe('API accounts by name. Default: "default", from CARETAKER_BASE_URL and CARETAKER_API_TOKEN.'),
  redis: z
    .union([RedisUrl, Sentinels, Cluster], {
      error: 'must be "embedded", an address, { sentinels: [...], name: ... } or { cluster: [...] }',
    })
    .describe(
      '"embedded", redis://, rediss://, { sentinels, name } or { cluster }. Default REDIS_URL, else embedded.',
    ),
  policies: z
    .string()
    .min(1)
    .describe('Folder with the policy files, relative to this file. Default ./policies.'),
  data_dir: z
    .string()
    .min(1)
    .describe('Folder for data on disk, relative to the project folder. Default .caretaker.'),
  daemon: z
    .strictObject({
      concurrency: wholeNumber(1, 1000)
        .prefault(20)
        .describe('Number of entries that one process handles at the same time. Default 20.'),
    })
    .prefault({})
    .describe('The daemon.'),
  dashboard: z
    .strictObject({
      host: z.string().min(1).prefault('127.0.0.1').describe('Address to listen on. Default 127.0.0.1.'),
      port: wholeNumber(0, 65_535)
        .prefault(8480)
        .describe('Port to listen on; 0 selects a free one. Default 8480.'),
      password: z
        .optional(z.string())
        .describe(
          `Password for signing in, at least ${MIN_PASSWORD} characters if other machines can reach the dashboard. Default none: only this machine can reach it, with a sign-in link.`,
        ),
    })
    .superRefine(({ host, password = '' }, context) => {
      const { length } = password.trim();
      if (length === 0 || length >= MIN_PASSWORD || isLoopback(host)) return;
      const message = `must have at least ${MIN_PASSWORD} characters, because other machines can reach the dashboard on ${host}`;
      context.addIssue({ code: 'custom', path: ['password'], message });
    })
    .describe('The dashboard and its JSON API.'),
  notifications: z
    .record(name, Receiver)
    .prefault({})
    .describe('Notification channels by name, for `notify` of policies. Default none.'),
  calendars: z
    .record(
      name.refine(
        (text) => !isWeekday(text),
        'must not be a weekday, because a weekday means that day of every week',
      ),
      z.array(DaysEntry),
    )
    .prefault({})
    .describe(
      'Days by name, for `schedule.blackout` of policies: a list of days, weekdays (sunday) and ranges ({ from, to }). Default none.',
    ),
  retention: z
    .strictObject({
      runs: duration(3_600_000).prefault('90d').describe('How long ended runs are kept. Default 90d.'),
    })
    .prefault({})
    .describe('How long records are kept.'),
});
export type ConfigFile = z.output<typeof ConfigFile>;

/** The JSON Schema of `config/caretaker.yaml`, for editors. Every key is optional. */
export const configFileJsonSchema = () => z.toJSONSchema(ConfigFile.partial(), { io: 'input' });
