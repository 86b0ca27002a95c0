// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how variables are written in config files.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noAccess } from '../../src/access/access.ts';
import { scrub } from '../../src/secrets.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { folderWith } from './folder.ts';
import { errorsOf, findingsOf, load, told } from './load.ts';

test('an empty file means the environment and the defaults', () => {
  const cwd = folderWith({ 'config/caretaker.yaml': '# all is as it should be\n' });
  const env = {
    CARETAKER_BASE_URL: 'http://127.0.0.1:4010/api/v6/',
    CARETAKER_API_TOKEN: 'sesame-open',
    REDIS_URL: 'redis://r:1',
  };

  const settings = loadSettings({ cwd, env });

  expect(settings).toEqual({
    file: join(cwd, 'config/caretaker.yaml'),
    accounts: {
      default: {
        name: 'default',
        baseUrl: 'http://127.0.0.1:4010/api/v6',
        token: 'sesame-open',
        unset: {},
        budget: { requestsPerMinute: 200, reserve: 0.1, whenRedisIsDown: 'stop' },
      },
    },
    redis: { kind: 'url', url: 'redis://r:1' },
    policiesDir: join(cwd, 'config/policies'),
    dataDir: join(cwd, '.caretaker'),
    daemon: { concurrency: 20 },
    dashboard: { host: '127.0.0.1', port: 8480 },
    notifications: {},
    calendars: {},
    maintenance: [],
    retention: { runsMs: 90 * 86_400_000 },
    audit: { keptMs: 400 * 86_400_000 },
    access: noAccess,
    warnings: [],
    policyMentions: [],
  });
});

test('a calendar accepts days, ranges and weekdays', () => {
  const { calendars } = load(
    'calendars: { closed: [2026-12-25, sunday, { from: 2026-08-01, to: 2026-08-15 }] }\n',
  );
  expect(calendars).toEqual({
    closed: [
      { from: '2026-12-25', to: '2026-12-25' },
      { weekday: 'sunday' },
      { from: '2026-08-01', to: '2026-08-15' },
    ],
  });
});

test.each([
  [
    'closed: [sonday]',
    'must be a day such as 2026-12-25, a weekday such as sunday, or { from, to }. did you mean sunday?',
  ],
  ['closed: [2026-02-30]', 'Entry 1 of "closed" is not a day: February 2026 has 28 days.'],
  ['closed: [3]', 'must be a day such as 2026-12-25, a weekday such as sunday, or { from, to }.'],
  ['closed: [12/25/2026]', 'must be a date in the form YYYY-MM-DD, such as 2026-12-25.'],
  ['closed: [{ from: 2026-08-15, to: 2026-08-01 }]', '"to" must not be before "from".'],
  ['sunday: [2026-12-25]', 'must not be a weekday, because a weekday means that day of every week.'],
])('calendars: { %s } is an error', (text, sentence) => {
  const [mistake, ...others] = errorsOf(`calendars: { ${text} }\n`);
  expect(mistake).toContain(sentence);
  expect(others).toEqual([]);
});

test('the settings cannot be changed', () => {
  const settings = load('');
  expect(() => {
    settings.dashboard.port = 1;
  }).toThrow(TypeError);
});

test('an account without base URL and token is not an error; a variable of its own that is not set is a warning', () => {
  const { accounts, warnings } = load(
    'accounts: { default: { base_url: ${CARETAKER_BASE_URL}, token: ${B} } }\n',
  );
  expect(accounts['default']).toMatchObject({ unset: { baseUrl: 'CARETAKER_BASE_URL', token: 'B' } });
  expect(warnings.map(told)).toEqual([
    '1:64 The environment variable B is not set, so nothing can be done for the account "default". set it in the environment or in .env',
  ]);
  expect(load('accounts: { default: { token: ${B} } }\n', { B: 'sesame-open' }).warnings).toEqual([]);
});

test('a missing variable is reported with its position, and a default replaces a missing or empty one', () => {
  expect(errorsOf('policies: ${FOLDER}\n')).toEqual([
    '1:11 The environment variable FOLDER is not set. set it, or write a default: ${FOLDER:-...}',
  ]);
  expect(load('policies: ${FOLDER:-/rules}\n', { FOLDER: '' }).policiesDir).toBe('/rules');
  expect(load('policies: "/${A}/${B:-b}"\n', { A: 'a' }).policiesDir).toBe('/a/b');
});

test('variables work inside braces without quotes and as numbers, and can be escaped', () => {
  const text =
    'dashboard: { host: 127.0.0.1, port: ${PORT:-8481}, password: ${SECRET:-a, b} }\ndata_dir: /$${X}\n';

  const settings = load(text);

  expect(settings.dashboard).toEqual({ host: '127.0.0.1', port: 8481, password: 'a, b' });
  expect(settings.dataDir).toBe('/${X}');
});

