/**
 * Syncs that end within a second of the account's time, for tests of which their duration is no part. A sync of the
 * sandbox takes up to 90 seconds, and a supervisor makes a round for each of them.
 */
import type { WorldOptions } from './caretaker.ts';

type Before = NonNullable<WorldOptions['before']>;

/** `startWorld({ before: quickSyncs })` */
export const quickSyncs: Before = async ({ sandbox }) => {
  for (const id of sandbox.siteIds()) sandbox.site(id).syncTakes(1_000);
};

/** Also makes every site one that can be synced. */
export const healthySites: Before = async (parts) => {
  await quickSyncs(parts);
  for (const id of parts.sandbox.siteIds()) {
    const site = parts.sandbox.site(id);
    site.connect();
    site.pause(false);
    site.lock(false);
    site.underMaintenance(false);
  }
};
