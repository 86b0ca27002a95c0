/**
 * Every address against every role, over HTTP, as the table in docs/access.md says; nothing beyond the table is
 * allowed. The table has exactly the addresses of the code (test/docs/access.test.ts). Only requests show that each
 * address asks for the role. The long file has every pair; here, each address has one role that may and the strongest
 * that may not.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashToken, newToken } from '../../src/access/credentials.ts';
import { type Grant, roles } from '../../src/access/principal.ts';
import { announcementOf } from '../support/announcement-of.ts';
import { sampleOf } from '../support/sample.ts';
import { deliverAbout } from './deliver-about.ts';
import {
  type Ask,
  anAccount,
  aPolicy,
  aRun,
  ended,
  remember,
  startWorld,
  usersOf,
  type World,
} from './world.ts';

/** Nobody, each role without limits, and an operator of the policy `inside` alone. */
const callers = ['nobody', ...roles, 'limited'] as const;
type Caller = (typeof callers)[number];

interface Row {
  method: string;
  path: string;
  allowed: Record<string, boolean>;
  limits: string;
  programs: boolean;
}

const table: Row[] = readFileSync('docs/access.md', 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, address = '', ...cells] = line.split('|').map((cell) => cell.trim());
    const [, method = '', path = ''] = /^`(GET|POST|any) (.+)`$/.exec(address) ?? [];
    if (!method) return [];
    const names = ['nobody', ...roles];
    const allowed = Object.fromEntries(names.map((name, at) => [name, cells[at] === 'yes']));
    return [
      {
        method,
        path,
        allowed,
        limits: cells[names.length] ?? '',
        programs: cells[names.length + 1] === 'yes',
      },
    ];
  });

let world: World;
const sessions = new Map<Caller, Ask>();
const tokens = new Map<Caller, string>();
/** The announcement of each policy. */
const announcements = new Map<string, string>();

beforeAll(async () => {
  const grantsOf = (caller: Caller): Grant[] =>
    caller === 'limited'
      ? [{ role: 'operator', policies: ['inside'], accounts: ['default'] }]
      : caller === 'nobody'
        ? []
        : [{ role: caller }];
  const people = callers.filter((caller) => caller !== 'nobody');
  for (const caller of people) tokens.set(caller, newToken());
  world = await startWorld({
    policies: () => [aPolicy('inside'), aPolicy('outside', { account: 'account-outside' })],
    accounts: async () => [anAccount(), anAccount({ account: 'account-outside' })],
    receivers: () => [{ name: 'ops', kind: 'webhook', rules: 'Each message at once' }],
    access: () => ({
      ...usersOf(Object.fromEntries(people.map((name) => [name, grantsOf(name)]))),
      tokens: people.map((name) => ({
        name,
        hash: hashToken(tokens.get(name) ?? ''),
        grants: grantsOf(name),
      })),
    }),
    password: null,
  });
  for (const caller of people) sessions.set(caller, await world.signedIn(caller));
  for (const [policy, account] of [
    ['inside', 'default'],
    ['outside', 'account-outside'],
  ] as const) {
    announcements.set(policy, await announcementOf(world.records, policy, account));
    const active = aRun({ id: `${policy}.active`, policy, account, createdAt: Date.now() });
    await remember(world.records, active, [ended(`site-${policy}`, 'failed')]);
    await deliverAbout(world, active.id, policy, account);
  }
});
afterAll(() => world.stop());

/** The path with values of the policy `inside` or `outside`. */
const pathOf = ({ path }: Row, where: 'inside' | 'outside'): string =>
  path
    .replace('/policies/{name}', `/policies/${where}`)
    .replace('{policy}', where)
    .replace('{run}', `${where}.active`)
    .replace('/runs/{id}', `/runs/${where}.active`)
    .replace('{account}/{id}', `${where === 'inside' ? 'default' : 'account-outside'}/site-${where}`)
    .replace('{announcement}', announcements.get(where) ?? '')
    .replace('/announcements/{id}', `/announcements/${announcements.get(where)}`)
    .replace('{delivery}', `about-${where}`)
    .replace('{receiver}', 'ops')
    .replace('{queue}', 'actions')
    .replace('{hash}/{file}', 'x/live.js')
    .replace('/...', '/nothing-here')
    .replace('other', '/nothing-here')
    .replace(/\{\w+\}/g, 'x');

