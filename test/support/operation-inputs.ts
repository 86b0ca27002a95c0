/** An input for every operation of the contract that a new account accepts, found or created. */
import { allItems } from '../../src/client/pages.ts';
import type { Answer, Input, Item, ListId, OperationId } from '../../src/contract/operations.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';

/** The account in which inputs are found. */
export interface Account {
  call<Id extends OperationId>(id: Id, input: Input<Id>): Promise<Answer<Id>>;
  /** Lets time pass in the service. */
  pass(ms: number): Promise<void>;
  sandbox: Sandbox;
}

const HOUR = 3_600_000;
/** Far enough away that it never runs. */
const farAway = '2099-01-01T05:00:00.000Z';
const scope = { include_files: true, include_database: true };
const anything = () => ({});

/** The first suitable item of a list. @throws {Error} when there is none. */
async function first<Id extends ListId>(
  { call }: Account,
  id: Id,
  input: Input<Id>,
  suits: (item: Item<Id>) => boolean = () => true,
): Promise<Item<Id>> {
  for await (const item of allItems(id, (page) => call(id, { ...input, ...page }))) {
    if (suits(item)) return item;
  }
  throw new Error(`The account has nothing that suits in ${id}.`);
}

const withStatus = (status: string) => ({ filters: { status: { eq: status } } });
const aSite = async (account: Account) => ({ site_id: (await first(account, 'listSites', {})).id });

/** A connected, unlocked site with backups, whose newest snapshot is complete. */
async function healthySite(account: Account) {
  const filters = { backups: { eq: true }, connection_status: { eq: 'connected' }, locked: { eq: false } };
  return first(
    account,
    'listSites',
    { filters },
    (site) => site.backups?.latest_snapshot?.status === 'succeeded',
  );
}

async function aSnapshot(account: Account) {
  const { id: site_id } = await healthySite(account);
  const { id } = await first(account, 'listSiteSnapshots', { site_id, ...withStatus('succeeded') });
  return { site_id, snapshot_id: id };
}

async function siteLogging(account: Account, enabled: boolean) {
  const logs = (site: Item<'listSites'>) => site.activity_logs?.enabled === enabled;
  return { site_id: (await first(account, 'listSites', {}, logs)).id };
}

async function newSchedule({ call }: Account) {
  const { auto_update_schedule } = await call('createAutoUpdateSchedule', { body: scheduleBody });
  return { auto_update_schedule_id: auto_update_schedule.id };
}
const scheduleBody: Input<'createAutoUpdateSchedule'>['body'] = {
  auto_update_schedule: {
    name: 'Ours',
    schedule: 'daily',
    started_at: farAway,
    scope: { sites: { selection: 'all' }, updates: { wordpress_core: false, plugins: { selection: 'all' } } },
  },
};

async function newClient({ call }: Account) {
  return (await call('createClient', { body: clientBody })).client.id;
}
const clientBody = {
  client: { first_name: 'Ada', last_name: 'Berg', email: 'ada@customers.example', company_name: 'Berg' },
};

async function newCustomWork(account: Account) {
  const { site_id } = await aSite(account);
  const { custom_works } = await account.call('createSiteCustomWorks', { site_id, body: customWorksBody });
  return { site_id, custom_work_id: custom_works[0]?.id ?? '' };
}
const customWorksBody = { custom_works: [{ title: 'Logo replaced', performed_on: '2026-11-20' }] };

async function newNote(account: Account) {
  const { site_id } = await aSite(account);
  const { note } = await account.call('createSiteNote', { site_id, body: noteBody });
  return { site_id, note_id: note.id };
}
const noteBody = { note: { content: 'Call before updates.' } };

async function newTemplate({ call }: Account) {
  return (await call('createReportTemplate', { body: templateBody })).report_template.id;
}
const templateBody = { report_template: { name: 'Ours' } };

const aReport = async (account: Account) => ({ report_id: (await first(account, 'listReports', {})).id });

