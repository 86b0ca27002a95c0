/**
 * The schema of `config/caretaker.yaml`, for validation, `caretaker schema` and the docs. It uses the names
 * of the file; only `load-settings.ts` translates them into `Settings`.
 */
import { z } from 'zod';
import { MIN_PASSWORD } from '../access/credentials.ts';
import { DaysEntry, isWeekday, weekdays } from '../yaml/days.ts';
import { duration } from '../yaml/duration.ts';
import { percent } from '../yaml/percent.ts';
import { AccessFile, name } from './access-file.ts';
import { MaintenanceRule } from './maintenance.ts';
import { Receiver } from './receiver.ts';
import { isLoopback } from './settings.ts';

/** Accepts strings too, because values of variables are strings. */
export const wholeNumber = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .union([z.number(), z.string()], { error: message })
    .transform((value, context) => {
      const number = typeof value === 'number' || /^\d+$/.test(value) ? Number(value) : Number.NaN;
      if (Number.isInteger(number) && number >= min && number <= max) return number;
      const form = typeof value === 'number' || Number.isNaN(number);
      context.addIssue({ code: 'custom', message, params: { form } });
      return z.NEVER;
    })
    .meta({
      title: `whole number, ${min} to ${max}`,
      anyOf: [
        { type: 'integer', minimum: min, maximum: max },
        { type: 'string', pattern: '^\\d+$', patternErrorMessage: `The value ${message}.` },
      ],
    });
};

/** The form of an address of the API. An empty one counts as none. */
const baseUrlPattern = /^\s*$|^\s*[hH][tT][tT][pP][sS]?:.*v\d\/*\s*$/;

const baseUrl = z
  .string()
  .meta({
    pattern: baseUrlPattern.source,
    patternErrorMessage:
      'The value must be an http:// or https:// address that ends with the version of the API, such as https://example.com/api/v6.',
  })
  .transform((text, context) => {
    const reject = (message: string) => {
      context.addIssue({ code: 'custom', message, params: { form: !baseUrlPattern.test(text) } });
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

const addressPattern = /^(?:\[([^\]]+)\]|([^:\s]+))(?::(\d{1,5}))?$/;

/** `host:port` as a string or as two keys. */
const Address = z
  .union(
    [
      z.string().meta({ pattern: addressPattern.source }),
      z.strictObject({ host: z.string().min(1), port: z.optional(port) }),
    ],
    {
      error: 'must be an address such as redis-1:26379',
    },
  )
  .transform((address, context) => {
    if (typeof address !== 'string') return address;
    const [, bracketed, plain, digits] = addressPattern.exec(address) ?? [];
    const host = bracketed ?? plain;
    if (host !== undefined) return { host, port: digits === undefined ? undefined : Number(digits) };
    const message = 'must be an address such as redis-1:26379';
    context.addIssue({ code: 'custom', message, params: { form: true } });
    return z.NEVER;
  });

/** How one signs in at each server of a group. */
const redisSignIn = {
  username: z.optional(z.string()).describe('User of the Redis servers (ACL). Default the user "default".'),
  password: z.optional(z.string()).describe('Password of the Redis servers; use a variable. Default none.'),
  tls: z.optional(z.boolean()).describe('Whether the Redis servers use TLS. Default false.'),
};

/** The form of "embedded" and of an address. */
const redisUrlPattern =
  /^embedded$|^\s*(?:[rR][eE][dD][iI][sS](?:[sS]|\+[sS][oO][cC][kK][eE][tT])?|[uU][nN][iI][xX]):/;

