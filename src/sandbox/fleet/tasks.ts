/** The background tasks at the start: some have ended, successfully or not, and two are still running. */

import type { Site } from '../model/site.ts';
import type { TaskEnd, TaskInput } from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import type { Random } from '../world/random.ts';
import { DAY, HOUR, MINUTE } from '../world/service-time.ts';
import { startTask } from '../world/tasks.ts';

interface Spec {
  type: string;
  /** How long before the start of the service it began. */
  agoMs: number;
  takesMs: number;
  sites: number;
  ends?: TaskEnd;
}

const specs: readonly Spec[] = [
  { type: 'wp_site_update', agoMs: 6 * DAY, takesMs: 9 * MINUTE, sites: 3 },
  { type: 'download', agoMs: 5 * DAY, takesMs: 4 * MINUTE, sites: 1 },
  { type: 'wp_site_update', agoMs: 4 * DAY, takesMs: 7 * MINUTE, sites: 2, ends: 'failed' },
  { type: 'report', agoMs: 3 * DAY, takesMs: 2 * MINUTE, sites: 1 },
  { type: 'upload', agoMs: 2 * DAY, takesMs: 15 * MINUTE, sites: 1, ends: 'aborted' },
  { type: 'wp_plugin_install', agoMs: DAY, takesMs: MINUTE, sites: 1 },
  { type: 'wp_site_update', agoMs: 5 * MINUTE, takesMs: 2 * HOUR, sites: 4 },
  { type: 'download', agoMs: MINUTE, takesMs: 30 * MINUTE, sites: 1 },
];

/** Starts them in the past, oldest first. Settling the world then brings them up to date. */
export function generateTasks(world: World, random: Random): void {
  const connected = [...world.sites.values()].filter((site) => site.connected);
  if (connected.length === 0) return;
  for (const { agoMs, sites, ...order } of specs) {
    const chosen = random.shuffle(connected.slice(0, 50)).slice(0, sites);
    const input = chosen.map((site) => inputOf(order.type, site));
    startTask(world, { ...order, input }, world.startedAt - agoMs);
  }
}

function inputOf(type: string, site: Site): TaskInput {
  if (type !== 'wp_site_update') return { id: site.id };
  const plugin = {
    name: 'Contact Form',
    current_version: '5.9.7',
    target_version: '5.9.8',
    slug: 'contact-form',
    filename: 'contact-form/contact-form.php',
  };
  const options = { backup: true, visual_regression: false, sandbox: false };
  return { id: site.id, options, plugins: [plugin] };
}
