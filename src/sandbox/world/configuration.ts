/** Changes of one site's configuration, one after the other (spec 4.18, 7). */

import type { Site } from '../model/site.ts';
import { conflict } from '../refusal.ts';
import { SECOND } from './service-time.ts';

/** The duration of a change. Its result is visible immediately. */
const TAKES_MS = 10 * SECOND;

/**
 * Begins a change of the site's configuration.
 *
 * @throws {Refusal} 409 while another one is in progress.
 */
export function configure(site: Site, at: number): void {
  requireUnconfigured(site, at);
  site.configuringUntil = at + TAKES_MS;
  site.updatedAt = at;
}

/** @throws {Refusal} 409 while a change of the site's configuration is in progress. */
export function requireUnconfigured(site: Site, at: number): void {
  if (at < site.configuringUntil) {
    throw conflict(
      'site_configuration_in_progress',
      "Another change of the site's configuration is running.",
    );
  }
}
