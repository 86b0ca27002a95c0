/**
 * Every effect of every job, interrupted at each of its steps by a worker that is lost there. Another worker takes over,
 * and the account has each effect once.
 */
import { expect } from 'vitest';
import { reportDispatch } from '../../jobs/report-dispatch/job.ts';
import { siteSync } from '../../jobs/site-sync/job.ts';
import { stagingCleanup } from '../../jobs/staging-cleanup/job.ts';
import { updateCheck } from '../../jobs/update-check/job.ts';
import { updateRings } from '../../jobs/update-rings/job.ts';
import type { OperationId } from '../../src/contract/operations.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World, type WorldOptions } from '../support/caretaker.ts';
import { type dieAt, endDying, steps } from '../support/dying.ts';
import { applyPlanOf } from '../support/saved-plans.ts';

export interface Scenario {
  /** The effect that is interrupted. */
  operation: OperationId;
  policy: () => Partial<Policy>;
  /** Prepares the world so that the policy has at least as many such effects as there are steps. */
  prepare?(): Promise<void> | void;
  /** The expected number of effects, if each has a different id in the journal. */
  times?: number;
  /** The run applies a saved plan. */
  applied?: true;
}

const person = { requestClass: 'person' } as const;
const reports = () => ({
  job: 'report-dispatch',
  options: reportDispatch.options.parse({
    template: { name: 'Monthly care' },
    period: 'last_week',
    recipients: ['owner@agency.example'],
  }),
});
const staging = (options: object) => () => ({
  job: 'staging-cleanup',
  options: stagingCleanup.options.parse({ action: 'delete', older_than: '14d', ...options }),
});

/** A ring for each site. */
const rings = () => ({
  job: 'update-rings',
  options: updateRings.options.parse({
    rings: Array.from({ length: steps.length }, (_, i) => ({
      name: `ring-${i}`,
      where: `site.id == "site-000${i + 1}"`,
    })),
    native: { backup: false },
  }),
});

/** One copy of each site, this many days old. */
function copies(daysAgo: number) {
  world.sandbox.staging.clear();
  for (const id of world.sandbox.siteIds()) world.sandbox.staging.make(id, daysAgo);
}

async function pausedSchedules() {
  const { client } = world.caretaker.link('default');
  for (const id of world.sandbox.siteIds()) {
    const auto_update_schedule = {
      name: `Plugins of ${id}`,
      schedule: 'daily' as const,
      started_at: '2099-01-01T05:00:00.000Z',
      scope: {
        sites: { selection: 'specific' as const, ids: [id] },
        updates: { wordpress_core: true },
      },
    };
    const made = await client.call('createAutoUpdateSchedule', { body: { auto_update_schedule } }, person);
    const schedule = { auto_update_schedule_id: made.auto_update_schedule.id };
    await client.call('disableAutoUpdateSchedule', schedule, person);
  }
}

/** Effects on sites, and on reports about them. */
export const ofSites: Record<string, Scenario> = {
  'api-call leaves a note': {
    operation: 'createSiteNote',
    policy: () => ({
      job: 'api-call',
      select: { from: 'listSites', filters: {} },
      options: { operation: 'createSiteNote', body: { note: { content: 'Leader.' } } },
    }),
    times: steps.length,
  },
  'api-call leaves a note that is made once': {
    operation: 'createSiteNote',
    policy: () => ({
      job: 'api-call',
      select: { from: 'listSites', filters: {} },
      options: { operation: 'createSiteNote', body: { note: { content: 'Leader.' } }, once: 'welcome' },
    }),
    times: steps.length,
  },
  'report-dispatch has a report made': { operation: 'createReport', policy: reports, times: steps.length },
  'report-dispatch sends a report': {
    operation: 'sendReportEmail',
    policy: reports,
    prepare: () => world.sandbox.mail.takes({ reportMs: 1_000, deliveryMs: 1_000 }),
    times: steps.length,
  },
  'site-sync starts a sync': { operation: 'syncSite', policy: () => ({ job: 'site-sync' }) },
  'site-sync moves a daily sync': {
    operation: 'updateSite',
    policy: () => ({
      job: 'site-sync',
      options: siteSync.options.parse({
        mode: 'stale',
        max_age: '10000d',
        spread_daily_sync: { from: '01:00', to: '02:00' },
      }),
    }),
  },
};

/** Effects on schedules and staging copies. */
export const ofTheRest: Record<string, Scenario> = {
  'update-check enables a schedule': {
    operation: 'enableAutoUpdateSchedule',
    policy: () => ({
      job: 'update-check',
      options: updateCheck.options.parse({ enable_paused: true, fail_on: [] }),
    }),
    prepare: pausedSchedules,
  },
  'update-rings makes the schedules of its rings': { operation: 'createAutoUpdateSchedule', policy: rings },
  'staging-cleanup announces a deletion': {
    operation: 'createSiteNote',
    policy: staging({}),
    prepare: () => copies(15),
    times: steps.length,
  },
  'staging-cleanup deletes a copy': {
    operation: 'deleteStagingSite',
    policy: staging({ grace: 0 }),
    prepare: () => copies(15),
  },
  'staging-cleanup extends a copy': {
    operation: 'extendStagingSiteExpiry',
    policy: staging({ action: 'extend', older_than: undefined, expires_within: '3d', days: 7 }),
    prepare: () => copies(12),
  },
};

const sampled = [
  'api-call leaves a note that is made once',
  'site-sync starts a sync',
  'report-dispatch sends a report',
  'staging-cleanup deletes a copy',
];
const all = Object.entries({ ...ofSites, ...ofTheRest });
/** An effect that is found in notes, one that is followed, one after another, and one that cannot be undone. */
export const sample = Object.fromEntries(all.filter(([name]) => sampled.includes(name)));
/** The others. */
export const beyondSample = Object.fromEntries(all.filter(([name]) => !sampled.includes(name)));

let world: World;

/** Ends the processes and the world of a scenario. */
export async function clear(): Promise<void> {
  endDying();
  await world.stop();
}

/** Has a worker be lost at each step of a scenario's effect, and another one take over. */
export async function cutAtEachStep(
  scenario: Scenario,
  lose: typeof dieAt,
  options: Pick<WorldOptions, 'speedUp'> = {},
): Promise<void> {
  const { operation, policy, prepare, times, applied } = scenario;
  world = await startWorld({ sites: steps.length, work: false, ...options });
  await prepare?.();
  const before = world.sandbox.journal.effectsOf(operation).length;
  const run = applied ? await applyPlanOf(world, aPolicy(policy())) : await world.fire(aPolicy(policy()));

  for (const step of steps) await lose(world, step, operation);
  const working = world.caretaker.engine.work(20);
  const end = await world.ended(run);
  await working.stop();

  const effects = world.sandbox.journal.effectsOf(operation).slice(before);
  expect(effects.length).toBeGreaterThanOrEqual(steps.length);
  if (times !== undefined) expect(effects).toHaveLength(times);
  expect(new Set(effects).size, 'no effect happened twice').toBe(effects.length);
  const ended = JSON.stringify(await world.reasons(run));
  expect(end.counts, ended).toMatchObject({ failed: 0, cancelled: 0 });
}