/** A report on the days that the snapshots of a site cover. */
async function reportBody(account: Account) {
  const { id: site_id } = await healthySite(account);
  const filters = { status: { eq: 'succeeded' }, created_at: { gte: '2026-11-14T12:00:00Z' } };
  const days: string[] = [];
  const input = { site_id, filters, sort: 'created_at,asc' };
  for await (const { created_at = '' } of allItems('listSiteSnapshots', (page) =>
    account.call('listSiteSnapshots', { ...input, ...page }),
  )) {
    days.push(created_at.slice(0, 10));
  }
  return { report: { site_id, start_date: days[0] ?? '', end_date: days.at(-1) ?? '' } };
}

async function scheduledBody(account: Account) {
  const taken = new Set<string | undefined>();
  for await (const { site } of allItems('listScheduledReports', (page) =>
    account.call('listScheduledReports', page),
  )) {
    taken.add(site?.id);
  }
  const filters = { backups: { eq: true } };
  const { id } = await first(account, 'listSites', { filters }, (site) => !taken.has(site.id));
  return { scheduled_report: { site_id: id, started_at: farAway, frequency: 'weekly' as const } };
}
async function newScheduled(account: Account) {
  const body = await scheduledBody(account);
  const { scheduled_report } = await account.call('createScheduledReport', { body });
  return { scheduled_report_id: scheduled_report.id };
}

const senderBody = { sender_email: { email: 'new-sender@customers.example', name: 'Reports' } };
async function pendingSender({ call }: Account) {
  return { sender_email_id: (await call('createSenderEmail', { body: senderBody })).sender_email.id };
}
/** A sender email whose owner has confirmed it. */
async function verifiedSender(account: Account) {
  const sender = await pendingSender(account);
  await account.pass(HOUR);
  await account.call('refreshSenderEmail', sender);
  return sender;
}

const siteBody = { site: { url: 'https://new.customers.example' } };
async function newSite({ call }: Account) {
  return { site_id: (await call('createSite', { body: siteBody })).site.id };
}

async function staging(account: Account, status: string) {
  return { staging_site_id: (await first(account, 'listStagingSites', withStatus(status))).id };
}

const tagBody = { tag: { name: 'ours', color: '#123456' } };
async function newTag({ call }: Account) {
  return { tag_id: (await call('createTag', { body: tagBody })).tag.id };
}

function runningTask({ sandbox }: Account) {
  const input = sandbox.siteIds().slice(0, 2);
  const task_id = sandbox.startTask({
    type: 'restore',
    input: input.map((id) => ({ id })),
    takesMs: HOUR,
  });
  return { task_id };
}

const memberBody = { team_member: { email: 'noor@agency.example', name: 'Noor Haddad' } };
async function invitation({ call }: Account) {
  return { team_member_id: (await call('createTeamMember', { body: memberBody })).team_member.id };
}

const managed = async (account: Account, status: string) => ({
  managed_account_id: (await first(account, 'listManagedAccounts', withStatus(status))).id,
});