test.each(['__proto__', 'constructor', 'toString'])('%s is not a known key anywhere', (name) => {
  const texts = [
    `${name}: 1\n`,
    `dashboard: { ${name}: 1 }\n`,
    `notifications: { ${name}: { webhook: { url: http://a.example } } }\n`,
    `calendars: { ${name}: [2026-12-25] }\n`,
    `accounts: { ${name}: {} }\n`,
    `accounts: { default: { ${name}: 1 } }\n`,
  ];
  for (const text of texts.slice(0, name === '__proto__' ? 6 : 2))
    expect(errorsOf(text), text).toHaveLength(1);
  expect(errorsOf(`policies: "\${${name}}"\n`).join()).toContain(
    `The environment variable ${name} is not set.`,
  );
  expect(load(`policies: "/\${${name}:-x}"\n`).policiesDir).toBe('/x');
});

test('a password shorter than 12 characters is rejected only where other machines reach the dashboard', () => {
  const remark =
    '"password" must have at least 12 characters, because other machines can reach the dashboard on 0.0.0.0.';
  expect(errorsOf('dashboard: { host: 0.0.0.0, password: a }\n')).toEqual([`1:39 ${remark}`]);
  expect(errorsOf('dashboard: { host: 0.0.0.0, password: "${P}" }\n', { P: 'elevenchars' })).toEqual([
    `1:39 ${remark}`,
  ]);
  const fromVariables = { CARETAKER_DASHBOARD_HOST: '0.0.0.0', CARETAKER_DASHBOARD_PASSWORD: 'a' };
  expect(errorsOf('policies: ./p\n', fromVariables).join()).toContain(remark);
  for (const host of ['127.0.0.1', 'localhost', '"::1"'])
    expect(load(`dashboard: { host: ${host}, password: a }\n`).dashboard.password).toBe('a');
  expect(load('dashboard: { host: 0.0.0.0, password: twelve chars }\n').dashboard.password).toBe(
    'twelve chars',
  );
  // Without a password, the dashboard does not start there.
  expect(load('dashboard: { host: 0.0.0.0 }\n').dashboard.password).toBeUndefined();
});

test.each(['${1X}', '${X-y}', '${}', '${X'])('%s is not a variable', (text) => {
  expect(errorsOf(`policies: "${text}"\n`)).toEqual([
    '1:11 A variable must have the form ${NAME} or ${NAME:-default}.',
  ]);
});

test('no sentence and no code frame shows the value of a variable', () => {
  const env = { URL: 'https://hush.example/api', PORT: 'hush', REDIS: 'hush://hush' };
  const text =
    'accounts: { default: { base_url: "${URL}" } }\ndashboard: { port: ${PORT} }\nredis: ${REDIS}\n';

  const findings = findingsOf(() => load(text, env));
  expect(findings).toHaveLength(3);
  expect(JSON.stringify(findings)).not.toContain('hush');
});

test('.env adds to the environment, and variables that are already set take precedence', () => {
  const settings = load('policies: /${A}/${B}\n', { A: 'set' }, { '.env': 'A=file\nB=file\n' });
  expect(settings.policiesDir).toBe('/set/file');
});

test('tokens and passwords are hidden in all output once they were read', () => {
  load(
    'accounts: { x: { token: tok-4711 } }\ndashboard: { password: pass-4711 }\nredis: redis://:red-4711@r:1\n' +
      'notifications: { ops: { webhook: { url: "https://h.example/hook-4711", secret: whsec_4711ZoX5ekuAcPGMkMrZzyfV8jVbJ2dm } } }\n',
  );
  expect(
    scrub('tok-4711 pass-4711 red-4711 https://h.example/hook-4711 whsec_4711ZoX5ekuAcPGMkMrZzyfV8jVbJ2dm'),
  ).not.toContain('4711');
});

