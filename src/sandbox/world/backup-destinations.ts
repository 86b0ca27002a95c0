/** External storage, at most one saved destination per provider (spec 2.4). */

import type { Destination } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { cannot, Refusal } from '../refusal.ts';
import { randomFrom, seedOf } from './random.ts';

/** Active -> inactive; deletes the data of the storage account. Returns whether it was connected. */
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
 * Checks whether the storage answers, and updates its status.
 *
 * @throws {Refusal} 503 while the provider is down; 422 when no account is connected.
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
