/** What somebody with limits sees, and what is counted for them. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { noAccess } from '../../src/access/access.ts';
import { hashToken, newToken } from '../../src/access/credentials.ts';
import type { Principal } from '../../src/access/principal.ts';
import { systemClock } from '../../src/clock.ts';
import { openReader } from '../../src/dashboard/queries/reader.ts';
import { scopedTo } from '../../src/dashboard/queries/scope.ts';
import { sampleOf } from '../support/sample.ts';
import { anAccount, aPolicy, aRun, ended, openEvents, remember, startWorld, type World } from './world.ts';

const token = newToken();
const headers = { authorization: `Bearer ${token}` };
let world: World;

beforeEach(async () => {
  const grants = [{ role: 'operator' as const, policies: ['inside'] }];
  world = await startWorld({
    policies: () => [aPolicy('inside'), aPolicy('outside')],
    accounts: async () => [anAccount(), anAccount({ account: 'second' })],
    access: () => ({ ...noAccess, tokens: [{ name: 'ci', hash: hashToken(token), grants }] }),
  });
});
afterEach(() => world.stop());

/** A run with one target, which has ended now. */
async function anEndedRun(policy: string, at: number): Promise<void> {
  const run = aRun({ id: `${policy}.${at}`, policy, createdAt: at });
  await remember(world.records, run, [ended(`site-${policy}`, 'succeeded')]);
  await world.records.runs.move(run, 'succeeded', { at: Date.now() });
}

const idsOf = async (answer: Response): Promise<string[]> => {
  const { runs } = (await answer.json()) as { runs: { run: string }[] };
  return runs.map(({ run }) => run);
};

test('a page of runs is full although runs of others lie between, and the next page continues', async () => {
  const now = Date.now();
  for (let at = 0; at < 6; at += 1) {
    await anEndedRun('inside', now - at * 1_000);
    await anEndedRun('outside', now - at * 1_000 - 500);
  }

  const first = await world.ask('/api/v1/runs?limit=4', { headers });
  const next = /<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  const all = [...(await idsOf(first)), ...(await idsOf(await world.ask(next, { headers })))];

  expect(new Set(all)).toEqual(new Set(Array.from({ length: 6 }, (_, at) => `inside.${now - at * 1_000}`)));
  expect(await idsOf(await world.ask('/api/v1/runs?policy=outside', { headers }))).toEqual([]);
});

test('live events name only runs that the limits cover', async () => {
  const events = await openEvents((path) => world.ask(path, { headers }));
  expect(await events.next()).toContain('hello');

  await anEndedRun('outside', Date.now() - 2);
  await anEndedRun('inside', Date.now() - 1);

  let text = '';
  while (!text.includes('inside.')) text += await events.next();
  expect(text).not.toContain('outside');
  await events.end();
});

test('the last day of somebody with limits counts every run that the limits cover, and no other', async () => {
  const at = Date.now() - 1_000;
  // In the long file, more than are read as runs for anything.
  const count = sampleOf(200, 2_100);
  for (let index = 0; index < count; index += 100)
    await Promise.all(Array.from({ length: 100 }, (_, one) => anEndedRun('inside', at + index + one)));
  await anEndedRun('outside', at);

  const context = {
    reader: openReader(world.records, systemClock),
    policies: () => [aPolicy('inside'), aPolicy('outside')],
    accounts: async () => [],
    health: async () => world.health,
    budgetOf: () => undefined,
    clock: systemClock,
  };
  const limited: Principal = {
    kind: 'user',
    name: 'limited',
    grants: [{ role: 'viewer', policies: ['inside'] }],
  };
  const { runs, targets } = await scopedTo(limited, context).reader.totals(at, Date.now());

  expect(runs).toMatchObject([{ status: 'succeeded', policy: 'inside', count }]);
  expect(targets).toMatchObject([{ outcome: 'succeeded', policy: 'inside', count }]);
});