async function statusOf({ row, caller, as }: Request, where: 'inside' | 'outside') {
  const method = row.method === 'any' ? 'GET' : row.method;
  const headers: Record<string, string> = { origin: world.dashboard.url };
  const ask = (as === 'person' && sessions.get(caller)) || world.ask;
  if (as === 'program') headers['authorization'] = `Bearer ${tokens.get(caller) ?? ''}`;
  const isAct = method === 'POST' && row.path.startsWith('/api/');
  if (isAct) headers['content-type'] = 'application/json';
  const body = isAct ? JSON.stringify(bodies[row.path] ?? {}) : null;
  const stop = new AbortController();
  const query = method === 'GET' ? (queries[row.path] ?? '') : '';
  const answer = await ask(pathOf(row, where) + query, { method, headers, body, signal: stop.signal });
  const text = answer.headers.get('content-type')?.includes('event-stream') ? '' : await answer.text();
  stop.abort();
  return { status: answer.status, text };
}

/**
 * What commands need in addition to the names in their address, in a body or a query: without it they are refused for
 * their form.
 */
const bodies: Record<string, object> = {
  '/api/v1/policies/{policy}/backfill': { from: '2026-11-22T00:00:00Z' },
  '/api/v1/policies/{policy}/findings/acknowledge': { site: 'site-1', reason: 'known' },
  '/api/v1/policies/{policy}/findings/unacknowledge': { site: 'site-1' },
  '/api/v1/policies/{policy}/rings/release': { item: 'core', version: '6.9' },
  '/api/v1/freezes': { until: '2099-01-01T00:00:00Z' },
};

const queries: Record<string, string> = {
  '/api/v1/policies/{policy}/backfill': '?from=2026-11-22T00:00:00Z',
  '/api/v1/policies/{policy}/why': '?when=2026-11-22',
  // A part of a site that is outside the limits.
  '/api/v1/site': '?site=site-out',
};

const told = ({ row, caller, as }: Request, status: number): string =>
  `${row.method} ${row.path}, ${caller} as ${as}: ${status}`;

/** Whether the guard let the request through; what became of it then is for other tests. */
const isAdmitted = (status: number): boolean => ![401, 403].includes(status);

const stateOfRecords = async () => ({
  runs: await world.records.runs.list({ limit: 100 }),
  policies: [...(await world.records.policies.many([aPolicy('inside'), aPolicy('outside')]))],
  freezes: await world.records.freeze.active(Date.now()),
});

test('the table has addresses', () => {
  expect(table.length).toBeGreaterThan(30);
  expect(table.filter(({ method }) => method === 'POST').length).toBeGreaterThan(8);
});

// Sign-in and sign-out end or begin sessions; they are tested in sign-in.test.ts. What a saved plan concerns is in
// the file that is sent: apply-access.test.ts sends plans as every role.
const rows = table.filter(({ path }) => !path.startsWith('/sign-') && !path.startsWith('/api/v1/plans/'));

interface Request {
  row: Row;
  caller: Caller;
  as: 'person' | 'program';
}

/** Each address for each caller, as a person with a session and as a program with a token. */
const requests: Request[] = rows.flatMap((row) =>
  callers.flatMap((caller) =>
    (['person', 'program'] as const)
      .filter((as) => as === 'person' || caller !== 'nobody')
      .map((as) => ({ row, caller, as })),
  ),
);

/** What the table says for what the limits cover. */
function isAllowed({ row, caller, as }: Request): boolean {
  const isOpen = row.allowed['nobody'] === true;
  if (as === 'program' && !row.programs) return isOpen;
  if (caller !== 'limited') return row.allowed[caller] === true;
  const isWhole = ['only without limits', 'of what it concerns'].includes(row.limits);
  return isOpen || (row.allowed['operator'] === true && !isWhole);
}

const isRole = ({ caller }: Request) => caller !== 'nobody' && caller !== 'limited';

/** Of the roles of each address, as persons and as programs, the first or the last; and the callers that are no role. */
const oneRole = (all: readonly Request[], which: 0 | -1): Request[] =>
  all.filter(
    (one) =>
      !isRole(one) ||
      one === all.filter((other) => isRole(other) && other.row === one.row && other.as === one.as).at(which),
  );

