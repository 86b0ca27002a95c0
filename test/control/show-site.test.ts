/** `sites.show`: which site words mean, and what of it a person sees. */
import { afterEach, expect, test } from 'vitest';
import type { Audit } from '../../src/control/audit.ts';
import { carryOut } from '../../src/control/carry-out.ts';
import { showSite } from '../../src/control/commands/show-site.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { aPolicy, aRun, ended, startWorld, type World } from '../dashboard/world.ts';
import { findIn } from '../support/findings.ts';
import { heldClock, NOON } from '../support/held-clock.ts';
import { workedOn } from '../support/worked-on.ts';
import { actor } from './acting.ts';

let world: World;
afterEach(() => world.stop());

const HOUR = 3_600_000;
let policies: Policy[] = [];
// What only reads has no line in the audit log.
const noAudit = {} as Audit;
type Grants = Parameters<typeof carryOut>[3]['principal']['grants'];

async function worldOf(
  runs: { id: string; policy?: string; target: string; label: string; outcome?: 'failed' }[],
) {
  world = await startWorld({ clock: heldClock() });
  for (const [at, { target, label, outcome = 'succeeded', ...run }] of runs.entries()) {
    const endedAt = NOON - (runs.length - at) * HOUR;
    const finished = { ...ended(target, outcome, { label }), finishedAt: endedAt };
    const of = aRun({ ...run, createdAt: endedAt });
    await workedOn(world.records, of, [finished] as Parameters<typeof workedOn>[2], { at: endedAt });
  }
}

async function shown(site: string, grants: Grants = [{ role: 'viewer' }]) {
  const link = () => {
    throw new Error('Nothing is asked here.');
  };
  const deps = {
    ...{ records: world.records, clock: heldClock(), audit: noAudit, link },
    ...{ settings: { accounts: { default: {} } }, policies: () => policies },
  };
  const found = await carryOut(showSite, deps, { site }, actor(grants));
  return { ...found, runs: found.runs.map(({ run }) => run.id) };
}

const fleet = [
  { id: 'sync.1', target: 'site-1', label: 'https://shop.example' },
  { id: 'sync.2', target: 'site-1', label: 'https://shop.example' },
  { id: 'sync.3', target: 'site-11', label: 'https://shop.example.org' },
  { id: 'report.1', policy: 'report', target: 'site-1/plugin', label: 'plugin of shop' },
];

test('a site is found by its id or address, with the results of its items, newest first', async () => {
  await worldOf(fleet);
  // Another id begins with this one, and an address may be as written in a browser.
  for (const words of ['site-1', 'https://Shop.example/', 'shop.example'])
    expect(await shown(words)).toMatchObject({ id: 'site-1', runs: ['report.1', 'sync.2', 'sync.1'] });
  // A part of an address is enough for one site.
  expect(await shown('example.org')).toMatchObject({ id: 'site-11' });
  await expect(shown('shop')).rejects.toThrow(
    /^Several sites match "shop": https:\/\/shop\.example \(site-1\), https:\/\/shop\.example\.org \(site-11\)\. Give an id\.$/,
  );
  await expect(shown('nothing')).rejects.toThrow('No site, and no target of a stored run, has "nothing"');
});

test('a person with limits sees no site and no result that the limits do not cover', async () => {
  await worldOf(fleet);
  const reports: Grants = [{ role: 'viewer', policies: ['report'] }];
  expect(await shown('plugin of shop', reports)).toMatchObject({ id: 'site-1', runs: ['report.1'] });
  await expect(shown('site-11', reports)).rejects.toThrow('No site');
  await world.records.sites.replace('default', NOON, [
    { id: 'site-5', url: 'https://five.example', title: '' },
  ]);
  expect(await shown('five.example')).toMatchObject({ id: 'site-5' });
  await expect(shown('five.example', reports)).rejects.toThrow('No site');
  await expect(shown('shop', reports)).resolves.toMatchObject({ id: 'site-1' });
});

test('a site that no run has worked on is found, with what the service showed, its policies and freezes', async () => {
  await worldOf([]);
  const { records } = world;
  policies = [aPolicy('sync'), aPolicy('reports'), aPolicy('other', { account: 'second' })];
  const site = {
    id: 'site-5',
    url: 'https://five.example',
    title: 'Five',
    client: { id: 'c', name: 'Acme' },
  };
  await records.sites.replace('default', NOON, [site]);
  await records.previews.keep('sync', {
    ...{
      at: NOON,
      by: 'ana',
      hash: 'sync',
      list: 'listSites',
      targets: [],
      settled: [],
      reasons: [],
      batches: [],
    },
    ...{ warnings: [], counts: { targets: 0, settled: 0, excluded: 1 } },
    excluded: [{ id: 'site-5', label: 'five', why: 'It is locked.' }],
    cost: { planning: 1, acting: 0, following: 0, pastRuns: 0, atLeastMs: 0, takesMs: 0, runsBeside: 0 },
  });
  const freeze = { at: NOON, by: 'ana', until: NOON + HOUR };
  await records.freeze.add({ ...freeze, scope: { client: 'acme' } });
  await records.freeze.add({ ...freeze, scope: { client: 'another' } });

  const found = await shown('five');

  expect(found).toMatchObject({ id: 'site-5', site, readAt: NOON, runs: [] });
  expect(found.freezes).toEqual([expect.stringMatching(/^the client "acme": frozen by ana from/)]);
  expect(found.policies).toEqual([{ policy: 'sync', planned: { at: NOON, what: 'It is locked.' } }]);
});

test('what a check reports about a site as a target of its own is on the site', async () => {
  await worldOf([
    { id: 'sync.1', target: 'site-1', label: 'https://shop.example' },
    { id: 'check.1', policy: 'check', target: 'site:site-1', label: 'https://shop.example' },
  ]);
  await findIn(world.records, { at: NOON, policy: 'check', found: [{ target: 'site:site-1' }] });

  const found = await shown('shop.example');

  expect(found).toMatchObject({ id: 'site-1', runs: ['check.1', 'sync.1'] });
  expect(found.findings).toHaveLength(1);
});
