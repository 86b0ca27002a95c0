/** `notify.route`: each receiver is notified of its own targets. Real Redis, the sandbox and real receivers. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { check } from '../../jobs/check/job.ts';
import { type Owner, toldOf } from '../../src/engine/plan/owners.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { aPolicy, aRun } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';
import { healthySites } from '../support/quick-syncs.ts';
import { startReceiver } from './receiver.ts';
import { activeRun, aWorld, endRun, letterOf, telling, toldTo, webhooks } from './world.ts';

/** Twelve healthy sites: the first three have the tag of one team, and the third to the sixth that of another. */
let world: World;
let ids: string[];
beforeAll(async () => {
  world = await startWorld({ sites: 12, speedUp: 240, before: healthySites });
  ids = world.sandbox.siteIds();
  const { client } = world.caretaker.link('default');
  const call = { requestClass: 'person' } as const;
  for (const [name, site_ids] of [
    ['Team shop', ids.slice(0, 3)],
    ['Team core', ids.slice(2, 6)],
  ] as const) {
    const { tag } = await client.call('createTag', { body: { tag: { name, color: '#ff0000' } } }, call);
    await client.call('assignTag', { tag_id: tag.id, body: { site_ids } }, call);
  }
});
afterAll(() => world.stop());

/** What a test has of its own: receivers, and runs of a policy with this name. */
async function teams(name: string) {
  const [shop, core, ops] = [await startReceiver(204), await startReceiver(204), await startReceiver(204)];
  const { caretaker, sandbox } = world;
  caretaker.take({ notifications: webhooks({ shop, core, ops }) });
  const fail = (...at: number[]) => {
    for (const one of at) sandbox.site(ids[one] ?? '').failNextSync('The site did not answer.');
  };
  const run = async (changes: Partial<Policy> = {}) => {
    const ended = await world.ended(
      await world.fire(aPolicy({ name, notify: [{ on, to: 'ops', route }], ...changes })),
    );
    await caretaker.notifier.deliverDue();
    return ended;
  };
  return { shop, core, ops, fail, run };
}

const on = ['failed', 'partial', 'recovered', 'succeeded', 'paused'];
const route = [
  { tag: 'team shop', to: 'shop' },
  { tag: 'Team core', to: 'core' },
];

const dataOf = (...[receiver, index]: Parameters<typeof letterOf>) =>
  letterOf(receiver, index).data as unknown as {
    text: string;
    counts: object;
    failed_targets?: { target: string }[];
  };

test('each team is notified of its own targets alone, and only the team whose target failed knows of a failure', async () => {
  const { shop, core, ops, fail, run } = await teams('each-team');
  fail(2, 8);

  const first = await run();

  expect(first.counts).toMatchObject({ planned: 12, failed: 2 });
  // The third site has both tags: the first rule decides.
  expect(toldTo(shop)).toEqual(['run.partial']);
  expect(dataOf(shop).counts).toMatchObject({ planned: 3, succeeded: 2, failed: 1 });
  expect(dataOf(shop).failed_targets).toMatchObject([{ target: ids[2] }]);
  expect(dataOf(shop).text).toMatch(
    /of 3 targets, 2 succeeded and 1 failed\.\n.+\n.*these are about the 3 of shop\.$/,
  );
  expect(toldTo(core)).toEqual(['run.succeeded']);
  expect(dataOf(core).counts).toMatchObject({ planned: 3, succeeded: 3, failed: 0 });
  expect(toldTo(ops)).toEqual(['run.partial']);
  expect(dataOf(ops).failed_targets).toMatchObject([{ target: ids[8] }]);

  fail(8);
  await run();

  expect(toldTo(shop)).toEqual(['run.partial', 'run.recovered']);
  expect(toldTo(core)).toEqual(['run.succeeded', 'run.succeeded']);
  // It knows that already: a reminder comes after `repeat_interval`.
  expect(toldTo(ops)).toEqual(['run.partial']);
});

test('a receiver of the whole run gets one message, also where a route names it', async () => {
  const { shop, core, ops, fail, run } = await teams('whole-run');
  fail(0, 3);

  await run({
    notify: [
      { on: ['failed', 'partial'], to: 'ops', route },
      { on: ['failed', 'partial'], to: 'core' },
    ],
  });

  expect(toldTo(core)).toEqual(['run.partial']);
  expect(dataOf(core).counts).toMatchObject({ planned: 12, failed: 2 });
  expect(dataOf(core).text).not.toContain('these are about');
  expect(dataOf(shop).counts).toMatchObject({ planned: 3, failed: 1 });
  expect(toldTo(ops)).toEqual([]);
});

