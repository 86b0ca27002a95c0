/** Changes of one site's configuration, which are carried out one after the other (spec 4.18, 7). */

import type { Site } from '../model/site.ts';
import { conflict } from '../refusal.ts';
import { SECOND } from './service-time.ts';

/** How long a change is being carried out; what it changes is shown at once. */
const TAKES_MS = 10 * SECOND;

/**
 * Begins a change of the site's configuration.
 *
 * @throws {Refusal} 409 while another one is being carried out.
 */
export function configure(site: Site, at: number): void {
  requireUnconfigured(site, at);
  site.configuringUntil = at + TAKES_MS;
  site.updatedAt = at;
}

/** @throws {Refusal} 409 while a change of the site's configuration is being carried out. */
export function requireUnconfigured(site: Site, at: number): void {
  if (at < site.configuringUntil) {
    throw conflict(
      'site_configuration_in_progress',
      "Another change of the site's configuration is running.",
    );
  }
}
