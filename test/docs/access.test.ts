/** The page about access: its tables are generated from the routes and commands; `npm run docs` writes it. */
import { expect, test } from 'vitest';
import { isPermitted, type Role, roles } from '../../src/access/principal.ts';
import { type AnyCommand, methodOf } from '../../src/control/command.ts';
import { commands } from '../../src/control/commands.ts';
import { API } from '../../src/dashboard/api/commands.ts';
import {
  deliveryInPath,
  everything,
  policyInPath,
  queueInPath,
  type Rule,
  receiverInPath,
  runInPath,
} from '../../src/dashboard/auth/guard.tsx';
import { BOARD_PATH } from '../../src/dashboard/http/board.ts';
import { boardRule, routes, unknownApiRule, unknownPageRule } from '../../src/dashboard/http/routes.ts';

const mark = (allowed: boolean): string => (allowed ? 'yes' : '–');
const byRole = (needed: Role): string[] =>
  roles.map((role) => mark(isPermitted({ kind: 'user', name: 'x', grants: [{ role }] }, needed)));

const limitsOf = ({ access, subject }: Rule): string => {
  if (access === 'open') return '';
  if (subject === everything || subject === receiverInPath || subject === queueInPath)
    return 'only without limits';
  if (subject === policyInPath) return 'of the policy';
  if (subject === runInPath) return 'of the run';
  if (subject === deliveryInPath) return 'of the delivery';
  return subject ? 'of the subject' : 'shows what the limits cover';
};

/** The role of a command is checked where it is carried out, so that the audit log has what is refused. */
const commandsByAddress = new Map(
  commands.map((command) => [`${methodOf(command)} ${API}${command.path}`, command]),
);

