import { readFileSync } from 'node:fs';
import { configFileJsonSchema } from '../../src/settings/config-file.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { type Judge, judgeBy } from '../policy/mutations/agreement.ts';
import { compiled } from '../support/json-schema.ts';
import { findingsOf } from './load.ts';

const everyKey = `
accounts:
  default: { base_url: https://example.com/api/v6, token: "\${TOKEN:-x}" }
  other:
    base_url: "\${URL:-http://other.example/api/v6}"
    budget: { requests_per_minute: "\${RATE:-100}", reserve: 20%, when_redis_is_down: share }
redis: { sentinels: ["redis-1:26379", { host: redis-2, port: 26380 }], name: main, password: secret }
policies: ./policies
data_dir: data
daemon: { concurrency: 5 }
dashboard: { host: 127.0.0.1, port: "8480", password: a long password }
notifications:
  ops: { webhook: { url: https://hooks.example/x, secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw } }
  chat: { slack: { url: http://127.0.0.1/slack }, allow_private: true, repeat_interval: never, group_wait: 1m }
  teams: { repeat_interval: 2h, teams: { url: "\${TEAMS_URL:-https://hooks.example/teams}" } }
  discord:
    discord: { url: https://hooks.example/discord }
    events: [account-blocked, policy-file-broken]
    quiet_hours: { from: "22:00", to: "07:00", timezone: Europe/Berlin, days: [monday, sunday], except: [error, approval-wanted] }
  duty: { pagerduty: { routing_key: a-key, url: https://events.example/v2/enqueue } }
  phone: { ntfy: { topic: fleet-4711, url: https://ntfy.example, token: tk_x } }
  mail: { email: { smtp: "smtp://u:p@mail.example:587", from: "Caretaker <c@example.com>", to: [ops@example.com] }, digest: { cron: "0 9 * * mon-fri", timezone: Europe/Berlin } }
  alive: { heartbeat: { url: https://hc.example/x, every: 5m } }
calendars: { holidays: [2026-12-25, sunday, { from: 2026-12-24, to: 2027-01-01 }] }
maintenance:
  sundays: { cron: ["0 0 * * sun"], for: 1d, timezone: Europe/Berlin, client: Acme, tag: "12", reason: Closed }
  nights: { cron: "0 22 * * *", for: 8h, account: other, policy: sync }
retention: { runs: 30d }
access:
  users:
    ana: { oidc_email: ana@example.com, roles: [viewer, { role: operator, policies: [nightly-sync], accounts: [other] }] }
  tokens: { ci: { token: a-token-of-twenty-four-characters, roles: [operator] } }
  oidc:
    issuer: https://login.example.com
    client_id: caretaker
    client_secret: a secret
    scopes: [openid]
    claims: [{ claim: groups, value: ops, roles: [admin] }]
  sessions: { idle: 30m, max_age: "\${MAX_AGE:-1d}" }
  trusted_proxies: [10.0.0.0/8]
`;
/** Texts of `caretaker.yaml`: the one that we ship, one with every key, and others. */
export const settingsTexts = [
  readFileSync('config/caretaker.yaml', 'utf8'),
  everyKey,
  'redis: { cluster: ["redis-1", "[::1]:6379"] }\n',
  'redis: rediss://redis.example\ndashboard: { port: 0 }\n',
];

/** What the JSON Schema and the command say about a `caretaker.yaml`. */
export const judgeSettings = (): Judge =>
  judgeBy(compiled(configFileJsonSchema()), (file) =>
    findingsOf(() => loadSettings({ configPath: file, cwd: '.', env: {} })),
  );
