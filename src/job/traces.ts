/**
 * How to find out whether a change whose answer was lost has happened: for every operation that is not harmless to repeat,
 * the trace it leaves in the account, and what nobody can tell.
 *
 * A change that is harmless to repeat (`repeatable` in the contract) needs none of this: it is asked for again. Whether a
 * lost request may still be on its way is the engine's concern, not asked here.
 */
import { GoneError } from '../client/errors.ts';
import type { Input, Item, ListId, OperationId, Operations } from '../contract/operations.ts';
import { operationOf } from '../contract/operations.ts';
import type { Intent } from '../run/run.ts';
import { findSync } from './find-sync.ts';
import type { Reading } from './job.ts';

/** The operations that a second request would carry out a second time. */
export type OnceId = {
  [Id in OperationId]: Operations[Id] extends { effect: 'once' } ? Id : never;
}[OperationId];

/** Whether an operation is one of those. */
export const isOnce = (id: OperationId): id is OnceId => operationOf(id).effect === 'once';

/** What the account says of a lost change. `taskId`: the task it started, to be followed. */
export type Found = { is: 'found'; taskId?: string } | { is: 'absent' } | { is: 'unknown'; detail: string };

export interface Trace<Id extends OnceId = OnceId> {
  /** What is looked for, for the docs; one sentence. */
  looksFor: string;
  /** What is left unknown, for the docs; nothing when the trace is sure. */
  unknown?: string;
  find(reading: Reading, input: Input<Id>, intent: Intent): Promise<Found>;
}

/** The service's clock may be behind ours by so much. */
const SLACK_MS = 60_000;

const since = ({ at }: Intent): string => new Date(at - SLACK_MS).toISOString();
const found: Found = { is: 'found' };
const absent: Found = { is: 'absent' };

type TaskType =
  | 'staging'
  | 'report'
  | 'download'
  | 'upload'
  | 'migrate'
  | 'download_staging'
  | 'configure_staging_site';

/**
 * A task of this type, created since the intent, whose input names one of `ids`. The spec shows the input of few types: a
 * task that names nobody may be ours or not.
 */
async function task(
  { all }: Reading,
  type: TaskType,
  ids: readonly string[],
  intent: Intent,
): Promise<Found> {
  let nameless = 0;
  for await (const one of all('listTasks', {
    filters: { type: { eq: type }, created_at: { gte: since(intent) } },
  })) {
    const named = (one.input?.sites ?? []).flatMap(({ id }) => (id === undefined ? [] : [id]));
    if (named.some((id) => ids.includes(id))) return { is: 'found', taskId: one.id };
    if (named.length === 0) nameless += 1;
  }
  if (nameless === 0) return absent;
  return { is: 'unknown', detail: `A task of type ${type} began since, and does not tell for what.` };
}

/** An item of a list, created since the intent, that says what was sent. Costs a request per 100 created since. */
async function item<Id extends ListId>(
  { all }: Reading,
  list: Id,
  query: Omit<Input<Id>, 'page' | 'perPage'>,
  isOurs: (item: Item<Id>) => boolean,
): Promise<Found> {
  for await (const one of all(list, query)) if (isOurs(one)) return found;
  return absent;
}

const createdSince = (intent: Intent) => ({ filters: { created_at: { gte: since(intent) } } });
const same = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && a.trim().toLowerCase() === b.trim().toLowerCase();

/** A staging site's task may name the copy or the live site it was made from. */
async function stagingTask(
  reading: Reading,
  type: TaskType,
  staging_site_id: string,
  intent: Intent,
): Promise<Found> {
  const { staging_site } = await reading.api.showStagingSite({ staging_site_id });
  return task(reading, type, [staging_site_id, staging_site.site_id ?? staging_site_id], intent);
}

/** A trace of something that is sent and leaves none. */
const noTrace = (what: string) => ({
  looksFor: 'Nothing: the account shows no trace of it.',
  unknown: 'Always, once its answer is lost.',
  find: async (): Promise<Found> => ({ is: 'unknown', detail: `The account does not show whether ${what}.` }),
});

const backup = (type: 'download' | 'upload' | 'migrate') => ({
  looksFor: `A task of type ${type} for the site, created since.`,
  unknown: 'When such a task does not tell its site.',
  find: (reading: Reading, { site_id }: { site_id: string }, intent: Intent) =>
    task(reading, type, [site_id], intent),
});