/** How the input of each operation is found. A missing operation does not compile. */
export const inputs: { [Id in OperationId]: (account: Account) => Input<Id> | Promise<Input<Id>> } = {
  listClients: () => ({ filters: { search: { contains: 'a' } }, sort: 'last_name,asc' }),
  createClient: () => ({ body: clientBody }),
  deleteClients: async (account) => ({ body: { ids: [await newClient(account)] } }),
  showClient: async (account) => ({ client_id: await newClient(account) }),
  updateClient: async (account) => ({
    client_id: await newClient(account),
    body: { client: { note: 'New' } },
  }),

  listManagedAccounts: () => ({ filters: { status: { in: ['pending', 'connected'] } } }),
  deleteManagedAccount: (account) => managed(account, 'connected'),
  acceptManagedAccount: (account) => managed(account, 'pending'),
  rejectManagedAccount: (account) => managed(account, 'pending'),

  listBackupDestinations: anything,
  showBackupDestination: () => ({ backup_destination_id: 'provider_one' }),
  testBackupDestination: () => ({ backup_destination_id: 'provider_two' }),
  disconnectBackupDestination: () => ({ backup_destination_id: 'provider_two' }),

  listSenderEmails: () => withStatus('verified'),
  createSenderEmail: () => ({ body: senderBody }),
  showSenderEmail: pendingSender,
  deleteSenderEmail: pendingSender,
  updateSenderEmail: async (account) => ({
    ...(await pendingSender(account)),
    body: { sender_email: { name: 'Care' } },
  }),
  resendSenderEmailVerification: pendingSender,
  rotateSenderEmailDkim: verifiedSender,
  verifySenderEmailDkim: verifiedSender,
  verifySenderEmailReturnPath: verifiedSender,
  refreshSenderEmail: pendingSender,

  showPluginBranding: anything,
  updatePluginBranding: () => ({ body: { plugin_branding: { type: 'hidden' } } }),
  resetPluginBranding: async (account) => {
    await account.pass(HOUR);
    await account.call('updatePluginBranding', { body: { plugin_branding: { type: 'hidden' } } });
    await account.pass(HOUR);
    return {};
  },
  showWpLogin: anything,
  updateWpLogin: () => ({ body: { wp_login: { label: 'Our Care' } } }),
  resetWpLogin: async (account) => {
    await account.pass(HOUR);
    await account.call('updateWpLogin', { body: { wp_login: { label: 'Our Care' } } });
    await account.pass(HOUR);
    return {};
  },

  listAutoUpdateSchedules: () => ({ filters: { has_backup: { eq: true } } }),
  createAutoUpdateSchedule: () => ({ body: scheduleBody }),
  showAutoUpdateSchedule: newSchedule,
  deleteAutoUpdateSchedule: newSchedule,
  updateAutoUpdateSchedule: async (account) => ({
    ...(await newSchedule(account)),
    body: { auto_update_schedule: { name: 'Renamed' } },
  }),
  enableAutoUpdateSchedule: async (account) => {
    const schedule = await newSchedule(account);
    await account.call('disableAutoUpdateSchedule', schedule);
    return schedule;
  },
  disableAutoUpdateSchedule: newSchedule,
  listAutoUpdateHistory: () => withStatus('completed'),

  listTasks: () => withStatus('completed'),
  showTask: async (account) => ({ task_id: (await first(account, 'listTasks', {})).id }),
  cancelTask: runningTask,

  listReports: () => ({ filters: { type: { eq: 'one_time' } } }),
  createReport: async (account) => ({ body: await reportBody(account) }),
  showReport: aReport,
  deleteReport: aReport,
  downloadReport: aReport,
  sendReportEmail: async (account) => ({
    ...(await aReport(account)),
    body: { send_email: { recipients: ['kim@customers.example'] } },
  }),

  listReportTemplates: () => ({ sort: 'name,asc' }),
  createReportTemplate: () => ({ body: templateBody }),
  showReportTemplate: async (account) => ({ report_template_id: await newTemplate(account) }),
  updateReportTemplate: async (account) => ({
    report_template_id: await newTemplate(account),
    body: { report_template: { name: 'Renamed' } },
  }),
  deleteReportTemplates: async (account) => ({ body: { ids: [await newTemplate(account)] } }),

  listScheduledReports: () => withStatus('active'),
  createScheduledReport: async (account) => ({ body: await scheduledBody(account) }),
  showScheduledReport: newScheduled,
  deleteScheduledReport: newScheduled,
  updateScheduledReport: async (account) => ({
    ...(await newScheduled(account)),
    body: { scheduled_report: { timezone: 'Asia/Tokyo' } },
  }),
  pauseScheduledReport: newScheduled,
  resumeScheduledReport: async (account) => {
    const scheduled = await newScheduled(account);
    await account.call('pauseScheduledReport', scheduled);
    return scheduled;
  },

  listTeamMembers: () => withStatus('connected'),
  createTeamMember: () => ({ body: memberBody }),
  showTeamMember: invitation,
  deleteTeamMember: invitation,
  updateTeamMember: async (account) => ({
    ...(await invitation(account)),
    body: { team_member: { note: 'New' } },
  }),
  resendTeamMemberInvitation: invitation,

  listTags: () => ({ page: 1, perPage: 5 }),
  createTag: () => ({ body: tagBody }),
  showTag: newTag,
  deleteTag: newTag,
  updateTag: async (account) => ({ ...(await newTag(account)), body: { tag: { color: '#654321' } } }),
  assignTag: async (account) => ({
    ...(await newTag(account)),
    body: { site_ids: [(await aSite(account)).site_id] },
  }),
  removeTag: async (account) => {
    const [tag, body] = [await newTag(account), { site_ids: [(await aSite(account)).site_id] }];
    await account.call('assignTag', { ...tag, body });
    return { ...tag, body };
  },

  listStagingSites: () => withStatus('active'),
  createStagingSite: async (account) => ({ body: { staging_site: await aSnapshot(account) } }),
  showStagingSite: (account) => staging(account, 'active'),
  deleteStagingSite: (account) => staging(account, 'suspended'),
  extendStagingSiteExpiry: async (account) => ({ ...(await staging(account, 'active')), body: { days: 1 } }),
  resumeStagingSite: (account) => staging(account, 'paused'),
  updateStagingSitePhpVersion: async (account) => ({
    ...(await staging(account, 'active')),
    body: { staging_site: { php_version: '8.4' } },
  }),
  downloadStagingSite: async (account) => ({
    ...(await staging(account, 'active')),
    body: { download: { scope } },
  }),
  generateStagingSiteWpSsoLoginUrl: async (account) => ({
    ...(await staging(account, 'active')),
    wp_object_id: '2',
  }),

  listSites: () => ({ filters: { paused: { eq: false } }, timezone: 'Europe/Berlin' }),
  createSite: () => ({ body: siteBody }),
  showSite: aSite,
  deleteSite: newSite,
  updateSite: async (account) => ({
    ...(await newSite(account)),
    body: { site: { sync: { daily_sync_time: '04:30Z' } } },
  }),
  syncSite: async (account) => ({
    site_id: (await healthySite(account)).id,
    body: { sync: { message: 'By hand' } },
  }),
  enableSiteBackups: async (account) => {
    const { sites } = await account.call('listSites', { filters: { backups: { eq: false } } });
    return sites[0] ? { site_id: sites[0].id } : aSite(account);
  },

  listSiteCustomWorks: aSite,
  createSiteCustomWorks: async (account) => ({ ...(await aSite(account)), body: customWorksBody }),
  showSiteCustomWork: newCustomWork,
  deleteSiteCustomWork: newCustomWork,
  updateSiteCustomWork: async (account) => ({
    ...(await newCustomWork(account)),
    body: { custom_work: { title: 'New' } },
  }),

  listSiteNotes: aSite,
  createSiteNote: async (account) => ({ ...(await aSite(account)), body: noteBody }),
  showSiteNote: newNote,
  deleteSiteNote: newNote,
  updateSiteNote: async (account) => ({
    ...(await newNote(account)),
    body: { note: { content: 'Call after updates.' } },
  }),
  listSiteNoteVersions: newNote,

  listSiteActivityLogs: (account) => siteLogging(account, true),
  enableSiteActivityLogs: (account) => siteLogging(account, false),
  disableSiteActivityLogs: (account) => siteLogging(account, true),

  listSiteSnapshots: async (account) => ({ site_id: (await healthySite(account)).id }),
  showSiteSnapshot: aSnapshot,

  startSiteBackupDownload: async (account) => ({
    ...(await aSnapshot(account)),
    body: { download: { scope } },
  }),
  startSiteBackupUpload: async (account) => ({
    ...(await aSnapshot(account)),
    body: { upload: { destination: { provider: 'provider_one' }, scope } },
  }),
  startSiteBackupMigration: async (account) => {
    const snapshot = await aSnapshot(account);
    const other = await first(account, 'listSites', {}, ({ id }) => id !== snapshot.site_id);
    return { ...snapshot, body: { migration: { type: 'internal', site_id: other.id, scope } } };
  },
};
