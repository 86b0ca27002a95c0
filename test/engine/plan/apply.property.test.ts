/**
 * Whatever changes in the account between a plan and its application, a subset of the planned requests is sent, as
 * they were planned, and every difference is reported.
 *
 * CARETAKER_PROPERTY_RUNS sets how many cases are tried; by default few enough for every test run.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { siteSync } from '../../../jobs/site-sync/job.ts';
import { requestOf } from '../../../src/contract/input.ts';
import { operationOf } from '../../../src/contract/operations.ts';
import type { SavedPlan } from '../../../src/engine/plan/saved-plan.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { Refusal } from '../../../src/sandbox/refusal.ts';
import { canonicalJson } from '../../../src/text.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { sampleOf } from '../../support/sample.ts';
import { applySaved, savePlanOf } from '../../support/saved-plans.ts';
import { call, tagged } from '../person.ts';

const SITES = 5;
const RUNS = Number(process.env['CARETAKER_PROPERTY_RUNS'] ?? sampleOf(3, 24));
const HOUR = 3_600_000;

let world: World;
/** What was sent, and what of it the service has carried out; as canonical JSON. */
let sent: string[] = [];
let made: string[] = [];
let tag = '';
beforeAll(async () => {
  world = await startWorld({ sites: SITES, speedUp: 240, before: quickSyncs });
  tag = await tagged(world, 'Chosen', []);
  around(world.caretaker.link('default').client, 'call', async (call, operation, input, options) => {
    if (operationOf(operation).effect === undefined || options.requestClass === 'person') return call();
    const request = canonicalJson(requestOf(operation, input));
    const { beforeSend } = options;
    const noted = async () => {
      sent.push(request);
      return beforeSend?.();
    };
    Object.assign(options, { beforeSend: noted });
    const answer = await call();
    made.push(request);
    return answer;
  });
});
afterAll(() => world.stop());

const ids = () => world.sandbox.siteIds().slice(0, SITES);
const site = (at: number) => world.sandbox.site(ids()[at % SITES] ?? '');
const assign = (operation: 'assignTag' | 'removeTag', at: number) =>
  call(world, operation, { tag_id: tag, body: { site_ids: [ids()[at % SITES] ?? ''] } });