test.each([
  ['embedded', { kind: 'embedded' }],
  ['{ url: "redis://r:1", prefix: staging }', { kind: 'url', url: 'redis://r:1', prefix: 'staging' }],
  ['{ url: embedded, prefix: staging }', { kind: 'embedded', prefix: 'staging' }],
  ['unix:/run/redis.sock', { kind: 'socket', path: '/run/redis.sock', db: 0 }],
  ['redis+socket:///run/redis.sock?db=3', { kind: 'socket', path: '/run/redis.sock', db: 3 }],
  ['rediss://:p@r:6380/2', { kind: 'url', url: 'rediss://:p@r:6380/2' }],
  ['" redis://:p@ss%2F@r:6379 "', { kind: 'url', url: 'redis://:p@ss%2F@r:6379' }],
  [
    '{ sentinels: [a, "b:1"], name: main, password: secret-pw }',
    {
      kind: 'sentinel',
      sentinels: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 1 },
      ],
      name: 'main',
      password: 'secret-pw',
    },
  ],
  [
    '{ sentinels: [a], name: main, username: u, tls: true, sentinel_username: s, sentinel_password: secret-two }',
    {
      kind: 'sentinel',
      sentinels: [{ host: 'a', port: 26379 }],
      name: 'main',
      username: 'u',
      tls: true,
      atSentinels: { username: 's', password: 'secret-two', tls: true },
    },
  ],
  [
    '{ cluster: [a], username: u, password: secret-pw, tls: true }',
    {
      kind: 'cluster',
      nodes: [{ host: 'a', port: 6379 }],
      username: 'u',
      password: 'secret-pw',
      tls: true,
    },
  ],
  [
    '{ cluster: [{ host: a, port: 7000 }, "[::1]:7001"] }',
    {
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 7000 },
        { host: '::1', port: 7001 },
      ],
    },
  ],
])('redis can be %s', (text, redis) => {
  expect(load(`redis: ${text}\n`).redis).toEqual(redis);
});

test.each([
  ['redis: postgres://x', '1:8 "redis" must be "embedded", or a redis://, rediss:// or unix: address.'],
  ['redis: /run/redis.sock', '1:8 "redis" must be "embedded", or a redis://, rediss:// or unix: address.'],
  [
    'redis: redis:///run/redis.sock',
    '1:8 "redis" must have a host. For a socket, write unix:/run/redis.sock.',
  ],
  ...['redis://host/abc', '"redis://host#5"', '"redis://host/1#5"'].map((address) => [
    `redis: ${address}`,
    '1:8 "redis" must have the number of a database after the host, or nothing: redis://host:6379/1.',
  ]),
  ...['pa/ss', '12/ss', 'a@b/c', 'p#s', '12#s', '12?s', 'pa%ss', '100%'].flatMap((password) =>
    ['', 'user'].map((user) => [
      `redis: "redis://${user}:${password}@r:6379"`,
      '1:8 "redis" must have special characters of the user name and the password encoded: / as %2F, ? as %3F, # as %23, @ as %40 and % as %25.',
    ]),
  ),
  ...['redis://host/2?db=3', 'redis://host?db=2&db=3', 'unix:/run/redis.sock?db=2&db=3'].map((address) => [
    `redis: "${address}"`,
    '1:8 "redis" must name one database, and names two different ones.',
  ]),
  ['redis: "unix:/run/%zz"', '1:8 "redis" must have a % in the path of the socket encoded, as %25.'],
  [
    'redis: "unix:/run/redis.sock?db=x"',
    '1:8 "redis" must have the path of a socket, and may have a database: unix:/run/redis.sock?db=1.',
  ],
  [
    'redis: 6379',
    '1:8 "redis" must be "embedded", an address, { sentinels: [...], name: ... } or { cluster: [...] }.',
  ],
  ['redis: { sentinels: [a] }', '1:8 "name" is missing.'],
  ['redis: { sentinels: [a], nam: x }', '1:26 "nam" is not a known key. did you mean name?'],
  [
    'retention: { runs: 90 }',
    '1:20 "runs" must be a duration such as 30s, 10m, 2h, 1h30m or 90d of at least 1h.',
  ],
  [
    'accounts: { Main: {} }',
    '1:13 "Main" must be a name of lowercase letters, digits and hyphens, up to 63 characters.',
  ],
  [
    'accounts: { a: { base_url: ftp://x/api/v6 } }',
    '1:28 "base_url" must be an http:// or https:// address.',
  ],
  [
    'accounts: { a: { budget: { reserve: 95% } } }',
    '1:37 "reserve" must be a percentage from 0% to 90%, such as 10%.',
  ],
  ['dashboard: { port: 70000 }', '1:20 "port" must be a whole number from 0 to 65535.'],
  ['policies: [a]', '1:11 "policies" must be a string, not a list.'],
  ['policies:', '1:10 "policies" must be a string, not null.'],
  ['redis: embedded\nacounts: {}', '2:1 "acounts" is not a known key. did you mean accounts?'],
  ['- a', '1:1 The file must be a map of keys and values.'],
])('%s is an error', (text, mistake) => {
  expect(errorsOf(`${text}\n`)[0]).toBe(mistake);
});

test('a base URL ends with the version of the API', () => {
  const [mistake] = errorsOf('accounts: { a: { base_url: "https://x.example/api" } }\n');
  expect(mistake).toContain('such as https://example.com/api/v6');
});

