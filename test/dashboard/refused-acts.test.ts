/** Acts on pages that a role does not permit have the same line in the audit log as those of the HTTP API. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashToken, newToken } from '../../src/access/credentials.ts';
import { systemClock } from '../../src/clock.ts';
import { methodOf } from '../../src/control/command.ts';
import { routes } from '../../src/dashboard/http/routes.ts';
import type { AuditLine } from '../../src/records/audit-store.ts';
import { deliverAbout } from './deliver-about.ts';
import { type Ask, aPolicy, aRun, auditOf, remember, startWorld, usersOf, type World } from './world.ts';

const token = newToken();
const viewer = [{ role: 'viewer', policies: ['sync'] }] as const;

let world: World;
let asVera: Ask;
let leaped = 0;
beforeAll(async () => {
  world = await startWorld({
    policies: () => [aPolicy('sync'), aPolicy('other')],
    receivers: () => [{ name: 'ops', kind: 'webhook', rules: 'Each message at once' }],
    access: () => ({
      ...usersOf({ vera: viewer }),
      tokens: [{ name: 'vera', hash: hashToken(token), grants: viewer }],
    }),
    clock: { ...systemClock, now: () => systemClock.now() + leaped },
    password: null,
  });
  asVera = await world.signedIn('vera');
  await remember(world.records, aRun({ id: 'sync.active', policy: 'sync' }), []);
  await remember(world.records, aRun({ id: 'other.active', policy: 'other' }), []);
  for (const policy of ['sync', 'other']) await deliverAbout(world, `${policy}.active`, policy);
});
afterAll(() => world.stop());

const press = (path: string, method = 'POST') =>
  asVera(path, { method, headers: { origin: world.dashboard.url, accept: 'text/html' } });

/** The lines that an act adds, without what differs between any two acts. */
async function linesOf(act: () => Promise<unknown>): Promise<Partial<AuditLine>[]> {
  const before = (await auditOf(world)).length;
  await act();
  leaped += 60_000; // so that every act has its line
  return (await auditOf(world))
    .slice(before)
    .map(({ at: _at, act: _act, who, ...line }) => ({ ...line, who: { ...who, kind: 'user' } }));
}

const acts = routes.flatMap(({ method, path, command }) =>
  method === 'POST' && command ? [{ path, command }] : [],
);
const named = (path: string, policy: string) =>
  path
    .replace(':name', policy)
    .replace(':id', `${policy}.active`)
    .replace(':delivery', `about-${policy}`)
    .replace(':receiver', 'ops')
    .replace(':queue', 'actions');
/** What a program has to send with it. */
const bodyOf = (form: string): { body?: string } => {
  if (form.startsWith('/queues/')) return { body: '{"queue":"actions"}' };
  return form.endsWith('/release') ? { body: '{"item":"core","version":"6.9"}' } : {};
};
/** What is about no policy. */
const isGeneral = (path: string) => /^\/(receivers|queues)\//.test(path);

test('every form of a page that acts names its command', () => {
  const forms = routes.filter(
    ({ method, path }) =>
      method === 'POST' && /^\/(policies|runs|notifications|receivers|queues)\//.test(path),
  );
  expect(forms.map(({ path }) => path)).toEqual(acts.map(({ path }) => path));
  expect(acts.length).toBeGreaterThan(10);
});

test.each(acts)(
  'a viewer who sends the form $path is refused, with the line of the API',
  async ({ path: form, command }) => {
    for (const policy of ['sync', 'other']) {
      const status = policy === 'sync' || isGeneral(form) ? 403 : 404;
      const byForm = await linesOf(async () =>
        expect((await press(named(form, policy))).status).toBe(status),
      );
      const path = command.path
        .replace('{policy}', policy)
        .replace('{run}', `${policy}.active`)
        .replace('{delivery}', `about-${policy}`)
        .replace('{receiver}', 'ops');
      const address = `/api/v1${path}`;
      const byProgram = await linesOf(async () => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const body = bodyOf(form);
        const init = { method: methodOf(command), headers, ...body };
        expect((await world.ask(address, init)).status).toBe(status);
      });

      const detail = form.startsWith('/queues/') ? 'actions' : 'to ops';
      const of = isGeneral(form) ? { detail } : { policy };
      const line = { what: command.name, ...of, result: 'refused', code: 'FORBIDDEN' };
      expect(byForm).toMatchObject(command.reads ? [] : [line]);
      expect(byForm).toEqual(byProgram);
    }
  },
);

test('the page that asks for confirmation has no line when it is refused', async () => {
  expect(
    await linesOf(async () => expect((await press('/policies/sync/run', 'GET')).status).toBe(403)),
  ).toEqual([]);
});

test('a viewer who sends forms again and again cannot fill the log', async () => {
  const lines = await linesOf(async () => {
    for (let i = 0; i < 50; i += 1) await press('/policies/sync/pause');
  });
  expect(lines).toHaveLength(11);
});