test('new findings go to the team of their sites, and the default knows the others', async () => {
  const { shop, core, ops, run } = await teams('findings');
  const notify = [{ on: ['findings', 'recovered'], to: 'ops', route }];
  const select = { filters: {}, from: 'listSites' as const };
  const policy = { job: 'check', select, options: check.options.parse({}), notify };

  const { findings } = await run(policy);

  expect(findings).toMatchObject({ new: 12 });
  for (const [receiver, count] of [
    [shop, 3],
    [core, 3],
    [ops, 6],
  ] as const) {
    expect(toldTo(receiver)).toEqual(['policy.findings']);
    expect(dataOf(receiver).text).toContain(`${count} new findings, 0 resolved, ${count} open.`);
    expect(
      dataOf(receiver)
        .text.split('\n')
        .filter((line) => line.startsWith('New: ')),
    ).toHaveLength(count);
  }
});

test('a team whose sites are no longer found is told that they recovered, and no other team', async () => {
  const { shop, core, ops, run } = await teams('resolved');
  const notify = [{ on: ['failed', 'findings', 'recovered'], to: 'ops', route }];
  const policy = { job: 'check', options: check.options.parse({ severity: 'error' }), notify };
  const selected = (...sites: (string | undefined)[]): Pick<Policy, 'select'> => ({
    select: { filters: {}, where: `site.id in ${JSON.stringify(sites)}`, from: 'listSites' },
  });
  const first = await run({ ...policy, ...selected(ids[0], ids[3], ids[8], ids[9]) });
  expect(first.findings).toMatchObject({ new: 4 });
  const before = [shop, core, ops].map((receiver) => toldTo(receiver).length);

  await run({ ...policy, ...selected(ids[3], ids[8]) });
  const since = () => [shop, core, ops].map((receiver, at) => toldTo(receiver).slice(before[at]));

  expect(since()).toEqual([['run.recovered', 'policy.recovered'], [], ['policy.recovered']]);
  expect(dataOf(shop, -1).text).toContain('0 new findings, 1 resolved, 0 open.');
  expect(dataOf(ops, -1).text).toContain('0 new findings, 1 resolved, 1 open.');

  await run({ ...policy, ...selected() });

  const recovered = ['run.recovered', 'policy.recovered'];
  expect(since()).toEqual([recovered, recovered, ['policy.recovered', ...recovered]]);
});

test('of more resolved findings than are kept, each team is told of its own', async () => {
  const [shop, ops] = [await startReceiver(204), await startReceiver(204)];
  const world = await aWorld(webhooks({ shop, ops }));
  const rules = [{ on: ['recovered' as const], to: 'ops', route: [{ tag: 'shop', to: 'shop' }] }];
  const run = await activeRun(world, telling(...rules), {
    planComplete: true,
    counts: { planned: 0, succeeded: 0, failed: 0, skipped: 0, cancelled: 0 },
  });
  const about = { id: run.id, account: run.account, policy: run.policy, startedAt: run.createdAt };
  const found = Array.from({ length: 310 }, (_, at) => ({
    ...{ target: `site-${at}`, label: `site-${at}`, about: 'sync', severity: 'error' as const, message: '' },
    ...(at < 300 ? { told: [at < 205 ? 'shop' : 'ops'] } : {}),
  }));
  const earlier = { ...about, id: 'earlier', startedAt: 1, isWhole: true };
  await world.records.runs.create(aRun({ id: 'earlier' }), { concurrency: 1, targetMs: 1 });
  await world.records.findings.note(earlier, 1, found);
  await world.records.findings.resolve({ ...about, isWhole: true }, found);
  await endRun(world, run, 'succeeded');

  await world.notifier.deliverDue();

  expect(dataOf(shop).text).toContain('0 new findings, 205 resolved, 0 open.');
  expect(dataOf(ops).text).toContain('0 new findings, 105 resolved, 0 open.');
});

test('what is about no single target goes to the default', async () => {
  const { shop, core, ops, run } = await teams('nothing');

  const { counts } = await run({ select: { filters: { id: { eq: 'no-such-site' } } } });

  expect(counts.planned).toBe(0);
  expect(toldTo(ops)).toEqual(['run.succeeded']);
  expect([toldTo(shop), toldTo(core)]).toEqual([[], []]);
});

test('a target whose tags are not shown goes to the default, also where a later rule would hold', () => {
  const acme = { id: '7', names: ['ACME'] };
  const rules = [
    { tag: 'shop', to: 'shop' },
    { client: 'acme', to: 'acme' },
  ];
  const toldTo = (owner: Owner) => toldOf([{ on: [], to: 'ops', route: rules }], owner);

  expect(toldTo({ client: acme, tags: [] })).toEqual(['acme']);
  expect(toldTo({ client: acme })).toEqual(['ops']);
  expect(toldTo({ tags: [] })).toEqual(['ops']);
  expect(toldTo({ client: null, tags: [{ id: '1', names: ['Shop'] }] })).toEqual(['shop']);
});