test('all errors are shown together, from top to bottom', () => {
  const text = 'dashbord: {}\nretention: { runs: x }\ndaemon: { concurrency: 0, threads: 1 }\n';
  expect(errorsOf(text).map((mistake) => mistake.split(' ')[0])).toEqual(['1:1', '2:20', '3:24', '3:27']);
});

test('a file that was named must exist', () => {
  const cwd = folderWith({});
  const named = { cwd, env: { CARETAKER_CONFIG: 'other.yaml' } };
  expect(() => loadSettings(named)).toThrow(
    `${join(cwd, 'other.yaml')}: The config file that CARETAKER_CONFIG names does not exist.`,
  );
  expect(() => loadSettings({ ...named, configPath: 'this.yaml' })).toThrow('that --config names');
});

test('in every folder, the same config means the same folders and the same .env', () => {
  const project = folderWith({
    'config/caretaker.yaml': 'data_dir: ./data\ndashboard: { port: ${PORT} }\n',
    '.env': 'PORT=4711\n',
    'sites/eu/notes.txt': '',
  });
  const elsewhere = folderWith({ '.env': 'PORT=1\n' });
  const file = join(project, 'config/caretaker.yaml');

  for (const where of [
    { cwd: project, env: {} },
    { cwd: join(project, 'sites/eu'), env: {} },
    { cwd: join(project, 'config/policies'), env: {} },
    { cwd: elsewhere, env: {}, configPath: file },
    { cwd: elsewhere, env: { CARETAKER_CONFIG: file } },
  ])
    expect(loadSettings(where)).toMatchObject({
      file,
      policiesDir: join(project, 'config/policies'),
      dataDir: join(project, 'data'),
      dashboard: { port: 4711 },
    });
});

test('the project folder of a config with another name is the folder of the file', () => {
  const cwd = folderWith({
    'etc/c.yaml': 'policies: ./rules\ndata_dir: ./data\n',
    'etc/.env': 'REDIS_URL=redis://r:1',
  });
  expect(loadSettings({ cwd, env: {}, configPath: 'etc/c.yaml' })).toMatchObject({
    policiesDir: join(cwd, 'etc/rules'),
    dataDir: join(cwd, 'etc/data'),
    redis: { url: 'redis://r:1' },
  });
});

test('without a config, one sentence says where it was searched for', () => {
  const cwd = folderWith({});
  expect(() => loadSettings({ cwd, env: {} })).toThrow(
    `There is no config/caretaker.yaml in ${cwd} or any folder above it. Change to your project folder, name the file with --config, or create one with "caretaker init".`,
  );
});

test('a configuration that cannot be read is not one that is missing', () => {
  const cwd = folderWith({ 'config/README.md': '' });
  const file = join(cwd, 'config', 'caretaker.yaml');
  symlinkSync(file, file);
  expect(() => loadSettings({ cwd, env: {} })).toThrow('The file cannot be read: its links are circular.');
});

test('a token that is too short for one of the service is a warning', () => {
  const warningsWith = (token: string) =>
    load('accounts: { agency: { base_url: https://a.example/api/v6, token: "${TOKEN}" } }\n', {
      TOKEN: token,
    }).warnings.map(({ path, message }) => `${path} ${message}`);
  expect(warningsWith('secret')).toEqual([
    'accounts.agency.token The token of the account "agency" is shorter than 12 characters, so it is hardly one of the service.',
  ]);
  expect(warningsWith('a-long-secret')).toEqual([]);
  expect(warningsWith('')).not.toContainEqual(expect.stringContaining('shorter'));
});

test.each([
  ['{ cron: "0 0 * * sun", for: 24h }', 'needs an account, a policy, a client or a tag: what is frozen'],
  ['{ cron: "0 0 * * sun", for: 8d, tag: x }', 'must be at most 7d'],
  ['{ cron: "0 0 * * sunn", for: 1d, tag: x }', 'sunn'],
  ['{ for: 1d, tag: x }', '"cron"'],
  ['{ cron: "0 0 * * sun", for: 1d, account: defalt }', 'There is no account "defalt".'],
])('maintenance: { sundays: %s } is an error', (rule, sentence) => {
  expect(errorsOf(`maintenance: { sundays: ${rule} }\n`).join('\n')).toContain(sentence);
});

test('maintenance of a policy that does not exist is a warning', () => {
  const rule = '{ cron: "0 0 * * sun", for: 24h, policy: nightly }';
  const { maintenance, policyMentions } = load(`maintenance: { sundays: ${rule} }\n`);
  expect(maintenance).toEqual([
    {
      name: 'sundays',
      cron: ['0 0 * * sun'],
      timezone: 'UTC',
      forMs: 86_400_000,
      scope: { policy: 'nightly' },
    },
  ]);
  expect(policyMentions.map(({ message }) => message)).toEqual([
    'There is no policy "nightly": this maintenance freezes nothing.',
  ]);
});
