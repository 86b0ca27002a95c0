import type { ActivityLogEntry } from '../../contract/resources/activity-log.ts';
import type { BackupDestination as ShownDestination } from '../../contract/resources/backup-destination.ts';
import type { Client as ShownClient } from '../../contract/resources/client.ts';
import type { CustomWork as ShownWork } from '../../contract/resources/custom-work.ts';
import type { ManagedAccount as ShownAccount } from '../../contract/resources/managed-account.ts';
import type { Note as ShownNote, NoteVersion as ShownVersion } from '../../contract/resources/note.ts';
import type { Tag as ShownTag } from '../../contract/resources/tag.ts';
import type { TeamMember as ShownMember } from '../../contract/resources/team-member.ts';
import type {
  ActivityEntry,
  Client,
  CustomWork,
  Destination,
  ManagedAccount,
  Note,
  NoteVersion,
  Provider,
  Tag,
  TeamMember,
} from '../model/account.ts';

/** A time in the format of the service (spec 1.2), or null if there is none. */
export const shown = (at: number): string => new Date(at).toISOString();
export const shownOrNull = (at: number | null): string | null => (at === null ? null : shown(at));

/** The view of a client (spec 2.2). */
export const clientView = (client: Client): ShownClient => ({
  id: client.id,
  ...client.fields,
  site_ids: [...client.siteIds],
  created_at: shown(client.createdAt),
  updated_at: shown(client.updatedAt),
});

/** The view of a tag (spec 2.15). */
export const tagView = (tag: Tag): ShownTag => ({
  id: tag.id,
  name: tag.name,
  color: tag.color,
  site_ids: [...tag.siteIds],
  created_at: shown(tag.createdAt),
  updated_at: shown(tag.updatedAt),
});

/** The view of a team member or an invitation (spec 2.14). */
export const teamMemberView = ({ fields, ...member }: TeamMember): ShownMember => ({
  id: member.id,
  name: fields.name,
  email: fields.email,
  company_name: fields.companyName,
  note: fields.note,
  role: fields.role,
  status: member.status,
  all_sites_access: fields.allSitesAccess,
  site_ids: [...fields.siteIds],
  two_fa_enabled: member.twoFa,
  created_at: shown(member.createdAt),
  updated_at: shown(member.updatedAt),
});

/** The view of a managed account (spec 2.3). */
export const managedAccountView = (account: ManagedAccount): ShownAccount => ({
  id: account.id,
  email: account.email,
  role: account.role,
  company_name: account.companyName,
  status: account.status,
  all_sites_access: account.allSitesAccess,
  created_at: shown(account.createdAt),
  updated_at: shown(account.updatedAt),
});

/** The view of a custom work entry (spec 2.18). */
export const customWorkView = (work: CustomWork): ShownWork => ({
  id: work.id,
  title: work.title,
  description: work.description,
  performed_on: work.performedOn,
  created_at: shown(work.createdAt),
  updated_at: shown(work.updatedAt),
});

/** The views of a note and its earlier versions (spec 2.19). */
export const noteView = (note: Note): ShownNote => ({
  id: note.id,
  content: note.content,
  user: { ...note.user },
  versions: { available: note.versions.length > 0 },
  created_at: shown(note.createdAt),
  updated_at: shown(note.updatedAt),
});

/** Both timestamps of a version are the time when its content was written. */
export const noteVersionView = (version: NoteVersion): ShownVersion => ({
  id: version.id,
  content: version.content,
  user: { ...version.user },
  created_at: shown(version.at),
  updated_at: shown(version.at),
});

/** The view of an entry of a site's activity log (spec 2.20). */
export const activityView = (entry: ActivityEntry): ActivityLogEntry => ({
  id: entry.id,
  username: entry.username,
  ip_address: entry.ipAddress,
  country_code: entry.countryCode,
  object_type: entry.objectType,
  event_type: entry.eventType,
  event_details: { ...entry.details },
  timestamp: shown(entry.at),
});

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
