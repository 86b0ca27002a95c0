/**
 * A healthy item of each list: what a test's item has wherever the test gives nothing else. A healthy site is
 * connected, unlocked, up to date, and was synced and backed up three hours ago.
 *
 * `test/offline/healthy-items.test.ts` compares them with the contract: each shows every field of its list.
 */
import type { Item, ListId, OperationId } from '../../contract/operations.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Times relative to the time of the test. */
export interface Times {
  ago(ms: number): string;
  day: string;
}

export const timesAt = (at: number): Times => ({
  ago: (ms) => new Date(at - ms).toISOString(),
  day: new Date(at - DAY).toISOString().slice(0, 10),
});

type Healthy<Id extends ListId> = (id: string, times: Times) => Item<Id>;

const made = ({ ago }: Times) => ({ created_at: ago(400 * DAY), updated_at: ago(3 * HOUR) });
const detections = { files: 0, scripts: 0, cron_jobs: 0 };
const pair = {
  count: { total: 1_000, synced: 1_000, ignored: 0 },
  size: { total: 1_000_000, synced: 1_000_000, ignored: 0 },
};
const dns = { hostname: 'mail.agency.example', value: 'v=1', verified: true };

/** What an id begins with when a test gives none: `site-1`. */
export const idPrefixes: Readonly<Record<ListId, string>> = {
  listSites: 'site',
  listClients: 'client',
  listTags: 'tag',
  listStagingSites: 'staging',
  listTasks: 'task',
  listReports: 'report',
  listReportTemplates: 'template',
  listScheduledReports: 'scheduled-report',
  listAutoUpdateSchedules: 'schedule',
  listAutoUpdateHistory: 'task',
  listTeamMembers: 'member',
  listManagedAccounts: 'account',
  listSenderEmails: 'sender',
  listBackupDestinations: 'destination',
  listSiteNotes: 'note',
  listSiteNoteVersions: 'version',
  listSiteCustomWorks: 'work',
  listSiteActivityLogs: 'event',
  listSiteSnapshots: 'snapshot',
};

