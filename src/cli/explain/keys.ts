/** Keys of policies and of the configuration, from the descriptions that `caretaker schema` prints. */
import { stringify } from 'yaml';
import { policyEntryJsonSchema } from '../../policy/policy-file-schema.ts';
import { configValuesJsonSchema } from '../../settings/config-file.ts';
import { type Key, keysOf, type Schema } from './schema-keys.ts';
import type { Topic, Topics } from './topic.ts';

/** The keys of both kinds of file. */
export function keyTopics(): Topics {
  const policy = keysOf(policyEntryJsonSchema() as Schema).map((key) =>
    topicOf(key, 'policy key', policyExamples),
  );
  const config = keysOf(configValuesJsonSchema() as Schema).map((key) =>
    topicOf(key, 'configuration key', configExamples),
  );
  const topics = [
    ...new Map([...policy, ...config].map((topic) => [topic.kind + topic.name, topic])).values(),
  ];
  return { names: () => topics.map(({ name }) => name), find: (word) => matching(topics, word) };
}

/** The keys with this path, else those whose path ends with it: `concurrency`, `limits.concurrency`. */
export function matching(topics: readonly Topic[], word: string): Topic[] {
  const asked = bare(word.replace(/^policies(?:\[\d*\])?\./, ''));
  if (asked === '') return [];
  const exact = topics.filter(({ name }) => isSame(bare(name).split('.'), asked.split('.')));
  return exact.length > 0 ? exact : topics.filter(({ name }) => bare(name).endsWith(`.${asked}`));
}

/** `accounts.default.token` is `accounts.<name>.token`. */
const isSame = (parts: readonly string[], asked: readonly string[]): boolean =>
  parts.length === asked.length && parts.every((part, at) => part === '<name>' || part === asked[at]);

/** A path without the marks of lists: `notify[0].on` and `notify.on` name the same key. */
const bare = (path: string): string => path.replace(/\[\d*\]/g, '').toLowerCase();

function topicOf(key: Key, kind: string, examples: Examples): Topic {
  const example = exampleOf(key, examples);
  return {
    name: key.path,
    kind,
    text: key.text.replaceAll('`', ''),
    facts: {
      ...(key.type === '' ? {} : { type: key.type.replaceAll('`', '') }),
      ...(key.standard === 'required'
        ? { required: 'yes' }
        : key.standard === ''
          ? {}
          : { default: key.standard.replaceAll('`', '') }),
    },
    ...(example === undefined ? {} : { example: stringify(example, { lineWidth: 0 }).trimEnd() }),
  };
}

type Examples = Readonly<Record<string, unknown>>;

/** Values for keys whose type does not show what one writes. */
const policyExamples: Examples = {
  name: 'nightly-sync',
  description: 'Sync every site overnight',
  account: 'default',
  job: 'site-sync',
  matrix: { tag: ['gold', 'silver'] },
  schedule: { cron: '0 2 * * *', timezone: 'Europe/Berlin' },
  'schedule.cron': '0 2 * * *',
  'schedule.after': { policy: 'nightly-sync' },
  'schedule.after.policy': 'nightly-sync',
  'schedule.after.status': ['succeeded', 'partial'],
  'schedule.timezone': 'Europe/Berlin',
  'schedule.blackout': ['sunday', '2026-12-25', { from: '2026-12-31', to: '2027-01-02' }],
  'schedule.catchup': '2h',
  select: { filters: { connection_status: { eq: 'connected' } } },
  'select.filters': { connection_status: { eq: 'connected' }, tags: { in: ['12'] } },
  'select.where': 'site.sync.last_sync_at < now - duration("20h")',
  'select.sort': 'last_sync_at,asc',
  'select.timezone': 'Europe/Berlin',
  with: { mode: 'stale', max_age: '20h' },
  limits: { concurrency: 10, stop_after_failures: '10%' },
  'limits.max_change': '50%',
  'limits.stop_after_failures': '10%',
  retry: { attempts: 4, delay: '30s' },
  accept_rejections: ['plan has no backups'],
  timeout: { target: '2h', run: '8h' },
  approval: { when: 'destructive', expires: '24h' },
  'approval.by': ['approver', 'ana'],
  // It needs `rollout` too, which the examples of single keys cannot have beside `approval`.
  'approval.each_batch': undefined,
  rollout: { batches: [5, '10%', '100%'], pause: '2h', max_failed: '5%' },
  'rollout.batches': [5, '10%', '100%'],
  'rollout.healthy': 'site.connection.status == "connected"',
  notify: [{ on: ['failed', 'partial'], to: 'ops' }],
  'notify[].on': ['failed', 'partial'],
  'notify[].to': 'ops',
};