const made = (what: string, by: string) => `${what} created since with the same ${by}.`;

export const traces: { [Id in OnceId]: Trace<Id> } = {
  syncSite: {
    looksFor: 'A sync of the site that is running, or a snapshot or last sync since.',
    unknown: 'When the service does not tell when it last synced the site.',
    async find({ api }, { site_id }, intent) {
      const sync = await findSync(api, site_id, intent.at);
      return sync.is === 'following' ? found : sync;
    },
  },
  createStagingSite: {
    looksFor: 'A task of type staging for the site, created since.',
    unknown: 'When such a task does not tell its site.',
    find: (reading, { body }, intent) => task(reading, 'staging', [body.staging_site.site_id], intent),
  },
  downloadStagingSite: {
    looksFor: 'A task of type download_staging for the copy or its live site, created since.',
    unknown: 'When such a task does not tell its site.',
    find: (reading, { staging_site_id }, intent) =>
      stagingTask(reading, 'download_staging', staging_site_id, intent),
  },
  updateStagingSitePhpVersion: {
    looksFor:
      'The PHP version asked for on the copy, or a task of type configure_staging_site for it, created since.',
    unknown: 'When such a task does not tell its site.',
    async find(reading, { staging_site_id, body }, intent) {
      const { staging_site } = await reading.api.showStagingSite({ staging_site_id });
      if (staging_site.php_version === body.staging_site.php_version) return found;
      return stagingTask(reading, 'configure_staging_site', staging_site_id, intent);
    },
  },
  extendStagingSiteExpiry: {
    looksFor: 'An expiry later than the one noted with the intent.',
    unknown: 'When none was noted.',
    async find({ api }, { staging_site_id }, { note }) {
      if (note === undefined) return { is: 'unknown', detail: 'The expiry before the change is not known.' };
      const { staging_site } = await api.showStagingSite({ staging_site_id });
      return Date.parse(staging_site.expires_at ?? '') > Date.parse(note) ? found : absent;
    },
  },
  startSiteBackupDownload: backup('download'),
  startSiteBackupUpload: backup('upload'),
  startSiteBackupMigration: backup('migrate'),
  createReport: {
    looksFor:
      'A task of type report for the site, created since; else a report of the site and dates, created since.',
    unknown: 'When such a task does not tell its site.',
    async find(reading, { body: { report } }, intent) {
      const began = await task(reading, 'report', [report.site_id], intent);
      if (began.is === 'found') return began;
      const query = { filters: { site_id: { eq: report.site_id }, created_at: { gte: since(intent) } } };
      const made = await item(
        reading,
        'listReports',
        query,
        ({ start_date, end_date }) => start_date === report.start_date && end_date === report.end_date,
      );
      return made.is === 'found' ? made : began;
    },
  },
  sendReportEmail: {
    looksFor: 'The recipients among those of the report, sent since.',
    unknown: 'When some of them are there and some are not.',
    async find({ api }, { report_id, body }, intent) {
      const { report } = await api.showReport({ report_id });
      const sent = (report.email?.recipients ?? []).filter(
        ({ sent_at }) => !(Date.parse(sent_at ?? '') < intent.at - SLACK_MS),
      );
      const asked = body.send_email.recipients;
      const there = asked.filter((address) => sent.some(({ email }) => same(email, address)));
      if (there.length === asked.length) return found;
      return there.length === 0
        ? absent
        : { is: 'unknown', detail: `${there.length} of ${asked.length} recipients are in the report.` };
    },
  },
  createClient: {
    looksFor: made('A client', 'e-mail, or, without one, the same names'),
    find: (reading, { body: { client } }, intent) =>
      item(reading, 'listClients', createdSince(intent), (one) =>
        client.email
          ? same(one.email, client.email)
          : (['first_name', 'last_name', 'company_name'] as const).every(
              (name) => (one[name] ?? '') === (client[name] ?? ''),
            ),
      ),
  },
  createTag: {
    looksFor: made('A tag', 'name'),
    find: (reading, { body: { tag } }, intent) =>
      item(reading, 'listTags', createdSince(intent), ({ name }) => name === tag.name),
  },
  createSite: {
    looksFor: made('A site', 'address'),
    find: (reading, { body: { site } }, intent) =>
      item(reading, 'listSites', createdSince(intent), ({ url }) =>
        same(url.replace(/\/$/, ''), site.url.replace(/\/$/, '')),
      ),
  },
  createSenderEmail: {
    looksFor: made('A sender e-mail', 'address'),
    find: (reading, { body: { sender_email } }, intent) =>
      item(reading, 'listSenderEmails', createdSince(intent), ({ email }) => same(email, sender_email.email)),
  },
  createTeamMember: {
    looksFor: made('An invitation', 'e-mail'),
    find: (reading, { body: { team_member } }, intent) =>
      item(reading, 'listTeamMembers', createdSince(intent), ({ email }) => same(email, team_member.email)),
  },
  createReportTemplate: {
    looksFor: made('A template', 'name'),
    find: (reading, { body: { report_template } }, intent) =>
      item(reading, 'listReportTemplates', createdSince(intent), ({ name }) => name === report_template.name),
  },
  createScheduledReport: {
    looksFor: 'A scheduled report of the site: it can have one at most.',
    find: (reading, { body: { scheduled_report } }) =>
      item(
        reading,
        'listScheduledReports',
        { filters: { site_id: { eq: scheduled_report.site_id } } },
        () => true,
      ),
  },
  createAutoUpdateSchedule: {
    looksFor: made('A schedule', 'name'),
    find: (reading, { body: { auto_update_schedule } }, intent) =>
      item(
        reading,
        'listAutoUpdateSchedules',
        createdSince(intent),
        ({ name }) => name === auto_update_schedule.name,
      ),
  },
  createSiteNote: {
    looksFor: made('A note of the site', 'content'),
    find: (reading, { site_id, body: { note } }, intent) =>
      item(
        reading,
        'listSiteNotes',
        { site_id, ...createdSince(intent) },
        ({ content }) => content?.trim() === note.content.trim(),
      ),
  },
  updateSiteNote: {
    looksFor: 'The content asked for in the note.',
    async find({ api }, { site_id, note_id, body }) {
      const { note } = await api.showSiteNote({ site_id, note_id });
      return note.content?.trim() === body.note.content.trim() ? found : absent;
    },
  },
  createSiteCustomWorks: {
    looksFor: 'Entries of the site created since with the same titles and days.',
    unknown: 'When some of them are there and some are not.',
    async find({ all }, { site_id, body: { custom_works } }, intent) {
      const open = custom_works.map(({ title, performed_on }) => `${performed_on} ${title}`);
      for await (const { title, performed_on } of all('listSiteCustomWorks', {
        site_id,
        ...createdSince(intent),
      })) {
        const at = open.indexOf(`${performed_on} ${title}`);
        if (at >= 0) open.splice(at, 1);
      }
      if (open.length === 0) return found;
      return open.length === custom_works.length
        ? absent
        : { is: 'unknown', detail: `${open.length} of ${custom_works.length} entries are not there.` };
    },
  },
  updateTeamMember: {
    looksFor: 'The member as asked for, by its id.',
    unknown: 'When the id is gone: an invitation that is changed is replaced under a new one.',
    async find({ api }, { team_member_id, body: { team_member } }) {
      try {
        const now = (await api.showTeamMember({ team_member_id })).team_member as Record<string, unknown>;
        const differs = Object.entries(team_member).some(
          ([name, value]) => JSON.stringify(now[name]) !== JSON.stringify(value),
        );
        return differs ? absent : found;
      } catch (error) {
        if (!(error instanceof GoneError)) throw error;
        return {
          is: 'unknown',
          detail: 'It is no longer there under its id, as an invitation that was changed.',
        };
      }
    },
  },
  resendTeamMemberInvitation: noTrace('the invitation was sent again'),
  resendSenderEmailVerification: noTrace('the verification was sent again'),
  rotateSenderEmailDkim: {
    looksFor: 'A DKIM value other than the one noted with the intent.',
    unknown: 'When none was noted.',
    async find({ api }, { sender_email_id }, { note }) {
      if (note === undefined)
        return { is: 'unknown', detail: 'The DKIM value before the change is not known.' };
      const { sender_email } = await api.showSenderEmail({ sender_email_id });
      return sender_email.domain?.dkim?.value === note ? absent : found;
    },
  },
};

/** Finds out what became of a lost change that is not harmless to repeat. Only reads. Errors are the client's. */
export const findTrace = <Id extends OnceId>(
  operation: Id,
  reading: Reading,
  input: Input<Id>,
  intent: Intent,
): Promise<Found> => (traces[operation] as Trace<Id>).find(reading, input, intent);