const RedisUrl = z
  .string()
  .meta({ pattern: redisUrlPattern.source })
  .transform((written, context) => {
    const text = written.trim();
    if (text === 'embedded') return { kind: 'embedded' } as const;
    const reject = (message: string) => {
      context.addIssue({ code: 'custom', message, params: { form: !redisUrlPattern.test(written) } });
      return z.NEVER;
    };
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (/^rediss?:/i.test(text) && hasUnencoded(text, url))
      return reject(
        'must have special characters of the user name and the password encoded: / as %2F, ? as %3F, # as %23, @ as %40 and % as %25',
      );
    if (url && databasesIn(url).size > 1)
      return reject('must name one database, and names two different ones');
    if (url && isSocket(url)) {
      const db = url.searchParams.get('db') ?? '0';
      const path = decoded(url.pathname);
      if (path === undefined) return reject('must have a % in the path of the socket encoded, as %25');
      if (url.host === '' && path.length > 1 && /^\d{1,5}$/.test(db))
        return { kind: 'socket', path, db: Number(db) } as const;
      return reject('must have the path of a socket, and may have a database: unix:/run/redis.sock?db=1');
    }
    if (!url || !/^rediss?:$/.test(url.protocol))
      return reject('must be "embedded", or a redis://, rediss:// or unix: address');
    if (url.host === '' && url.pathname.length > 1)
      return reject(`must have a host. For a socket, write unix:${url.pathname}`);
    if (!/^\/?\d{0,5}$/.test(url.pathname) || url.hash !== '')
      return reject('must have the number of a database after the host, or nothing: redis://host:6379/1');
    return { kind: 'url', url: text } as const;
  });