const variable = (name: string): string => `\${${name}}`;

const configExamples: Examples = {
  accounts: { default: { base_url: variable('CARETAKER_BASE_URL'), token: variable('CARETAKER_API_TOKEN') } },
  'accounts.<name>.base_url': variable('CARETAKER_BASE_URL'),
  'accounts.<name>.token': variable('CARETAKER_API_TOKEN'),
  'accounts.<name>.budget': { requests_per_minute: 200, reserve: '10%' },
  redis: 'redis://redis.internal:6379',
  'redis.sentinels': ['10.0.0.1:26379', '10.0.0.2:26379'],
  'redis.name': 'mymaster',
  'redis.password': variable('REDIS_PASSWORD'),
  'redis.sentinel_password': variable('SENTINEL_PASSWORD'),
  'redis.cluster': ['10.0.0.1:6379', '10.0.0.2:6379'],
  policies: './policies',
  data_dir: '.caretaker',
  daemon: { concurrency: 20 },
  dashboard: { host: '127.0.0.1', port: 8480 },
  'dashboard.host': '127.0.0.1',
  'dashboard.password': variable('CARETAKER_DASHBOARD_PASSWORD'),
  'dashboard.public_url': 'https://caretaker.example.com',
  access: { users: { ana: { oidc_email: 'ana@example.com', roles: ['operator'] } } },
  'access.users': { ana: { oidc_email: 'ana@example.com', roles: ['operator'] } },
  'access.users.<name>.oidc_email': 'ana@example.com',
  'access.users.<name>.roles': ['viewer', { role: 'operator', policies: ['nightly-sync'] }],
  'access.users.<name>.roles[].policies': ['nightly-sync'],
  'access.users.<name>.roles[].accounts': ['default'],
  'access.tokens': { ci: { token: variable('CI_TOKEN'), roles: ['operator'] } },
  'access.tokens.<name>.token': variable('CI_TOKEN'),
  'access.tokens.<name>.roles': ['operator'],
  'access.oidc': {
    issuer: 'https://login.example.com',
    client_id: 'caretaker',
    client_secret: variable('OIDC_SECRET'),
  },
  'access.oidc.issuer': 'https://login.example.com',
  'access.oidc.client_id': 'caretaker',
  'access.oidc.client_secret': variable('OIDC_SECRET'),
  'access.oidc.claims': [{ claim: 'groups', value: 'caretaker-admins', roles: ['admin'] }],
  'access.sessions': { idle: '12h', max_age: '7d' },
  'access.trusted_proxies': ['127.0.0.1', '10.0.0.0/8'],
  notifications: { ops: { webhook: { url: variable('OPS_WEBHOOK_URL') } } },
  'notifications.<name>.webhook': { url: variable('OPS_WEBHOOK_URL') },
  'notifications.<name>.webhook.url': variable('OPS_WEBHOOK_URL'),
  'notifications.<name>.webhook.secret': variable('OPS_WEBHOOK_SECRET'),
  maintenance: { 'sundays-of-acme': { cron: '0 0 * * sun', for: '24h', client: 'Acme' } },
  calendars: { holidays: ['2026-12-25', { from: '2026-12-31', to: '2027-01-02' }] },
};

/** A receiver has a kind of channel beside its rules. */
const besideRule = { webhook: { url: variable('OPS_WEBHOOK_URL') } };

