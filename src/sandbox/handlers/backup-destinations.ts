/** External storage to which backups are uploaded (spec 4.4). */
import { providers } from '../../contract/resources/backup-destination.ts';
import type { Destination, Provider } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { notFound } from '../refusal.ts';
import { destinationView, unsavedView } from '../views/account.ts';
import { disconnect, testStorage } from '../world/account.ts';
import type { Handler } from './handler.ts';

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