/** Whether a part of the user name or the password was read as something else, or cannot be decoded. */
function hasUnencoded(text: string, url: URL | undefined): boolean {
  // A password ends at the last "@", an address at the first "/", "?" or "#".
  if (!url) return /[/?#].*@/.test(text.replace(/^\w+:\/\//, ''));
  const { username, password, pathname, search, hash } = url;
  return (
    /@/.test(pathname + search + hash) || decoded(username) === undefined || decoded(password) === undefined
  );
}

const isSocket = ({ protocol }: URL): boolean => /^(unix|redis\+socket):$/.test(protocol);

/** Every database that an address names. The client uses the one in the path, or the first. */
function databasesIn(url: URL): Set<number> {
  const inPath = isSocket(url) ? '' : url.pathname.slice(1);
  return new Set([inPath, ...url.searchParams.getAll('db')].filter(Boolean).map(Number));
}

/** Undefined for a text with a "%" that does not encode anything. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const redisPrefix = z
  .optional(name)
  .describe(
    'Separates environments in one Redis: it begins every key, channel and queue. Processes with different prefixes see nothing of each other. Default none.',
  );

const Addressed = z.strictObject({
  url: RedisUrl.describe('"embedded", or the address of the server.'),
  prefix: redisPrefix,
});

const Sentinels = z.strictObject({
  sentinels: z
    .array(Address)
    .min(1)
    .describe('Addresses of the sentinels, each host:port. Default port 26379.'),
  name: z.string().min(1).describe('Name of the master group that they monitor.'),
  ...redisSignIn,
  sentinel_username: z.optional(z.string()).describe('User of the sentinels. Default the user "default".'),
  sentinel_password: z
    .optional(z.string())
    .describe('Password of the sentinels; use a variable. Default none.'),
  sentinel_tls: z.optional(z.boolean()).describe('Whether the sentinels use TLS. Default as "tls".'),
  prefix: redisPrefix,
});

const Cluster = z.strictObject({
  cluster: z
    .array(Address)
    .min(1)
    .describe('Addresses of one or more cluster nodes, each host:port. Default port 6379.'),
  ...redisSignIn,
  prefix: redisPrefix,
});

export const ConfigFile = z.strictObject({
  accounts: z
    .record(name, Account)
    .describe('API accounts by name. Default: "default", from CARETAKER_BASE_URL and CARETAKER_API_TOKEN.'),
  redis: z
    .union([RedisUrl, Sentinels, Cluster, Addressed], {
      error: 'must be "embedded", an address, { sentinels: [...], name: ... } or { cluster: [...] }',
    })
    .describe(
      '"embedded", redis://, rediss://, unix:, { url, prefix }, { sentinels, name } or { cluster }. Default REDIS_URL, else embedded.',
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
        .describe('Number of targets that one process works on at the same time. Default 20.'),
    })
    .prefault({})
    .describe('The daemon.'),
  dashboard: z
    .strictObject({
      host: z.string().min(1).prefault('127.0.0.1').describe('Address to listen on. Default 127.0.0.1.'),
      port: wholeNumber(0, 65_535)
        .prefault(8480)
        .describe('Port to listen on; 0 selects a free one. Default 8480.'),
      public_url: z
        .optional(z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }))
        .describe(
          'Address at which people open the dashboard, such as https://ops.example.com/caretaker. A proxy may remove the path or leave it. Default: that of each request.',
        ),
      password: z
        .optional(z.string())
        .describe(
          `Password for signing in, at least ${MIN_PASSWORD} characters if other machines can reach the dashboard. Anyone who has it may do everything. Default none: users (\`access\`), or a sign-in link on this machine.`,
        ),
    })
    .superRefine(({ host, password = '' }, context) => {
      const { length } = password.trim();
      if (length === 0 || length >= MIN_PASSWORD || isLoopback(host)) return;
      const message = `must have at least ${MIN_PASSWORD} characters, because other machines can reach the dashboard on ${host}`;
      context.addIssue({ code: 'custom', path: ['password'], message });
    })
    .describe('The dashboard and its JSON API.'),
  access: AccessFile.prefault({}).describe('Who may sign in, and what each may do.'),
  notifications: z
    .record(name, Receiver)
    .prefault({})
    .describe(
      'Receivers of notifications by name, for `notify` of policies. Each has exactly one kind of channel. Default none.',
    ),
  calendars: z
    .record(
      name
        .refine(
          (text) => !isWeekday(text),
          'must not be a weekday, because a weekday means that day of every week',
        )
        .meta({ not: { enum: weekdays } }),
      z.array(DaysEntry),
    )
    .prefault({})
    .describe(
      'Days by name, for `schedule.blackout` of policies: a list of days, weekdays (sunday) and ranges ({ from, to }). Default none.',
    ),
  maintenance: z
    .record(name, MaintenanceRule)
    .prefault({})
    .describe(
      'Freezes that recur, by name: while one holds, its policies start no run, and new runs skip its targets. Default none.',
    ),
  retention: z
    .strictObject({
      runs: duration(3_600_000).prefault('90d').describe('How long ended runs are kept. Default 90d.'),
    })
    .prefault({})
    .describe('How long records are kept.'),
  audit: z
    .strictObject({
      keep: duration(86_400_000)
        .prefault('400d')
        .describe('How long lines of the audit log are kept. Default 400d.'),
      file: z
        .optional(z.string().min(1))
        .describe(
          'Also append each line as JSON to this file, relative to the project folder. Default none.',
        ),
    })
    .prefault({})
    .describe('The audit log: what people, programs and the daemon did.'),
});
export type ConfigFile = z.output<typeof ConfigFile>;

/** What the file holds when its variables are replaced. */
export const configValuesJsonSchema = () => z.toJSONSchema(ConfigFile.partial(), { io: 'input' });

/**
 * The JSON Schema of `config/caretaker.yaml`, for editors. Every key is optional, and a variable can be in every
 * value. It refuses a file if and only if reading it finds an error in its form (`form` of `Diagnostic`).
 */
export function configFileJsonSchema() {
  const schema = configValuesJsonSchema() as Json;
  // A file in which everything is commented out is valid.
  return { ...withVariables(schema), type: ['object', 'null'] };
}

interface Json {
  [keyword: string]: unknown;
  properties?: Record<string, Json>;
  additionalProperties?: Json | boolean;
  items?: Json;
  anyOf?: Json[];
}

/** The schema with variables for the values inside. */
function withVariables(schema: Json): Json {
  const { properties, additionalProperties, items, anyOf, ...rest } = schema;
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, inner]) => [key, orVariable(inner)]),
      ),
    }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? orVariable(additionalProperties) : additionalProperties,
    }),
    ...(items && { items: orVariable(items) }),
    ...(anyOf && { anyOf: anyOf.map(withVariables) }),
  };
}

/** A value, or a text with a variable. What explains the value stays outside, where editors look for it. */
function orVariable(schema: Json): Json {
  const { title, description, default: standard, ...value } = withVariables(schema);
  const forms = value.anyOf ?? [value];
  const isHolder = forms.every(({ type }) => type === 'object' || type === 'array');
  const takesText = forms.some(
    ({ type, ...bounds }) =>
      type === 'string' && !['pattern', 'minLength', 'enum', 'anyOf'].some((one) => one in bounds),
  );
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(standard !== undefined && { default: standard }),
    ...(isHolder || takesText ? value : { anyOf: [...forms, { type: 'string', pattern: '\\$\\{' }] }),
  };
}