/** The service refuses it for a site that is locked, paused, or has no syncs left today. */
function startSync(at: number): void {
  try {
    site(at).startSync();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}

/** What may happen to a site between plan and application. */
const changes: Record<string, (at: number) => unknown> = {
  pause: (at) => site(at).pause(true),
  lock: (at) => site(at).lock(true),
  disconnect: (at) => site(at).disconnect(),
  move: (at) => site(at).isCalled({ url: `https://moved-${at}.example` }),
  rename: (at) => site(at).isCalled({ title: 'Renamed' }),
  'sync began': (at) => startSync(at),
  'sync ended': (at) => site(at).lastSynced(HOUR),
  'sync failed': (at) => site(at).lastSynced(HOUR, 'No space left'),
  maintenance: (at) => site(at).underMaintenance(true),
  'no syncs left': (at) => site(at).useUpDailySyncs(),
  tag: (at) => assign('assignTag', at),
  untag: (at) => assign('removeTag', at),
  'time passes': () => world.clock.leap(3 * HOUR),
};

/** Every site as it was at the start. */
async function restore() {
  for (const [at, id] of ids().entries()) {
    const one = world.sandbox.site(id);
    one.connect();
    one.pause(false);
    one.lock(false);
    one.underMaintenance(false);
    one.isCalled({ url: `https://site-${at}.example`, title: `Site ${at}` });
    if (one.state().syncInProgress) one.finishSync();
    one.lastSynced((30 + at) * HOUR);
    await assign(at % 2 === 0 ? 'assignTag' : 'removeTag', at);
  }
}

const note = { operation: 'createSiteNote', body: { note: { content: { cel: '"For " + site.url' } } } };
const policies: Record<string, Partial<Policy>> = {
  'a note for each site with a tag': {
    job: 'api-call',
    select: {
      from: 'listSites',
      filters: { connection_status: { eq: 'connected' } },
      where: '!site.locked && site.tags.exists(t, t.name == "Chosen")',
    },
    options: note,
  },
  'a sync of each stale site, and its daily sync is moved': {
    options: siteSync.options.parse({
      mode: 'stale',
      max_age: '20h',
      spread_daily_sync: { from: '01:00', to: '05:00' },
    }),
  },
  'a note, then a sync, of sites with an old sync': {
    job: 'api-call, site-sync',
    select: { from: 'listSites', filters: {}, where: 'site.sync.last_sync_at < now - duration("24h")' },
    steps: [
      { name: 'note', job: 'api-call' },
      { name: 'sync', job: 'site-sync' },
    ],
    options: [note, { mode: 'all' }],
  },
};

/** A case in which a target differs: among few random ones there may be none. */
const movedPolicy = 'a note for each site with a tag';

const cases = fc.record({
  policy: fc.constantFrom(...Object.keys(policies)),
  happens: fc.array(fc.tuple(fc.constantFrom(...Object.keys(changes)), fc.nat(SITES - 1)), { maxLength: 6 }),
});

/** What was sent that the plan does not have, and what was carried out more often than the plan has it. */
function notPlanned({ targets }: SavedPlan): string[] {
  const left = targets.flatMap(({ requests }) => requests.map((request) => canonicalJson(request)));
  const strange = sent.filter((request) => !left.includes(request));
  const tooOften = made.filter((request) => {
    const at = left.indexOf(request);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return [...strange, ...tooOften];
}

const changedReason = 'changed-since-plan';

/** The targets that a new plan has with other preconditions. */
async function changedSince({ targets }: SavedPlan, policy: string): Promise<Set<string>> {
  const now = await savePlanOf(world, aPolicy(policies[policy]));
  const known = new Map(now.targets.map(({ id, preconditions }) => [id, canonicalJson(preconditions)]));
  // A site may only have left the plan because time has passed: that is no difference.
  const isSame = ({ id, preconditions }: SavedPlan['targets'][number]) =>
    !known.has(id) || known.get(id) === canonicalJson(preconditions);
  return new Set(targets.filter((target) => !isSame(target)).map(({ id }) => id));
}

test('apply sends a subset of the plan, as it was planned, and reports each target that it left out', {
  timeout: 600_000,
}, async () => {
  let leftOut = 0;
  await fc.assert(
    fc.asyncProperty(cases, async ({ policy, happens }) => {
      await restore();
      const saved = await savePlanOf(world, aPolicy(policies[policy]));
      fc.pre(saved.targets.length > 0);
      for (const [what, at] of happens) await changes[what]?.(at);
      const differ = await changedSince(saved, policy);
      [sent, made] = [[], []];

      const run = await applySaved(world, saved);
      await world.ended(run);

      expect(notPlanned(saved)).toEqual([]);
      const ended = new Map((await world.targets(run)).map((target) => [target.id, target]));
      expect([...ended.keys()].sort()).toEqual(saved.targets.map(({ id }) => id).sort());
      for (const { id, requests } of saved.targets) {
        const target = ended.get(id);
        const own = made.filter((request) => request.includes(`"site_id":"${id}"`)).length;
        // A target that was skipped says what differs, or what the service answered.
        if (target?.outcome === 'skipped') expect(target.detail).toMatch(/\S/);
        if (target?.reason === changedReason) expect(own).toBeLessThan(requests.length);
        if (!differ.has(id)) continue;
        leftOut += 1;
        expect({ id, reason: target?.reason, own }).toEqual({ id, reason: changedReason, own: 0 });
      }
    }),
    { numRuns: RUNS, endOnFailure: true, examples: [[{ policy: movedPolicy, happens: [['move', 0]] }]] },
  );
  expect(leftOut, 'changed targets in all cases').toBeGreaterThan(0);
});