function limitsOfCommand(command: AnyCommand): string {
  const { path } = command;
  if (path.includes('{run}')) return 'of the run';
  if (path.includes('{policy}')) return 'of the policy';
  if (path.includes('{receiver}')) return 'only without limits';
  if (path.includes('{delivery}')) return 'of the delivery';
  if (path.includes('{announcement}')) return 'of the announcement';
  return methodOf(command) === 'GET' ? 'shows what the limits cover' : 'of what it concerns';
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
function rowOf(address: string, rule: Rule): string {
  const command = commandsByAddress.get(address);
  if (command) return row([`\`${address}\``, '–', ...byRole(command.role), limitsOfCommand(command), 'yes']);
  return row([
    `\`${address}\``,
    mark(rule.access === 'open'),
    ...(rule.access === 'open' ? roles.map(() => 'yes') : byRole(rule.access)),
    limitsOf(rule),
    mark(rule.programs === true || rule.access === 'open'),
  ]);
}

const addresses = [
  row(['address', 'not signed in', ...roles, 'limits', 'programs']),
  row(['---', '---', ...roles.map(() => '---'), '---', '---']),
  ...routes.map(({ method, path, ...rule }) => rowOf(`${method} ${path.replace(/:(\w+)/g, '{$1}')}`, rule)),
  rowOf(`any ${BOARD_PATH}/...`, boardRule),
  rowOf('any /api/...', unknownApiRule),
  rowOf('any other', unknownPageRule),
].join('\n');

const acts = [
  row(['command', ...roles, 'what it does']),
  row(['---', ...roles.map(() => '---'), '---']),
  ...commands.map(({ name, role, summary }) => row([`\`${name}\``, ...byRole(role), summary])),
].join('\n');

test('docs/access.md has every address and every command with its roles', async () => {
  const page = `# Who may do what

For admins and operators: who may sign in to the dashboard and its API, and what each may do. \`access:\` in
\`config/caretaker.yaml\` names them. A running daemon applies changes within seconds.

\`\`\`yaml
access:
  users:
    ana:
      password_hash: $scrypt$ln=15,r=8,p=3$...      # printed by "caretaker user add ana"
      roles: [admin]
    ben:
      oidc_email: ben@agency.example                # or oidc_subject
      roles:
        - viewer
        - { role: operator, policies: [nightly-sync], accounts: [default] }
  tokens:
    ci:
      hash: sha256:...                              # printed by "caretaker user token ci"
      roles: [operator]
  oidc:
    issuer: https://login.agency.example
    client_id: caretaker
    client_secret: \${OIDC_CLIENT_SECRET}
    claims:
      - { claim: groups, value: caretaker-admins, roles: [admin] }
  trusted_proxies: [10.0.0.0/8]
\`\`\`

[configuration.md](configuration.md) has every key; \`caretaker validate\` checks them.

## Roles

A viewer reads. An operator also starts and stops runs, pauses and freezes. An approver also approves and rejects runs. An admin may do
everything. A user has the roles of all entries together.

A role can be limited to \`policies\`, \`accounts\` or both; then it covers a policy only in these accounts. A user with
limits sees only the runs, policies, targets and events that the limits cover, and totals of these. Pages about
everything (System, Queues, metrics) need a role without limits. What a user may not see is answered as if it did not
exist, and what a user may not do has no button. A policy that follows another one (\`schedule.after\`) shows its name in
any case.

## Users

\`caretaker user add ana\` asks for a password, at least 12 characters, and prints the lines for the file with its hash (scrypt).
\`caretaker user passwd ana\` prints a new hash. Neither changes the file.

The single \`dashboard.password\` works in addition to users, as the user \`admin\`, who may do everything. On any address but
loopback it needs 12 characters. Without a password, users and \`oidc\`, people on the same machine sign in with a link:
\`caretaker dashboard\` prints a new one, which works once and within ten minutes.

## Tokens

Programs send a token as \`Authorization: Bearer <token>\`, or as the password of HTTP Basic with any name. \`caretaker user
token ci\` makes one and prints it once, with the hash for the file. In place of \`hash\`, \`token: \${CI_TOKEN}\` takes it from
the environment. The single password works in the same way; passwords of users do not. Changes need the bearer token.

\`caretaker validate\`, \`caretaker doctor\` and the log of the daemon warn of secrets that are written in the file itself, and
of plain HTTP to other machines.

## Sign-in by OpenID Connect

With \`oidc\` the sign-in page has a button that leads to the issuer (authorization code with PKCE, state and nonce; the
signature of the ID token is verified). Register
\`<address of the dashboard>/sign-in/oidc/callback\` there. \`dashboard.public_url\` is that address when a proxy changes it.
While the issuer does not answer, other ways to sign in work.

A person who comes from the issuer is the user with this \`oidc_subject\`, or with this \`oidc_email\` if the issuer has
verified the address. Others get the roles of all entries of \`claims\` that match, and are called by the verified address
or \`oidc:<subject>\`. Without any, there is no access.

## Sessions

A session ends when its user has opened no page for \`access.sessions.idle\` (12 hours; what an open page asks by itself does not
count), and \`max_age\` (7 days) after its sign-in. It also ends when its user, password or claim is removed from the
settings, or \`dashboard.password\` is changed. The menu of the user shows one's own sessions, and signs out of the
others. Sessions are in Redis, by the hash of their id and not in backups: a restart
signs nobody out, and all dashboards of a Redis share them. One that ends at a dashboard ends at the others within five
seconds. While Redis is away, people who are signed in stay so, and no one else can sign in. A user has at most 50 sessions;
with a further one that ends which was used longest ago. To sign in again replaces the session of the browser.

A form that is sent when its session has ended does nothing: it leads to sign-in, and the same user finds the question again
with what was typed, up to 2,000 characters.

## Guessing passwords

Each address (one /64 of IPv6) has ten failed attempts a minute, for pages and programs together. When ten attempts with one
name, or 20 in all, failed within a minute, each address has one attempt a minute. The first attempt of an address in a
minute is always checked, so other addresses cannot lock a user out. An attempt counts when it begins. At most two password
hashes are checked at the same time and 16 wait; further attempts get a 503 at once and do not count. An unknown name takes
as long as a known one. Tokens are random and therefore not slowed down. A name has 20 sign-ins a minute.

## Proxies

Behind a proxy every caller has the address of the proxy, unless \`trusted_proxies\` names it. Then the address is taken from
\`X-Forwarded-For\`, read from the right, over further trusted proxies, and \`X-Forwarded-Proto: https\` says that there is
TLS. So do a request with the \`Host\` of an https \`public_url\`, and the \`Origin\` of the browser. Under TLS the cookie is
\`__Host-...\` (with a path \`__Secure-...\`, for that path alone), and the answer has \`Strict-Transport-Security\` for a year, which
browsers apply to every port of the host. These headers are ignored from all others, and \`Forwarded\` from all.

Set \`dashboard.public_url\` to the address that people open, such as \`https://ops.example.com/caretaker\`: the sign-in link, links in
messages, and the addresses of a path come from it. The proxy may remove the path or leave it. It has to send its own name or \`localhost\`
as \`Host\`, the \`Origin\` of the browser unchanged, and answers of \`/events\` without a buffer. A path cannot begin like a page of the
dashboard (\`/runs\`).

## Addresses

For each address the roles that may request it; \`limits\` says which limits count. Everything else is refused.

${addresses}

## Commands

What the pages, the command line and the HTTP API can do. The role has to cover the policy and the account of the act. Everyone who
can use the command line on a machine with access to Redis may do everything.

${acts}
`;
  await expect(page).toMatchFileSnapshot('../../docs/access.md');
});
