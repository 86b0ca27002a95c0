/**
 * Changes of the account's settings, carried out at its sites, one change after the other: each is a task of
 * type `settingop`, and while it runs another change is a conflict (spec 4.6, 7).
 */

import type { World } from '../model/world.ts';
import { conflict } from '../refusal.ts';
import { MINUTE, SECOND } from './service-time.ts';
import { startTask } from './tasks.ts';

const TAKES_AT_A_SITE_MS = 5 * SECOND;
const TAKES_AT_LEAST_MS = 30 * SECOND;
const TAKES_AT_MOST_MS = 10 * MINUTE;

/** @throws {Refusal} 409 while a change is in progress. */
export function requireNoSettingChange({ branding, tasks }: World): void {
  const task = branding.taskId === null ? undefined : tasks.get(branding.taskId);
  if (task && task.endedAt === null) {
    throw conflict('setting_update_in_progress', 'Another setting update is in progress.');
  }
}

/** Starts a change at all connected sites. Does nothing without any. */
export function startSettingChange(world: World, now: number): void {
  const input = [...world.sites.values()].filter((site) => site.connected).map(({ id }) => ({ id }));
  if (input.length === 0) return;
  const takesMs = Math.min(TAKES_AT_MOST_MS, Math.max(TAKES_AT_LEAST_MS, input.length * TAKES_AT_A_SITE_MS));
  world.branding.taskId = startTask(world, { type: 'settingop', input, takesMs }, now).id;
}
