/**
 * Where an item of a list shows the value of each filter and sort of the list. Does not compile if one of the
 * contract is missing.
 */
import type { List } from '../contract/list.ts';
import type { Item, ListId, Operations } from '../contract/operations.ts';
import type { FieldValue } from '../sandbox/list.ts';

type ListOf<Id extends ListId> = Operations[Id] extends { list: infer L extends List } ? L : never;

/** Undefined: the item does not show it. */
type Read<Id extends ListId> = (item: Item<Id>, account: Account) => FieldValue | undefined;

/** What a filter may need in addition to the item. */
export interface Account {
  /** The ids of all sites. */
  siteIds: readonly string[];
}

export type Readers<Id extends ListId> = {
  readonly [F in (keyof ListOf<Id>['filters'] & string) | ListOf<Id>['sorts'][number]]: Read<Id>;
};

const time = (timestamp: string | null | undefined): number | null | undefined =>
  typeof timestamp === 'string' ? Date.parse(timestamp) : timestamp;

const times = {
  created_at: (item: { created_at?: string | undefined }) => time(item.created_at),
  updated_at: (item: { updated_at?: string | undefined }) => time(item.updated_at),
};

/** The texts among several values: `search` looks through all of them. */
const texts = (...values: unknown[]): string[] =>
  values.flatMap((value) => (value == null ? [] : String(value)));

export const itemFields: { readonly [Id in ListId]: Readers<Id> } = {
  listSites: {
    ...times,
    id: ({ id }) => id,
    paused: ({ sync }) => sync?.paused,
    security: ({ security }) => security?.enabled,
    backups: ({ backups }) => backups?.enabled,
    performance: ({ performance }) => performance?.enabled,
    connection_status: ({ connection }) => connection?.status,
    client_id: ({ client }) => (client === null ? null : client?.id),
    uptime: ({ uptime }) => uptime?.enabled,
    scanner_status: ({ security }) => security?.scanner?.status,
    locked: ({ locked }) => locked,
    php_version: ({ server }) => server?.php_version,
    url: ({ url }) => url,
    last_sync_at: ({ sync }) => time(sync?.last_sync_at),
    tags: ({ tags }) => tags?.map(({ id }) => id),
  },
  listClients: {
    ...times,
    search: ({ first_name, last_name, email, company_name }) =>
      texts(first_name, last_name, email, company_name),
    first_name: ({ first_name }) => first_name,
    last_name: ({ last_name }) => last_name,
    email: ({ email }) => email,
    company_name: ({ company_name }) => company_name,
  },
  listTags: {
    ...times,
    name: ({ name }) => name,
    color: ({ color }) => color,
    site_id: ({ site_ids }) => site_ids,
  },
  listStagingSites: {
    ...times,
    status: ({ status }) => status,
    site_id: ({ site_id }) => site_id,
    expires_at: ({ expires_at }) => time(expires_at),
    php_version: ({ php_version }) => php_version,
  },
  listTasks: {
    ...times,
    status: ({ status }) => status,
    type: ({ type }) => type,
  },
  listReports: {
    type: ({ type }) => type,
    site_id: ({ site }) => site?.id,
    client_id: ({ client }) => (client === null ? null : client?.id),
    sender_email: ({ email }) =>
      email?.sender_email && texts(email.sender_email.email, email.sender_email.id),
    recipient_status: ({ email }) => email?.recipients?.flatMap(({ status }) => status ?? []),
    created_at: times.created_at,
  },
  listReportTemplates: {
    ...times,
    name: ({ name }) => name,
    site_id: ({ site_ids }) => site_ids,
  },
  listScheduledReports: {
    site_id: ({ site }) => site?.id,
    status: ({ status }) => status,
    frequency: ({ frequency }) => frequency,
    created_at: times.created_at,
    next_report_at: ({ next_report_at }) => time(next_report_at),
  },
  listAutoUpdateSchedules: {
    ...times,
    name: ({ name }) => name,
    status: ({ status }) => status,
    schedule: ({ schedule }) => schedule,
    has_backup: ({ options }) => options?.backup,
    has_vr: ({ options }) => options?.visual_regression,
    update_types: ({ scope }) =>
      scope?.updates && [
        ...(scope.updates.wordpress_core ? ['core'] : []),
        ...(scope.updates.plugins ? ['plugin'] : []),
        ...(scope.updates.themes ? ['theme'] : []),
      ],
    site_id: ({ scope }, { siteIds }) => (scope?.sites?.selection === 'all' ? siteIds : scope?.sites?.ids),
    started_at: ({ started_at }) => time(started_at),
    next_update_at: ({ next_update_at }) => time(next_update_at),
  },
  listAutoUpdateHistory: {
    auto_update_schedule_id: ({ auto_update_schedule }) => auto_update_schedule?.id,
    auto_update_schedule_name: ({ auto_update_schedule }) => auto_update_schedule?.name,
    status: ({ status }) => status,
    performed_on: ({ performed_on }) => time(performed_on),
  },
  listTeamMembers: {
    ...times,
    name: ({ name }) => name,
    email: ({ email }) => email,
    company_name: ({ company_name }) => company_name,
    role: ({ role }) => role,
    two_fa_enabled: ({ two_fa_enabled }) => two_fa_enabled,
    status: ({ status }) => status,
  },
  listManagedAccounts: {
    ...times,
    email: ({ email }) => email,
    role: ({ role }) => role,
    company_name: ({ company_name }) => company_name,
    status: ({ status }) => status,
    all_sites_access: ({ all_sites_access }) => all_sites_access,
  },
  listSenderEmails: {
    ...times,
    email: ({ email }) => email,
    name: ({ name }) => name,
    status: ({ status }) => status,
    domain_dkim_verified: ({ domain }) => domain?.dkim?.verified,
    domain_return_path_verified: ({ domain }) => domain?.return_path?.verified,
  },
  listBackupDestinations: {},
  listSiteNotes: {
    ...times,
    user_email: ({ user }) => user?.email,
    content: ({ content }) => content,
  },
  listSiteNoteVersions: {},
  listSiteCustomWorks: {
    ...times,
    search: ({ title, description }) => texts(title, description),
    title: ({ title }) => title,
    description: ({ description }) => description,
    performed_on: ({ performed_on }) => performed_on,
  },
  listSiteActivityLogs: {
    timestamp: ({ timestamp }) => time(timestamp),
    username: ({ username }) => username,
    ip_address: ({ ip_address }) => ip_address,
    object_type: ({ object_type }) => object_type,
    event_type: ({ event_type }) => event_type,
    search: ({ username, ip_address, object_type, event_type, event_details }) =>
      texts(username, ip_address, object_type, event_type, ...Object.values(event_details ?? {})),
  },
  listSiteSnapshots: {
    created_at: times.created_at,
    status: ({ status }) => status,
    scanner_status: ({ security }) => security?.scanner?.status,
    note: ({ note }) => note,
    files_synced: ({ backups }) => backups?.files?.count?.synced,
    tables_synced: ({ backups }) => backups?.database?.count?.synced,
  },
};