export const healthyItems: { readonly [Id in ListId]: Healthy<Id> } = {
  listSites: (id, times) => ({
    id,
    title: id,
    url: `https://${id}.example`,
    home_url: `https://${id}.example`,
    ...made(times),
    client: {
      id: 'client-1',
      first_name: 'Ann',
      last_name: 'Client',
      email: 'ann@client.example',
      company_name: 'Client',
    },
    tags: [],
    server: { hosting: null, mysql_version: '8.0.36', php_version: '8.3.14' },
    sync: {
      last_sync_at: times.ago(3 * HOUR),
      next_sync_at: times.ago(-21 * HOUR),
      last_sync_status: 'succeeded',
      last_sync_error: null,
      interval: 'daily',
      daily_sync_time: '02:00Z',
      paused: false,
      in_progress: false,
    },
    performance: { enabled: true },
    analytics: { enabled: true },
    activity_logs: { enabled: true },
    uptime: { enabled: true, status: 'up' },
    screenshot: { thumbnail_url: `https://${id}.example/thumbnail.png`, updated_at: times.ago(DAY) },
    locked: false,
    multisite: false,
    connection: { status: 'connected' },
    security: {
      enabled: true,
      scanner: {
        status: 'clean',
        malware_detected_at: null,
        interval: 'daily',
        last_check_at: times.ago(3 * HOUR),
        next_check_at: times.ago(-21 * HOUR),
        detections,
      },
      firewall: { enabled: true, mode: 'protect', advanced: false, bot_protection: { enabled: true } },
    },
    backups: {
      enabled: true,
      real_time: false,
      available_snapshots: 90,
      retention_days: 90,
      latest_snapshot: { id: `${id}-snapshot`, created_at: times.ago(3 * HOUR), status: 'succeeded' },
    },
    wp: {
      core: { current_version: '6.8.3', latest_version: '6.8.3', update_available: false, locked: false },
      default_wp_object_id: 1,
    },
  }),
  listClients: (id, times) => ({
    id,
    first_name: 'Ann',
    last_name: 'Client',
    email: `${id}@client.example`,
    company_name: id,
    address: '',
    note: '',
    site_ids: [],
    ...made(times),
  }),
  listTags: (id, times) => ({ id, name: id, color: null, site_ids: [], ...made(times) }),
  listStagingSites: (id, times) => ({
    id,
    site_id: 'site-1',
    status: 'active',
    url: `https://${id}.staging.example`,
    created_at: times.ago(DAY),
    updated_at: times.ago(3 * HOUR),
    expires_at: times.ago(-13 * DAY),
    php_version: '8.3',
    user: { name: 'Ann', email: 'ann@agency.example' },
  }),
  listTasks: (id, times) => ({
    id,
    status: 'completed',
    type: 'wp_site_update',
    created_at: times.ago(3 * HOUR),
    updated_at: times.ago(3 * HOUR),
    progress: { percent: 100, metrics: { sites: { done: 1, total: 1 } } },
    input: { sites: [{ id: 'site-1' }] },
  }),
  listReports: (id, times) => ({
    id,
    site: { id: 'site-1', title: 'site-1', url: 'https://site-1.example' },
    title: 'Report',
    type: 'one_time',
    client: { id: 'client-1', name: 'Ann Client', email: 'ann@client.example' },
    start_date: times.day,
    end_date: times.day,
    created_at: times.ago(3 * HOUR),
    email: {
      subject: 'Report',
      body: '',
      attach_pdf: true,
      sender_email: { id: 'sender-1', email: 'care@agency.example' },
      recipients: [],
    },
  }),
  listReportTemplates: (id, times) => ({ id, site_ids: [], name: id, ...made(times) }),
  listScheduledReports: (id, times) => ({
    id,
    site: { id: 'site-1', title: 'site-1', url: 'https://site-1.example' },
    title: 'Report',
    template_id: 'template-1',
    status: 'active',
    frequency: 'monthly',
    timezone: 'UTC',
    started_at: times.ago(400 * DAY),
    next_report_at: times.ago(-7 * DAY),
    ...made(times),
    email: { recipients: ['ann@client.example'] },
  }),
  listAutoUpdateSchedules: (id, times) => ({
    id,
    name: id,
    status: 'active',
    schedule: 'daily',
    started_at: times.ago(400 * DAY),
    next_update_at: times.ago(-21 * HOUR),
    scope: {
      sites: { selection: 'all' },
      updates: {
        wordpress_core: true,
        plugins: { selection: 'all', filenames: [] },
        themes: { selection: 'all', filenames: [] },
      },
    },
    options: { backup: true, visual_regression: false },
    ...made(times),
  }),
  listAutoUpdateHistory: (id, times) => ({
    auto_update_schedule: { id: 'schedule-1', name: 'schedule-1' },
    performed_on: times.ago(3 * HOUR),
    task_id: id,
    status: 'completed',
    sites: [],
  }),
  listTeamMembers: (id, times) => ({
    id,
    name: id,
    email: `${id}@agency.example`,
    company_name: 'Agency',
    note: '',
    role: 'administrator',
    status: 'connected',
    all_sites_access: true,
    site_ids: [],
    two_fa_enabled: true,
    ...made(times),
  }),
  listManagedAccounts: (id, times) => ({
    id,
    email: `${id}@agency.example`,
    role: 'administrator',
    company_name: 'Agency',
    status: 'connected',
    all_sites_access: true,
    ...made(times),
  }),
  listSenderEmails: (id, times) => ({
    id,
    email: `${id}@agency.example`,
    name: 'Agency',
    status: 'verified',
    domain: { dkim: dns, return_path: dns },
    ...made(times),
  }),
  listBackupDestinations: (id, times) => ({
    id,
    provider: 'provider_two',
    provider_label: 'Provider two',
    name: id,
    status: 'active',
    connected: true,
    email: 'ann@agency.example',
    provider_account_id: '1',
    provider_metadata: {},
    config: {},
    last_tested_at: times.ago(DAY),
    last_error_code: null,
    last_error_message: null,
    ...made(times),
  }),
  listSiteNotes: (id, times) => ({ ...note(id, times), versions: { available: false } }),
  listSiteNoteVersions: (id, times) => note(id, times),
  listSiteCustomWorks: (id, times) => ({
    id,
    title: 'Work',
    description: '',
    performed_on: times.day,
    ...made(times),
  }),
  listSiteActivityLogs: (id, times) => ({
    id,
    username: 'ann',
    ip_address: '192.0.2.1',
    country_code: 'DE',
    object_type: 'plugin',
    event_type: 'updated',
    event_details: {},
    timestamp: times.ago(3 * HOUR),
  }),
  listSiteSnapshots: (id, times) => ({
    id,
    created_at: times.ago(3 * HOUR),
    status: 'succeeded',
    note: null,
    error_message: null,
    backups: { enabled: true, real_time: false, files: pair, database: pair },
    security: { enabled: true, scanner: { status: 'clean', detections } },
    performance: { enabled: true },
  }),
};

const note = (id: string, times: Times) => ({
  id,
  content: 'Note',
  user: { name: 'Ann', email: 'ann@agency.example' },
  ...made(times),
});

const content = {
  general: { primary_color: '#000000', language: 'en', date_format: 'Y-m-d' },
  sections: {},
  section_order: [],
};
const email = { sender_email: null, subject: 'Report', body: '', attach_pdf: true };
const scanned = { total: 1_000, scanned: 1_000 };

/** What the account has only one of: nothing of it was changed. */
export const healthyViews = {
  showPluginBranding: { type: 'default', name: null, description: null, author: null },
  showWpLogin: {
    type: 'default',
    logo_file: null,
    label: null,
    error_message: null,
    tooltip: null,
    sender_email: null,
  },
} as const satisfies Partial<Record<OperationId, object>>;
export type AccountView = keyof typeof healthyViews;
export const accountViews = Object.keys(healthyViews) as AccountView[];

/** What only the single view of an item shows. */
export const healthyDetails: Partial<Record<ListId, object>> = {
  listSites: {
    security: { scanner: { files: scanned, database: scanned } },
    backups: { files: pair, database: pair },
    wp: { core: { vulnerable: false } },
  },
  listReportTemplates: { ...content, email },
  listScheduledReports: {
    report_template_data: { ...content, email: { ...email, send_to_client: true, recipients: [] } },
  },
  listTasks: { details: { sites: [] } },
};
