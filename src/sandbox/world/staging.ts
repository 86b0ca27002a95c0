/**
 * Staging copies of sites (spec 2.16): initializing -> active; paused without use, suspended when expired,
 * and deleted some days later. The spec shows only "resume".
 */

import type { StagingPlan, StagingSite } from '../model/site.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';
import { idOf, nextNumber } from './ids.ts';
import { DAY, MINUTE } from './service-time.ts';

const READY_AFTER = 2 * MINUTE;
const LIVES_FOR = 14 * DAY;
const PAUSED_AFTER = 3 * DAY;
const REMOVED_AFTER = 7 * DAY;
/** The maximum age of a copy in days, however often it is extended. */
export const MAX_LIFE_DAYS = 30;

/** The versions of PHP that a copy can run on. */
export const PHP_VERSIONS: readonly string[] = ['7.4', '8.0', '8.1', '8.2', '8.3', '8.4'];

/** Adds a copy to the list, in status initializing. */
export function addStaging(world: World, plan: StagingPlan, at: number): StagingSite {
  const number = nextNumber(world, 'staging');
  const { siteId, siteUrl, ...rest } = plan;
  const staging: StagingSite = {
    id: idOf('staging', number),
    number,
    siteId,
    status: 'initializing',
    url: `https://${new URL(siteUrl).host.split('.')[0] ?? 'copy'}-${number}.staging.example`,
    ...rest,
    createdAt: at,
    updatedAt: at,
    expiresAt: at + LIVES_FOR,
    usedAt: at,
  };
  world.staging.set(staging.id, staging);
  world.agenda.add(at + READY_AFTER, { does: 'age-staging', staging: staging.id });
  return staging;
}

/** Updates the status of a copy, and schedules the next time at which it may change. */
export function ageStaging(world: World, id: string, at: number): void {
  const staging = world.staging.get(id);
  if (!staging) return;
  if (at >= staging.expiresAt + REMOVED_AFTER) {
    world.staging.delete(id);
    return;
  }
  const status = statusAt(staging, at);
  if (status !== staging.status) Object.assign(staging, { status, updatedAt: at });
  scheduleNext(world, staging, at);
}

function statusAt(staging: StagingSite, at: number): StagingSite['status'] {
  if (at >= staging.expiresAt) return 'suspended';
  if (staging.status === 'initializing')
    return at >= staging.createdAt + READY_AFTER ? 'active' : 'initializing';
  if (staging.status === 'active' && at >= staging.usedAt + PAUSED_AFTER) return 'paused';
  return staging.status;
}

/** Duplicate entries for the same time are harmless: the second one only schedules again. */
function scheduleNext(world: World, { id, expiresAt, usedAt, status }: StagingSite, at: number): void {
  const times = [
    expiresAt,
    expiresAt + REMOVED_AFTER,
    ...(status === 'active' ? [usedAt + PAUSED_AFTER] : []),
  ];
  const next = Math.min(...times.filter((time) => time > at));
  if (Number.isFinite(next)) world.agenda.add(next, { does: 'age-staging', staging: id });
}

/** Records a use of the copy, so that it is not paused for some days. */
export function useStaging(world: World, staging: StagingSite, at: number): void {
  staging.usedAt = at;
  scheduleNext(world, staging, at);
}

/** Paused -> active. @throws {Refusal} 422 from any other state. */
export function resume(world: World, staging: StagingSite, at: number): void {
  if (staging.status !== 'paused') {
    throw cannot('staging_not_paused', `The staging site is ${staging.status}, not paused.`);
  }
  Object.assign(staging, { status: 'active', updatedAt: at });
  useStaging(world, staging, at);
}

/**
 * Extends the life of a copy by `days`; a suspended copy becomes active.
 *
 * @throws {Refusal} 422 for an invalid number of days, or beyond the maximum age.
 */
export function extend(world: World, staging: StagingSite, days: number, at: number): void {
  if (days < 1 || days > MAX_LIFE_DAYS) {
    throw cannot('invalid_days', `A staging site is extended by 1 to ${MAX_LIFE_DAYS} days.`);
  }
  const expiresAt = Math.max(staging.expiresAt, at) + days * DAY;
  if (expiresAt > staging.createdAt + MAX_LIFE_DAYS * DAY) {
    throw cannot('staging_expiry_limit', `A staging site lives for ${MAX_LIFE_DAYS} days at most.`);
  }
  const status = staging.status === 'suspended' ? 'active' : staging.status;
  Object.assign(staging, { status, expiresAt, updatedAt: at });
  useStaging(world, staging, at);
}

/** @throws {Refusal} 422 unless the copy is active. */
export function requireRunning(staging: StagingSite): void {
  if (staging.status === 'active') return;
  throw cannot('staging_not_active', `The staging site is ${staging.status}, not active.`);
}

/** Applies the result of a task that changes the PHP version of a copy. */
export function setPhp(world: World, id: string, phpVersion: string, at: number): void {
  const staging = world.staging.get(id);
  if (staging) Object.assign(staging, { phpVersion, updatedAt: at });
}
