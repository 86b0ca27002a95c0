/**
 * `POST /api/v1/plans/apply` against every role. What it concerns is in the plan that is sent, so it is not in the
 * matrix of the other addresses (matrix.test.ts); the promise is the same.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { siteSync } from '../../jobs/site-sync/job.ts';
import { hashToken, newToken } from '../../src/access/credentials.ts';
import { type Grant, roles } from '../../src/access/principal.ts';
import { createRegistry } from '../../src/job/registry.ts';
import { aSchedule } from '../support/builders.ts';
import { aSavedPlan } from '../support/saved-plans.ts';
import { type Ask, anAccount, aPolicy, startWorld, usersOf, type World } from './world.ts';

/** Each role without limits, and an operator of the policy `inside` alone. */
const callers = [...roles, 'limited'] as const;
type Caller = (typeof callers)[number];

/** Their plans can be applied while another run of theirs is active. */
const inside = aPolicy('inside', { job: 'site-sync', schedule: { ...aSchedule(), overlap: 'allow' } });
const outside = { ...inside, name: 'outside', hash: 'outside', account: 'second' };

const tokens = new Map(callers.map((caller) => [caller, newToken()]));
const sessions = new Map<Caller, Ask>();
let world: World;
beforeAll(async () => {
  const grantsOf = (caller: Caller): Grant[] =>
    caller === 'limited'
      ? [{ role: 'operator', policies: ['inside'], accounts: ['default'] }]
      : [{ role: caller }];
  world = await startWorld({
    policies: () => [inside, outside],
    registry: createRegistry([siteSync]),
    accounts: async () => [anAccount(), anAccount({ account: 'second' })],
    access: () => ({
      ...usersOf(Object.fromEntries(callers.map((caller) => [caller, grantsOf(caller)]))),
      tokens: callers.map((name) => ({
        name,
        grants: grantsOf(name),
        hash: hashToken(tokens.get(name) ?? ''),
      })),
    }),
    password: null,
  });
  for (const caller of callers) sessions.set(caller, await world.signedIn(caller));
});
afterAll(() => world.stop());

/** Each test has plans of its own: a plan is applied once. */
let made = 0;
beforeEach(() => {
  made += 1;
});
const planOf = (policy: typeof inside, changes: Parameters<typeof aSavedPlan>[1] = {}) =>
  aSavedPlan(policy, { warnings: [`plan ${made}`], ...changes });

async function apply(plan: object, ask: Ask = world.ask, more: Record<string, string> = {}) {
  const answer = await ask('/api/v1/plans/apply', {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: world.dashboard.url, ...more },
    body: JSON.stringify({ plan }),
  });
  return { status: answer.status, text: await answer.text() };
}
const asProgram =
  (caller: Caller): Ask =>
  (path, init = {}) =>
    world.ask(path, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${tokens.get(caller) ?? ''}` },
    });
const asPerson = (caller: Caller): Ask => sessions.get(caller) ?? world.ask;

/** The runs, and what is kept of the plan. */
const storedOf = async ({ hash }: { hash: string }) => ({
  runs: (await world.records.runs.list({ limit: 100 })).map(({ id }) => id),
  targets: (await world.records.planned.saved(hash, ['site-1'])).size,
});

test.each([
  ['nobody', 401],
  ['viewer', 403],
  ['approver', 403],
] as const)('%s applies no plan, and nothing of it is stored', async (caller, status) => {
  const plan = planOf(inside);
  const before = await storedOf(plan);
  const ways = caller === 'nobody' ? [world.ask] : [asProgram(caller), asPerson(caller)];
  for (const ask of ways) expect((await apply(plan, ask)).status).toBe(status);
  expect(await storedOf(plan)).toEqual({ runs: before.runs, targets: 0 });
});

test('an operator with limits applies no plan of a policy outside them, and learns nothing of it', async () => {
  const plan = planOf(outside);
  const before = await storedOf(plan);
  for (const ask of [asProgram('limited'), asPerson('limited')]) {
    const { status, text } = await apply(plan, ask);
    expect(status).toBe(404);
    expect(text).not.toMatch(/outside|second/);
  }
  expect(await storedOf(plan)).toEqual({ runs: before.runs, targets: 0 });
});

test('a plan that names a policy inside the limits, but defines another, is not applied', async () => {
  const { policy } = planOf(inside);
  for (const definition of [outside, { ...inside, account: 'second' }, { ...inside, name: 'outside' }]) {
    const plan = planOf(inside, { policy: { ...policy, definition } });
    const before = await storedOf(plan);
    const { status, text } = await apply(plan, asProgram('limited'));
    expect({ status, code: JSON.parse(text).code }).toEqual({ status: 409, code: 'SAVED_PLAN' });
    expect(await storedOf(plan)).toEqual({ runs: before.runs, targets: 0 });
  }
});

test('a plan that defines the policy otherwise than the server is applied only for an admin', async () => {
  const { policy } = planOf(inside);
  const definition = { ...inside, options: { mode: 'all' }, priority: 'high' };
  const plan = planOf(inside, { policy: { ...policy, definition } });
  const before = await storedOf(plan);
  for (const caller of ['operator', 'limited'] as const) {
    const { status, text } = await apply(plan, asProgram(caller));
    expect({ status, code: JSON.parse(text).code }).toEqual({ status: 409, code: 'SAVED_PLAN' });
  }
  expect(await storedOf(plan)).toEqual({ runs: before.runs, targets: 0 });
  expect((await apply(plan, asProgram('admin'))).status).toBe(200);
});

test.each(['operator', 'admin', 'limited'] as const)(
  '%s applies a plan, and a repetition makes no second run',
  async (caller) => {
    const plan = planOf(inside);
    const key = { 'idempotency-key': `key of ${caller}` };
    const first = await apply(plan, asProgram(caller), key);
    expect(first).toMatchObject({ status: 200, text: expect.stringContaining('"policy":"inside"') });
    expect(await apply(plan, asProgram(caller), key)).toEqual(first);
    const second = await apply(plan, asPerson(caller));
    expect(second).toMatchObject({ status: 409, text: expect.stringContaining('ALREADY_APPLIED') });
    const { runs, targets } = await storedOf(plan);
    expect(runs.filter((id) => id.endsWith(plan.hash.slice(0, 12)))).toHaveLength(1);
    expect(targets).toBe(1);
  },
);

test('a plan of a thousand targets is not too large', async () => {
  const [target] = planOf(inside).targets;
  const targets = Array.from({ length: 1000 }, (_, at) => ({
    ...(target as NonNullable<typeof target>),
    id: `site-${at}`,
    label: `${'x'.repeat(300)}.example`,
  }));
  const plan = planOf(inside, { targets });
  expect(JSON.stringify(plan).length).toBeGreaterThan(262_144);
  expect((await apply(plan, asProgram('operator'))).status).toBe(200);
});
