// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how variables are written in config files.
import { expect, test } from 'vitest';
import { hashPassword, hashToken, newToken } from '../../src/access/credentials.ts';
import { warningsOf } from '../../src/settings/settings.ts';
import { errorsOf, load, told } from './load.ts';

type Env = Record<string, string>;

const warningsIn = (text: string, env: Env = {}, policies: string[] = []) =>
  warningsOf(load(text, env), policies).map(told);

test('users, tokens, roles with limits, OIDC and proxies are read', async () => {
  const [hash, token] = [await hashPassword('correct horse battery'), newToken()];
  const { access } = load(
    `accounts: { main: {} }
access:
  users:
    ana:
      password_hash: ${hash}
      roles: [viewer, { role: operator, policies: [nightly-sync], accounts: [main] }]
    ben: { oidc_email: Ben@Agency.example, roles: [approver] }
  tokens:
    ci: { hash: ${hashToken(token)}, roles: [operator] }
    grafana: { token: '\${GRAFANA_TOKEN}', roles: [viewer] }
  oidc:
    issuer: https://login.agency.example
    client_id: caretaker
    client_secret: \${OIDC_SECRET}
    claims: [{ claim: groups, value: admins, roles: [admin] }]
  sessions: { idle: 30m }
  trusted_proxies: [127.0.0.1, 10.0.0.0/8, 'fd00::/8']
`,
    { OIDC_SECRET: 'sesame-open-oidc', GRAFANA_TOKEN: 'a-token-of-twenty-four-characters' },
  );

  expect(access).toEqual({
    users: [
      {
        name: 'ana',
        passwordHash: hash,
        grants: [{ role: 'viewer' }, { role: 'operator', policies: ['nightly-sync'], accounts: ['main'] }],
      },
      { name: 'ben', oidcEmail: 'ben@agency.example', grants: [{ role: 'approver' }] },
    ],
    tokens: [
      { name: 'ci', hash: hashToken(token), grants: [{ role: 'operator' }] },
      { name: 'grafana', hash: hashToken('a-token-of-twenty-four-characters'), grants: [{ role: 'viewer' }] },
    ],
    oidc: {
      issuer: 'https://login.agency.example',
      clientId: 'caretaker',
      clientSecret: 'sesame-open-oidc',
      scopes: ['openid', 'profile', 'email'],
      claims: [{ claim: 'groups', value: 'admins', grants: [{ role: 'admin' }] }],
    },
    sessions: { idleMs: 1_800_000, maxMs: 604_800_000 },
    trustedProxies: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'],
  });
});

test('each error under access has its place, and what to do', () => {
  expect(
    errorsOf(`accounts: { main: {} }
access:
  users:
    ana: { password_hash: secret, roles: [operater] }
    ben: { roles: [viewer] }
    cleo: { oidc_subject: x, roles: [] }
    dora: { oidc_subject: y, roles: [{ role: viewer, account: [main] }] }
  tokens:
    ci: { roles: [viewer] }
    short: { token: abc, roles: [viewer] }
  oidc: { issuer: 'http://login.example', client_id: c }
  trusted_proxies: [proxy.example, 10.0.0.0/40]
`),
  ).toEqual([
    expect.stringMatching(
      /^4:27 .*must be a hash that "caretaker user add" or "caretaker user passwd" prints/,
    ),
    expect.stringMatching(/^4:43 Entry 1 of "roles" must be viewer, operator, approver, admin, or a role/),
    expect.stringMatching(/^5:10 .*needs a way to sign in: password_hash, oidc_subject or oidc_email/),
    '6:37 "roles" must have at least 1 entry.',
    expect.stringMatching(/^7:54 "account" is not a known key\. did you mean accounts\?/),
    expect.stringMatching(/^9:9 .*needs either "hash" or "token"/),
    expect.stringMatching(/^10:21 .*must have at least 24 characters/),
    expect.stringMatching(/^11:19 .*must be an https:\/\/ address/),
    expect.stringMatching(/^12:21 .*must be an IP address or a network/),
    expect.stringMatching(/^12:36 .*must be an IP address or a network/),
  ]);
});

test('a limit to an account that does not exist is an error, to a policy that does not exist a warning', () => {
  const text = (account: string) => `accounts: { main: {} }
access:
  tokens:
    ci: { hash: '${hashToken('x')}', roles: [{ role: viewer, accounts: [${account}], policies: [nightly-sync, nightly-snyc] }] }
`;
  expect(errorsOf(text('mian'))).toEqual([
    expect.stringMatching(/^4:\d+ There is no account "mian"\. did you mean main\?/),
  ]);
  expect(warningsIn(text('main'), {}, ['nightly-sync'])).toEqual([
    expect.stringMatching(/^4:\d+ There is no policy "nightly-snyc"/),
  ]);
});

test('the name that stands for the password of the dashboard cannot be given to a user beside it', () => {
  const user = `access: { users: { admin: { oidc_subject: x, roles: [viewer] } } }\n`;
  expect(errorsOf(user)).toEqual([]);
  expect(errorsOf(`dashboard: { password: '\${P}' }\n${user}`, { P: 'correct horse' })).toEqual([
    expect.stringMatching(/^2:20 The user admin stands for dashboard\.password/),
  ]);
});

test('secrets that are written in the file are warned about, and those from variables are not', () => {
  expect(
    warningsIn(
      `accounts:
  default: { base_url: https://api.example/api/v6, token: abc-def-ghi-jkl }
  other: { base_url: https://api.example/api/v6, token: '\${T}' }
redis: redis://:hush@r:1
dashboard: { password: hush-hush-hush }
access: { tokens: { ci: { token: a-token-of-twenty-four-characters, roles: [viewer] } } }
`,
      { T: 'a-longer-token' },
    ),
  ).toEqual(
    ['2:59 The token', '4:8 The password', '5:24 The password', '6:34 The token'].map(
      (secret) =>
        `${secret} is written in the file, where everyone who can read the file sees it. take it from the environment: \${NAME}`,
    ),
  );
});

test('plain HTTP to other machines is warned about, unless a proxy is named', () => {
  const open = `dashboard: { host: 0.0.0.0, password: '\${P}' }\n`;
  const env = { P: 'correct horse' };
  expect(warningsIn(open, env)).toEqual([
    expect.stringMatching(/^1:20 Other machines reach the dashboard on 0/),
  ]);
  expect(warningsIn(`${open}access: { trusted_proxies: [10.0.0.1] }\n`, env)).toEqual([]);
  const account = (host: string) => `accounts: { default: { base_url: 'http://${host}/api/v6' } }\n`;
  expect(warningsIn(account('sites.example'))).toEqual([
    expect.stringMatching(/^1:34 The token of this account is sent over plain HTTP/),
  ]);
  expect(warningsIn(account('127.0.0.1:4010'))).toEqual([]);
});
