/** Several policies at once: who may, what becomes of each, the price, and what the audit log has of it. */
import { afterEach, expect, test } from 'vitest';
import { aSchedule } from '../support/builders.ts';
import {
  anAccount,
  aPolicy,
  aRun,
  auditOf,
  ended,
  remember,
  startWorld,
  usersOf,
  type World,
} from './world.ts';

let world: World;
afterEach(() => world.stop());

const policies = [
  aPolicy('sync', { schedule: aSchedule() }),
  aPolicy('checks', { schedule: aSchedule() }),
  aPolicy('hotels', { account: 'hotels', schedule: aSchedule() }),
];

async function start(): Promise<void> {
  world = await startWorld({
    access: () =>
      usersOf({
        olga: [{ role: 'operator' }],
        mixed: [{ role: 'viewer' }, { role: 'operator', accounts: ['hotels'] }],
        vera: [{ role: 'viewer' }],
      }),
    policies: () => policies,
    accounts: async () => [anAccount(), anAccount({ account: 'hotels' })],
  });
}

const as = (name: string) => ({
  look: (path: string) => world.look(path, name),
  press: (path: string, fields: [string, string][]) => world.press(path, fields, name),
});
const named = (...names: string[]) => names.map((name): [string, string] => ['policy', name]);
const pausesOf = async () =>
  Object.fromEntries(
    [...(await world.records.policies.many(policies))].map(([name, { pause }]) => [name, pause?.reason]),
  );
const actsOf = async () =>
  (await auditOf(world))
    .filter(({ what }) => what.startsWith('policies.'))
    .map(({ what, policy, result }) => `${what} ${policy} ${result}`);

test('several policies are paused after one question, and each has its line in the audit log', async () => {
  await start();
  await world.records.policies.pause('hotels', { at: 1, by: 'kim', reason: 'before' });
  const olga = as('olga');

  const asked = await olga.look('/bulk/pause?policy=sync&policy=checks&policy=hotels&policy=nothing');
  expect(asked.main).toContain('Pause 2 policies?');
  expect(asked.main).toContain('hotels is skipped: it is paused already.');
  expect(asked.main).toContain('nothing is skipped: no active policy has this name.');
  expect(asked.html).toMatch(/<button[^>]*>Pause 2 policies<\/button>/);
  expect(await pausesOf()).toEqual({ hotels: 'before' });

  // A duration that is none changes nothing.
  const wrong = await olga.press('/bulk/pause', [...named('sync'), ['for', 'ages']]);
  expect(wrong.status).toBe(400);
  expect(wrong.main).toContain('is not a duration');
  expect(await pausesOf()).toEqual({ hotels: 'before' });

  const done = await olga.press('/bulk/pause', [
    ...named('sync', 'checks'),
    ['reason', 'The sale'],
    ['for', '3d'],
  ]);
  expect([done.status, done.headers.get('location')]).toEqual([303, '/policies']);
  expect(await pausesOf()).toEqual({ sync: 'The sale', checks: 'The sale', hotels: 'before' });
  expect(await actsOf()).toEqual([
    'policies.pause sync requested',
    'policies.pause sync done',
    'policies.pause checks requested',
    'policies.pause checks done',
  ]);

  await olga.press('/bulk/resume', named('sync', 'hotels'));
  expect(await pausesOf()).toEqual({ checks: 'The sale' });
});

test('the question for runs says the price by the last runs, and of how many it is not known', async () => {
  await start();
  const run = aRun({ id: 'sync.1', policy: 'sync', policyHash: 'sync', requests: 40 });
  await remember(world.records, run, [ended('a', 'succeeded')]);
  await world.records.runs.move(run, 'succeeded', { at: run.createdAt + 600_000 });
  const olga = as('olga');

  const { main: text } = await olga.look('/bulk/run?policy=sync&policy=checks');
  expect(text).toContain('Run 2 policies?');
  expect(text).toContain('By their last runs, 1 policy takes about 40 requests, and the longest run 10 min.');
  expect(text).toContain('What 1 policy takes is not known yet.');

  const refused = await olga.press('/bulk/run', named('sync', 'checks'));
  expect(refused.main).toContain('0 policies started, 2 not');
  for (const { main } of [refused, await olga.press('/policies/sync/run', [])])
    expect(main).toContain('No daemon with the worker role is running');
});

test('only what a principal may do is done, and what it tried is in the audit log', async () => {
  await start();
  const mixed = as('mixed');
  const asked = await mixed.look('/bulk/pause?policy=sync&policy=hotels');
  expect(asked.main).toContain('Pause 1 policy?');
  expect(asked.main).toContain('sync is skipped: you may not do this.');

  const done = await mixed.press('/bulk/pause', [...named('sync', 'hotels'), ['reason', 'mine']]);
  expect(done.main).toContain('1 policy paused, 1 not');
  expect(await pausesOf()).toEqual({ hotels: 'mine' });
  expect(await actsOf()).toContain('policies.pause sync refused');
  expect((await as('vera').press('/bulk/pause', named('sync'))).status).toBe(403);
});

test('the list has boxes only for what may be done, and groups by what the address says', async () => {
  await start();
  const boxes = (html: string) => [...html.matchAll(/name="policy" value="(\w+)"/g)].map(([, name]) => name);
  expect(boxes((await as('olga').look('/policies')).html)).toEqual(['checks', 'hotels', 'sync']);
  expect(boxes((await as('mixed').look('/policies')).html)).toEqual(['hotels']);
  const vera = await as('vera').look('/policies?group=account');
  expect(boxes(vera.html)).toEqual([]);
  expect(vera.html).not.toContain('id="bulk"');
  expect(vera.main).toMatch(/default 2 .*checks.*sync.* hotels 1 .*hotels/);
});
