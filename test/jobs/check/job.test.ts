/** The job that only reports: each case that people ask for as a policy, over the sandbox. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { check } from '../../../jobs/check/job.ts';
import type { Input, ListId } from '../../../src/contract/operations.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { worldOfTest } from '../../support/world-of-test.ts';
import { asPerson } from '../acting.ts';
import { mistakesOf } from '../policies.ts';
import { checkOf } from './policies.ts';

const HOUR = 3_600_000;

/** Runs a check to its end: its status, its targets, what it cost and changed. */
async function checked(world: World, policy: Policy, only?: string[]) {
  const effects = world.sandbox.journal.effects.length;
  const run = await world.ended(await world.fire(policy, only));
  const targets = await world.targets(run);
  return {
    status: run.status,
    requests: run.requests,
    targets,
    found: targets.filter(({ reason }) => reason === 'found').map(({ id }) => id),
    messages: Object.fromEntries(targets.map(({ id, findings }) => [id, findings?.[0]?.message])),
    changes: world.sandbox.journal.effects.length - effects,
  };
}

describe('each case of an agency is a small policy', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ sites: 60 });
  });
  afterAll(() => world.stop());

  const call = asPerson(() => world);
  const listed = <Id extends ListId>(id: Id, query: object = {}) =>
    call(id, { perPage: 100, ...query } as unknown as Input<Id>);

  test('the last snapshot is older than three days', async () => {
    const [old = '', never = '', recent = ''] = world.sandbox.siteIds();
    world.sandbox.site(old).lastSynced(80 * HOUR);
    world.sandbox.site(recent).lastSynced(1 * HOUR);

    const { found, messages, status, requests, changes } = await checked(
      world,
      checkOf(
        '{ from: listSites, where: \'now - site.sync.last_sync_at > duration("72h")\' }',
        '{ severity: error, message: "Last good sync {{ago(site.sync.last_sync_at)}}" }',
      ),
    );

    expect(found).toContain(old);
    expect(found).not.toContain(recent);
    expect(messages[old]).toBe('Last good sync 3 days ago');
    expect(found).toHaveLength(Object.keys(messages).length);
    expect(never).not.toBe('');
    expect({ status, requests, changes }).toEqual({ status: 'failed', requests: 1, changes: 0 });
  });

  test('sites are hacked, or run an old core', async () => {
    const { sites } = await listed('listSites');
    const bad = sites.filter(
      ({ security, wp }) => security?.scanner?.status === 'hacked' || wp?.core?.update_available === true,
    );

    const { found, messages } = await checked(
      world,
      checkOf(
        '{ from: listSites, where: \'site.security.scanner.status == "hacked" || site.wp.core.update_available\' }',
        '{ message: "Scanner: {{site.security.scanner.status}}, core {{site.wp.core.current_version}}" }',
      ),
    );

    expect(bad.length).toBeGreaterThan(1);
    expect(found.sort()).toEqual(bad.map(({ id }) => id).sort());
    expect(Object.values(messages)).toContainEqual(expect.stringMatching(/^Scanner: hacked, core \d/));
  });

  test('team members have no two-factor authentication', async () => {
    const { team_members: all } = await listed('listTeamMembers');
    const { found, status, targets } = await checked(
      world,
      checkOf(
        '{ from: listTeamMembers, filters: { two_fa_enabled: { eq: false }, status: { eq: connected } } }',
        '{ message: "{{member.email}} signs in without a second factor" }',
      ),
    );
    const expected = all.filter((one) => one.two_fa_enabled === false && one.status === 'connected');
    expect(found.sort()).toEqual(expected.map(({ id }) => id).sort());
    expect(found.length).toBeGreaterThan(0);
    expect(status).toBe('succeeded');
    expect(targets[0]).toMatchObject({
      outcome: 'succeeded',
      reason: 'found',
      findings: [{ severity: 'warning', about: 'member' }],
    });
  });
});

describe('a check', () => {
  test('reports nothing when the service does not show what decides, and a finding whose message lacks something', async () => {
    const world = await worldOfTest({ sites: 3 });
    for (const operation of ['listSites', 'showSite'] as const) world.sandbox.hide(operation, 'sync.paused');
    world.sandbox.hide('listSites', 'title');

    const { targets, status } = await checked(world, checkOf('{ from: listSites, where: site.sync.paused }'));
    const { messages } = await checked(
      world,
      checkOf('{ from: listSites }', '{ message: "{{site.title}}, tag {{site.tags[9].name}}" }'),
    );

    expect(targets.map(({ outcome }) => outcome)).toEqual(Array(3).fill('skipped'));
    expect(targets.map(({ reason }) => reason)).toEqual(Array(3).fill('not-eligible'));
    expect(status).toBe('succeeded');
    expect(new Set(Object.values(messages))).toEqual(new Set(['(not shown), tag (no value)']));
  });

  test('shows in its plan what it reports, ends a named site with nothing wrong as done, and looks again in a retry', async () => {
    const world = await worldOfTest({ sites: 3 });
    const [paused = '', fine = ''] = world.sandbox.siteIds();
    world.sandbox.site(paused).pause(true);
    const policy = checkOf(
      '{ from: listSites, where: site.sync.paused }',
      '{ severity: error, message: "Paused: {{site.id}}" }',
    );

    const { ended, targets, cost } = await world.caretaker.engine.preview(policy);
    const run = await world.ended(await world.fire(policy, [fine, paused]));
    world.sandbox.site(paused).pause(false);
    const again = await world.ended(
      await world.caretaker.engine.retry(run.id, { which: { reasons: ['all'] } }),
    );

    expect(targets).toEqual([]);
    expect(ended).toMatchObject([
      { id: paused, outcome: 'failed', reason: 'found', why: `Paused: ${paused}` },
    ]);
    // No request beyond the list.
    expect(cost).toMatchObject({ planning: 1, acting: 0, following: 0 });
    expect(await world.reasons(run)).toEqual({ [fine]: 'done', [paused]: 'found' });
    expect(await world.reasons(again)).toEqual({ [paused]: 'done' });
  });
});

test.each([
  ['{ severity: fatal }', [expect.stringMatching(/^0:12 "severity" must be .*error.*warning.*info/)]],
  [
    '{ message: "Last sync {{ago(site.sync.last_sink_at)}}" }',
    ['0:38 site.sync has no field "last_sink_at". did you mean last_sync_at?'],
  ],
  ['{ message: "At {{site.url" }', ['0:15 "{{" has no "}}" after it. write {{site.url}}']],
  ['{ mesage: x }', [expect.stringMatching(/^0:2 .*mesage.*message/)]],
])('%s is refused when it is loaded', (options, expected) => {
  expect(mistakesOf(check, '{ from: listSites }', options)).toEqual(expected);
});

test('a check without a list is refused', () => {
  expect(mistakesOf(check, '{}')).toEqual([
    expect.stringContaining('works on any list; name one with "from"'),
  ]);
});
