/** The job that only reports: each case that people ask for as a policy, over the sandbox. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { check } from '../../../jobs/check/job.ts';
import type { Input, ListId } from '../../../src/contract/operations.ts';
import { createRegistry } from '../../../src/job/registry.ts';
import { loadPolicies } from '../../../src/policy/load-policies.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { folderWith } from '../../settings/folder.ts';
import { startWorld, type World } from '../../support/caretaker.ts';

const HOUR = 3_600_000;

/** A check as its file would have it: `select` and `with` in YAML's flow style. */
function read(select: string, options = '{}') {
  const text = `policies:\n  - name: p\n    job: check\n    select: ${select}\n    with: ${options}\n`;
  return loadPolicies({ dir: folderWith({ 'p.yaml': text }), registry: createRegistry([check]) });
}

function checkOf(select: string, options?: string): Policy {
  const { policies, findings } = read(select, options);
  expect(findings.map(({ message }) => message)).toEqual([]);
  return policies[0] as Policy;
}

/** What is wrong with `with`; places are counted from its brace on. */
const mistakesOf = (select: string, options: string): string[] =>
  read(select, options).findings.map(
    ({ line, column, message, suggestion }) =>
      `${line - 5}:${column - 11} ${message}${suggestion ? ` ${suggestion}` : ''}`,
  );

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
    world = await startWorld({ leaps: true, sites: 60 });
  });
  afterAll(() => world.stop());

  const listed = async <Id extends ListId>(id: Id, query: object = {}) => {
    const { client } = world.caretaker.link('default');
    return client.call(id, { perPage: 100, ...query } as unknown as Input<Id>, { requestClass: 'person' });
  };

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

  test('sender emails are not verified', async () => {
    const { messages } = await checked(
      world,
      checkOf(
        '{ from: listSenderEmails, filters: { status: { eq: pending } } }',
        '{ message: "{{sender.email}} has been waiting since {{ago(sender.created_at)}}" }',
      ),
    );
    expect(Object.values(messages)).toContain('never.read@agency.example has been waiting since 45 days ago');
  });

  test('scheduled reports did not go out', async () => {
    const { reports } = await listed('listReports', { filters: { type: { eq: 'scheduled' } } });
    const sent = reports.find(({ email }) => (email?.recipients ?? []).length > 0);
    const address = sent?.email?.recipients?.[0]?.email ?? '';
    world.sandbox.mail.ends(address, 'bounced');

    const late = await checked(
      world,
      checkOf(
        '{ from: listScheduledReports, where: \'scheduled_report.status != "active" || scheduled_report.next_report_at < now - duration("2h")\' }',
        '{ message: "Due {{ago(scheduled_report.next_report_at)}}, and {{scheduled_report.status}}" }',
      ),
    );
    const bounced = await checked(
      world,
      checkOf(
        '{ from: listReports, filters: { type: { eq: scheduled } }, where: \'report.email.recipients.exists(r, r.status in ["failed", "bounced"])\' }',
        '{ message: "{{report.title}}: {{report.email.recipients.map(r, r.email)}}" }',
      ),
    );

    expect(Object.values(late.messages)).toContainEqual(
      expect.stringMatching(/^Due \d+ days ago, and paused$/),
    );
    expect(bounced.found).toContain(sent?.id);
    expect(bounced.messages[sent?.id ?? '']).toContain(address);
  });

  test('staging copies are about to expire', async () => {
    const [site = ''] = world.sandbox.siteIds();
    const soon = world.sandbox.staging.make(site, 12);
    const later = world.sandbox.staging.make(site, 1);

    const { found, messages } = await checked(
      world,
      checkOf(
        '{ from: listStagingSites, where: \'staging.expires_at < now + duration("72h")\' }',
        '{ severity: info, message: "Expires {{ago(staging.expires_at)}}" }',
      ),
    );

    expect(found).toContain(soon);
    expect(found).not.toContain(later);
    expect(messages[soon]).toMatch(/^Expires in \d+ hours$/);
  });

  test('sites are not reachable, or nobody watches whether they are', async () => {
    const { sites } = await listed('listSites');
    const { found } = await checked(
      world,
      checkOf(
        '{ from: listSites, where: \'site.connection.status == "disconnected" || (site.uptime.enabled && site.uptime.status != "up") || !site.uptime.enabled\' }',
      ),
    );
    const expected = sites.filter(
      ({ connection, uptime }) => connection?.status === 'disconnected' || uptime?.enabled !== true,
    );
    expect(found.sort()).toEqual(expected.map(({ id }) => id).sort());
  });
});

