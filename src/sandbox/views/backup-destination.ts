/** The view of a storage provider and its saved destination (spec 2.4). */
import type { BackupDestination as Shown } from '../../contract/resources/backup-destination.ts';
import type { Destination, Provider } from '../model/backup-destinations.ts';
import { shown, shownOrNull } from './timestamp.ts';

const labels: Record<Provider, string> = { provider_one: 'Provider One', provider_two: 'Provider Two' };

/** A saved destination. Only provider_two has a folder. */
export const destinationView = (destination: Destination): Shown => {
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
export const unsavedView = (provider: Provider): Shown => ({
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
