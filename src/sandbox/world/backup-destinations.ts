/** Storage outside the service, one saved destination a provider at most (spec 2.4). */

import type { Destination } from '../model/backup-destinations.ts';
import type { World } from '../model/world.ts';
import { cannot, Refusal } from '../refusal.ts';
import { randomFrom, seedOf } from './random.ts';

/**
 * Active -> inactive; what was known of the storage account is forgotten. Returns whether anything was
 * connected.
 */
export function disconnect(destination: Destination, at: number): boolean {
  if (destination.account === null) return false;
  Object.assign(destination, {
    status: 'inactive',
    account: null,
    folder: null,
    testedAt: null,
    updatedAt: at,
  });
  return true;
}

/**
 * Looks whether the storage answers, and refreshes what is known of it.
 *
 * @throws {Refusal} 503 while the provider is down; 422 when there is no account any more to test.
 */
export function testStorage({ storage, luck, seed }: World, destination: Destination, at: number): void {
  if (storage.down || randomFrom(seedOf(seed, `storage ${at}`)).next() < luck.storageDown) {
    throw new Refusal(503, 'storage_unavailable', 'The storage provider is temporarily unavailable.');
  }
  if (destination.account === null) {
    throw cannot('destination_disconnected', 'The destination is disconnected: connect it in the dashboard.');
  }
  Object.assign(destination, { status: 'active', testedAt: at, error: null, updatedAt: at });
}