describe('a check', () => {
  let world: World | undefined;
  afterEach(async () => {
    await world?.stop();
    world = undefined;
  });

  test('reports nothing about a site when the service does not show what decides', async () => {
    world = await startWorld({ leaps: true, sites: 3 });
    for (const operation of ['listSites', 'showSite'] as const) world.sandbox.hide(operation, 'sync.paused');

    const { targets, status } = await checked(world, checkOf('{ from: listSites, where: site.sync.paused }'));

    expect(targets.map(({ outcome }) => outcome)).toEqual(Array(3).fill('skipped'));
    expect(targets.map(({ reason }) => reason)).toEqual(Array(3).fill('not-eligible'));
    expect(status).toBe('succeeded');
  });

  test('reports a finding also when its message cannot be completed', async () => {
    world = await startWorld({ leaps: true, sites: 2 });
    world.sandbox.hide('listSites', 'title');

    const { messages } = await checked(
      world,
      checkOf('{ from: listSites }', '{ message: "{{site.title}}, tag {{site.tags[9].name}}" }'),
    );

    expect(new Set(Object.values(messages))).toEqual(new Set(['(not shown), tag (no value)']));
  });

  test('of a site asked for by name that has nothing wrong ends as done', async () => {
    world = await startWorld({ leaps: true, sites: 2 });
    const [fine = '', paused = ''] = world.sandbox.siteIds();
    world.sandbox.site(paused).pause(true);
    const policy = checkOf('{ from: listSites, where: site.sync.paused }');

    const { targets } = await checked(world, policy, [fine, paused]);

    expect(Object.fromEntries(targets.map(({ id, reason }) => [id, reason]))).toEqual({
      [fine]: 'done',
      [paused]: 'found',
    });
  });

  test('looks again when it is retried: what was corrected since then is done', async () => {
    world = await startWorld({ leaps: true, sites: 2 });
    const [one = ''] = world.sandbox.siteIds();
    world.sandbox.site(one).pause(true);
    const policy = checkOf('{ from: listSites, where: site.sync.paused }', '{ severity: error }');
    const run = await world.ended(await world.fire(policy));
    expect(await world.reasons(run)).toEqual({ [one]: 'found' });
    world.sandbox.site(one).pause(false);

    const again = await world.ended(await world.caretaker.engine.retry(run.id));

    expect(await world.reasons(again)).toEqual({ [one]: 'done' });
  });

  test('shows in its plan what it would report, for no request beyond the list', async () => {
    world = await startWorld({ leaps: true, sites: 3 });
    const [one = ''] = world.sandbox.siteIds();
    world.sandbox.site(one).pause(true);
    const policy = checkOf(
      '{ from: listSites, where: site.sync.paused }',
      '{ message: "Paused: {{site.id}}" }',
    );

    const { ended, targets, cost } = await world.caretaker.engine.preview(policy);

    expect(targets).toEqual([]);
    expect(ended).toMatchObject([{ id: one, outcome: 'succeeded', reason: 'found', why: `Paused: ${one}` }]);
    expect(cost).toMatchObject({ planning: 1, acting: 0, following: 0 });
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
  expect(mistakesOf('{ from: listSites }', options)).toEqual(expected);
});

test('a check without a list is refused', () => {
  expect(mistakesOf('{}', '{}')).toEqual([
    expect.stringContaining('works on any list; name one with "from"'),
  ]);
});