test('what the table does not allow is refused, and changes nothing', async () => {
  const before = await stateOfRecords();
  const all = requests.filter((one) => !isAllowed(one));
  const refused = sampleOf(oneRole(all, -1), all);
  const wrong: string[] = [];
  for (const one of refused) {
    const { status } = await statusOf(one, 'inside');
    if (isAdmitted(status)) wrong.push(told(one, status));
  }
  expect(wrong).toEqual([]);
  expect(refused.length).toBeGreaterThan(100);
  expect(await stateOfRecords()).toEqual(before);
});

/** The statuses for what the limits do not cover. */
function statusesOutside(row: Row): number[] {
  if (row.limits === 'only without limits') return [403];
  if (row.limits === 'of what it concerns') return [403, 404];
  // That it exists is not shown either, whatever role it needs.
  if (row.limits.startsWith('of the')) return [404];
  if (!row.allowed['operator']) return [403];
  // A list has nothing of it.
  return [200, 303, 404];
}

test('what limits do not cover is not found, and nothing of it is shown or changed', async () => {
  const before = await stateOfRecords();
  const limited = requests.filter(
    ({ row, caller, as }) =>
      caller === 'limited' && row.allowed['nobody'] !== true && (as === 'person' || row.programs),
  );
  const wrong: string[] = [];
  for (const one of limited) {
    const { status, text } = await statusOf(one, 'outside');
    // What the caller has sent itself may be repeated.
    const shown = /site-outside|account-outside|outside\.active/.test(
      text.replaceAll(pathOf(one.row, 'outside'), ''),
    );
    if (!statusesOutside(one.row).includes(status) || shown)
      wrong.push(`${told(one, status)} ${text.slice(0, 300)}`);
  }
  expect(wrong).toEqual([]);
  expect(limited.length).toBeGreaterThan(30);
  expect(await stateOfRecords()).toEqual(before);
});

/**
 * Whether the request shows something of its own. Nobody is identified where everybody is admitted; a program is
 * admitted by the same rule as a person once it is identified, so one role and the limits are enough.
 */
const isTelling = ({ row, caller, as }: Request): boolean =>
  row.allowed['nobody'] === true
    ? caller === 'nobody'
    : as === 'person' || ['admin', 'limited'].includes(caller);

test('what the table allows is admitted', async () => {
  const wrong: string[] = [];
  const all = requests.filter(isAllowed).filter(isTelling);
  for (const one of sampleOf(oneRole(all, 0), all)) {
    const { status } = await statusOf(one, 'inside');
    if (!isAdmitted(status) || status >= 500) wrong.push(told(one, status));
  }
  expect(wrong).toEqual([]);
});

test('a viewer has no button for what only others may do, and an operator with limits only those inside', async () => {
  const page = async (caller: Caller, path: string) => (await world.look(path, caller)).html;

  for (const path of ['/', '/policies', '/policies/inside', '/runs/inside.active']) {
    expect(await page('viewer', path)).not.toMatch(/\/(run|pause|resume|cancel|end|retry|release)"/);
  }
  expect(await page('operator', '/policies')).toContain('/policies/outside/run"');
  const limited = await page('limited', '/policies');
  expect(limited).toContain('/policies/inside/run"');
  expect(limited).not.toContain('outside');
  expect(await page('limited', '/')).not.toContain('outside');
  expect(limited).not.toContain('href="/system"');
  expect(limited).not.toContain('href="/queues"');
});

test('the queues cannot be changed, not even by an admin', async () => {
  const ask = sessions.get('admin') ?? world.ask;
  const headers = { origin: world.dashboard.url };
  const queues = (await (await ask('/queues/board/api/queues')).json()) as {
    queues: { name: string }[];
  };
  expect(queues.queues.map(({ name }) => name).sort()).toEqual(['actions', 'deliveries', 'plans']);
  for (const { name } of queues.queues) {
    const changes: [string, string][] = [
      ['PUT', `/queues/board/api/queues/${name}/pause`],
      ['PUT', `/queues/board/api/queues/${name}/empty`],
      ['PUT', `/queues/board/api/queues/${name}/clean/completed`],
      ['PUT', `/queues/board/api/queues/${name}/retry/failed`],
      ['POST', `/queues/board/api/queues/${name}/add`],
    ];
    for (const [method, path] of changes) {
      const answer = await ask(path, {
        method,
        headers,
        body: method === 'POST' ? '{"name":"x"}' : null,
      });
      expect({ path, refused: answer.status >= 400 }).toEqual({ path, refused: true });
    }
  }
});