/** The keys that the example of a key, or of every key of a map, needs next to it to be valid. */
const requiredSiblings: Examples = {
  'schedule.*': { cron: '0 2 * * *' },
  'schedule.cron': {},
  'schedule.after': {},
  'schedule.after.*': { policy: 'nightly-sync' },
  'schedule.catchup.*': { window: '2h' },
  'schedule.blackout[].*': { from: '2026-12-24', to: '2026-12-26' },
  'notify[].*': { to: 'ops' },
  'approval.*': { when: 'destructive' },
  'rollout.*': { batches: [5, '100%'] },
  'select.join.<name>.*': { list: 'listStagingSites', on: 'copy.site_id == site.id' },
  'maintenance.<name>.*': { cron: '0 0 * * sun', for: '24h', client: 'Acme' },
  'calendars.<name>[].*': { from: '2026-12-24', to: '2026-12-26' },
  'redis.sentinels': { name: 'mymaster' },
  'redis.name': { sentinels: ['10.0.0.1:26379', '10.0.0.2:26379'] },
  'redis.cluster': {},
  'redis.*': { sentinels: ['10.0.0.1:26379', '10.0.0.2:26379'], name: 'mymaster' },
  'access.users.<name>.*': { oidc_email: 'ana@example.com', roles: ['operator'] },
  'access.users.<name>.roles[].*': { role: 'operator' },
  'access.tokens.<name>.*': { token: variable('CI_TOKEN'), roles: ['operator'] },
  'access.tokens.<name>.roles[].*': { role: 'operator' },
  'access.oidc.*': { issuer: 'https://login.example.com', client_id: 'caretaker' },
  'access.oidc.claims[].*': { claim: 'groups', value: 'caretaker-admins', roles: ['admin'] },
  'access.oidc.claims[].roles[].*': { role: 'operator' },
  'notifications.<name>.allow_private': besideRule,
  'notifications.<name>.events': besideRule,
  'notifications.<name>.repeat_interval': besideRule,
  'notifications.<name>.group_wait': besideRule,
  'notifications.<name>.quiet_hours': besideRule,
  'notifications.<name>.digest': besideRule,
  'notifications.<name>.quiet_hours.*': { from: '20:00', to: '07:00' },
  'notifications.<name>.digest.*': { cron: '0 8 * * *' },
  'notifications.<name>.webhook.*': { url: variable('OPS_WEBHOOK_URL') },
  'notifications.<name>.heartbeat.*': { url: variable('HEARTBEAT_URL') },
};

/** Names for maps in which `default` would say nothing. */
const exampleNames: Record<string, string> = {
  'select.join': 'copy',
  'access.users': 'ana',
  'access.tokens': 'ci',
};

/** The key with a value, inside the maps and lists around it; undefined when its type shows no value. */
function exampleOf({ path, schema, type, standard }: Key, examples: Examples): unknown {
  const value = Object.hasOwn(examples, path) ? examples[path] : shownValue(schema, type, standard);
  if (value === undefined) return undefined;
  const parts = path.split('.');
  return parts.reduceRight((inner: unknown, part, at) => {
    const around = parts.slice(0, at).join('.');
    const key = [...parts.slice(0, at), part].join('.').replace(/\[\]$/, '');
    const siblings = requiredSiblings[key] ?? requiredSiblings[`${around}.*`];
    const [, name = part, isList] = /^(.*?)(\[\])?$/.exec(part) ?? [];
    return {
      ...(siblings as object),
      [name === '<name>' ? (exampleNames[around] ?? 'default') : name]: isList ? [inner] : inner,
    };
  }, value);
}

function shownValue(schema: Schema, type: string, standard: string): unknown {
  const choice = schema.enum?.find((value) => String(value) === standard) ?? schema.enum?.[0];
  if (choice !== undefined) return choice;
  if (type === 'duration') return /^\d+[smhd]$/.test(standard) ? standard : '30m';
  if (type === 'percentage') return /^\d+%$/.test(standard) ? standard : '10%';
  if (type === 'day') return '2026-12-25';
  if (type === 'true or false') return standard !== 'true';
  if (type.startsWith('whole number'))
    return /^\d+$/.test(standard) ? Number(standard) : Math.max(1, schema.minimum ?? 1);
  return undefined;
}
