/** External storage to which backups are uploaded (spec 4.4). */
import {
  providers,
  type BackupDestination as ShownDestination,
} from '../../contract/operations/backup-destinations.ts';
import type { Destination, Provider } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { cannot, notFound, Refusal } from '../refusal.ts';
import { randomFrom, seedOf } from '../world/numbers.ts';
import { type Handler, shown, shownOrNull } from './handler.ts';

/** The view of a storage provider and its saved destination (spec 2.4). */
const labels: Record<Provider, string> = { provider_one: 'Provider One', provider_two: 'Provider Two' };

/** A saved destination. Only provider_two has a folder. */
export const destinationView = (destination: Destination): ShownDestination => {
  const { account, folder, error } = destination;
  return {
    id: destination.id,
    provider: destination.provider,
    provider_label: labels[destination.provider],
    name: destination.name,
    status: destination.status,
    connected: account !== null,
    email: account?.email ?? null,
    provider_account_id: account?.id ?? null,
    provider_metadata: folder ? { folder_id: folder.id, folder_name: folder.name } : {},
    config: folder ? { folder_policy: 'per_site', folder_name: folder.name } : {},
    last_tested_at: shownOrNull(destination.testedAt),
    last_error_code: error?.code ?? null,
    last_error_message: error?.message ?? null,
    created_at: shown(destination.createdAt),
    updated_at: shown(destination.updatedAt),
  };
};

/** A provider without a saved destination. */
export const unsavedView = (provider: Provider): ShownDestination => ({
  id: null,
  provider,
  provider_label: labels[provider],
  name: null,
  status: 'inactive',
  connected: false,
  email: null,
  provider_account_id: null,
  provider_metadata: {},
  config: {},
  last_tested_at: null,
  last_error_code: null,
  last_error_message: null,
  created_at: null,
  updated_at: null,
});

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

const usable = ({ storage }: World): Provider[] =>
  providers.filter((provider) => !storage.disabled.has(provider));

/** The saved destination with this id, or for the provider with this name; none of a disabled provider. */
function savedUnder(world: World, id: string): Destination | undefined {
  return usable(world)
    .flatMap((provider) => world.storage.saved.get(provider) ?? [])
    .find((destination) => destination.id === id || destination.provider === id);
}

function destinationOf(world: World, id: string): Destination {
  const saved = savedUnder(world, id);
  if (!saved) throw notFound('saved backup destination', id);
  return saved;
}

const viewOf = (world: World, provider: Provider) => {
  const saved = world.storage.saved.get(provider);
  return saved ? destinationView(saved) : unsavedView(provider);
};

export const listBackupDestinations: Handler<'listBackupDestinations'> = ({ world }) => ({
  backup_destinations: usable(world).map((provider) => viewOf(world, provider)),
});

export const showBackupDestination: Handler<'showBackupDestination'> = ({ world, params }) => {
  const id = params.backup_destination_id;
  const saved = savedUnder(world, id);
  const provider = saved?.provider ?? usable(world).find((one) => one === id);
  if (!provider) throw notFound('backup destination', id);
  return { backup_destination: viewOf(world, provider) };
};

export const testBackupDestination: Handler<'testBackupDestination'> = ({ world, now, params, changed }) => {
  const destination = destinationOf(world, params.backup_destination_id);
  testStorage(world, destination, now);
  changed(destination.id);
  return { backup_destination: destinationView(destination) };
};

export const disconnectBackupDestination: Handler<'disconnectBackupDestination'> = (ask) => {
  const { world, now, params, changed } = ask;
  const destination = destinationOf(world, params.backup_destination_id);
  if (disconnect(destination, now)) changed(destination.id);
  return { backup_destination: destinationView(destination) };
};
