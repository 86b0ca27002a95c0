/** Several policies at once: who may, what becomes of each, the price, and what the audit log has of it. */
import { afterEach, expect, test } from 'vitest';
import { noAccess } from '../../src/access/access.ts';
import type { Grant } from '../../src/access/principal.ts';
import { aSchedule } from '../support/builders.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import {
  anAccount,
  aPolicy,
  aRun,
  ended,
  postForm,
  remember,
  sessionOf,
  startWorld,
  textOf,
  type World,
} from './world.ts';

const PASSWORD_OF_ALL = 'the same for everybody';
const grants: Readonly<Record<string, Grant[]>> = {
  olga: [{ role: 'operator' }],
  mixed: [{ role: 'viewer' }, { role: 'operator', accounts: ['hotels'] }],
  vera: [{ role: 'viewer' }],
};
const passwordHash = cheapHash(PASSWORD_OF_ALL);
let world: World;
afterEach(() => world.stop());

const policies = [
  aPolicy('sync', { schedule: aSchedule() }),
  aPolicy('checks', { schedule: aSchedule() }),
  aPolicy('hotels', { account: 'hotels', schedule: aSchedule() }),
];

async function start(): Promise<void> {
  const users = Object.entries(grants).map(([name, own]) => ({ name, passwordHash, grants: own }));
  world = await startWorld({
    access: () => ({ ...noAccess, users }),
    policies: () => policies,
    accounts: async () => [anAccount(), anAccount({ account: 'hotels' })],
  });
}

async function as(name: string) {
  const { ask, dashboard } = world;
  const answer = await postForm(ask, dashboard.url, '/sign-in', { name, password: PASSWORD_OF_ALL });
  const headers = { cookie: sessionOf(answer), origin: dashboard.url, accept: 'text/html' };
  const read = async (sent: Promise<Response>) => {
    const got = await sent;
    const html = await got.text();
    const text = textOf(html.slice(html.indexOf('<main')));
    return { status: got.status, to: got.headers.get('location'), html, text };
  };
  return {
    look: (path: string) => read(ask(path, { headers })),
    press: (path: string, fields: readonly [string, string][]) =>
      read(ask(path, { method: 'POST', headers, body: new URLSearchParams([...fields]) })),
  };
}
const named = (...names: string[]) => names.map((name): [string, string] => ['policy', name]);
const pausesOf = async () =>
  Object.fromEntries(
    [...(await world.records.policies.many(policies))].map(([name, { pause }]) => [name, pause?.reason]),
  );
const actsOf = async () => {
  const lines: string[] = [];
  for await (const { line } of world.records.audit.newestFirst({}))
    if (line.what.startsWith('policies.')) lines.unshift(`${line.what} ${line.policy} ${line.result}`);
  return lines;
};

test('several policies are paused after one question, and each has its line in the audit log', async () => {
  await start();
  await world.records.policies.pause('hotels', { at: 1, by: 'kim', reason: 'before' });
  const olga = await as('olga');

  const asked = await olga.look('/bulk/pause?policy=sync&policy=checks&policy=hotels&policy=nothing');
  expect(asked.text).toContain('Pause 2 policies?');
  expect(asked.text).toContain('hotels is skipped: it is paused already.');
  expect(asked.text).toContain('nothing is skipped: no active policy has this name.');
  expect(asked.html).toMatch(/<button[^>]*>Pause 2 policies<\/button>/);
  expect(await pausesOf()).toEqual({ hotels: 'before' });

  const done = await olga.press('/bulk/pause', [
    ...named('sync', 'checks'),
    ['reason', 'The sale'],
    ['for', '3d'],
  ]);
  expect(done).toMatchObject({ status: 303, to: '/policies' });
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

test('a duration that is none changes nothing', async () => {
  await start();
  const wrong = await (await as('olga')).press('/bulk/pause', [...named('sync'), ['for', 'ages']]);
  expect(wrong.status).toBe(400);
  expect(wrong.text).toContain('is not a duration');
  expect(await pausesOf()).toEqual({});
});

test('the question for runs says the price by the last runs, and of how many it is not known', async () => {
  await start();
  const run = aRun({ id: 'sync.1', policy: 'sync', policyHash: 'sync', requests: 40 });
  await remember(world.records, run, [ended('a', 'succeeded')]);
  await world.records.runs.move(run, 'succeeded', { at: run.createdAt + 600_000 });
  const olga = await as('olga');

  const { text } = await olga.look('/bulk/run?policy=sync&policy=checks');
  expect(text).toContain('Run 2 policies?');
  expect(text).toContain('By their last runs, 1 policy takes about 40 requests, and the longest run 10 min.');
  expect(text).toContain('What 1 policy takes is not known yet.');

  const refused = await olga.press('/bulk/run', named('sync', 'checks'));
  expect(refused.text).toContain('0 policies started, 2 not');
  expect(refused.text).toContain('No daemon with the worker role is running');
});

test('only what a principal may do is done, and what it tried is in the audit log', async () => {
  await start();
  const mixed = await as('mixed');
  const asked = await mixed.look('/bulk/pause?policy=sync&policy=hotels');
  expect(asked.text).toContain('Pause 1 policy?');
  expect(asked.text).toContain('sync is skipped: you may not do this.');

  const done = await mixed.press('/bulk/pause', [...named('sync', 'hotels'), ['reason', 'mine']]);
  expect(done.text).toContain('1 policy paused, 1 not');
  expect(await pausesOf()).toEqual({ hotels: 'mine' });
  expect(await actsOf()).toContain('policies.pause sync refused');
  expect((await (await as('vera')).press('/bulk/pause', named('sync'))).status).toBe(403);
});

test('the list has boxes only for what may be done, and groups by what the address says', async () => {
  await start();
  const boxes = (html: string) => [...html.matchAll(/name="policy" value="(\w+)"/g)].map(([, name]) => name);
  expect(boxes((await (await as('olga')).look('/policies')).html)).toEqual(['checks', 'hotels', 'sync']);
  expect(boxes((await (await as('mixed')).look('/policies')).html)).toEqual(['hotels']);
  const vera = await (await as('vera')).look('/policies?group=account');
  expect(boxes(vera.html)).toEqual([]);
  expect(vera.html).not.toContain('id="bulk"');
  expect(vera.text).toMatch(/default 2 .*checks.*sync.* hotels 1 .*hotels/);
});
