/**
 * How to find out whether a change whose answer was lost has happened: for every operation that is not
 * harmless to repeat, the trace that it leaves in the account, and what stays unknown.
 *
 * What is found must be this intent's own effect: made after the intent, by the service's clock, and not
 * recorded for another target (`effects`). If that is not certain, the result is unknown.
 *
 * A change that is harmless to repeat is looked for by its state: see `wanted-state.ts`. The engine decides whether a
 * lost request may still arrive.
 */
import { GoneError } from '../../client/errors.ts';
import type { Input } from '../../contract/operations.ts';
import type { Intent } from '../../run/run.ts';
import { secondsOf } from '../shown.ts';
import {
  absent,
  all,
  changed,
  equal,
  type Found,
  found,
  item,
  mailId,
  newItem,
  type OnceId,
  same,
  stagingTask,
  task,
  unknown,
  unlessAnothers,
} from './find-effect.ts';
import { findSync } from './find-sync.ts';
import { createdSince, type Looking, orderIn, ownOf } from './own-effect.ts';
import { lastingId } from './replaced-item.ts';

export interface Probe<Id extends OnceId = OnceId> {
  /** What the probe looks for: one sentence, for the docs. */
  looksFor: string;
  /** When the result stays unknown, for the docs; absent when it never does. */
  unknown?: string;
  find(looking: Looking, input: Input<Id>, intent: Intent): Promise<Found>;
}

/** The probe of an operation that leaves no trace. */
const noProbe = (what: string) => ({
  looksFor: 'Nothing: the account shows no trace of it.',
  unknown: 'Always, once its answer is lost.',
  find: async (): Promise<Found> => ({ is: 'unknown', detail: `The account does not show whether ${what}.` }),
});

const backup = (operation: OnceId, type: 'download' | 'upload' | 'migrate') => ({
  looksFor: `A task of type ${type} for the site, created since.`,
  unknown: 'When such a task does not show its site.',
  find: (looking: Looking, { site_id }: { site_id: string }, intent: Intent) =>
    task(looking, operation, type, [site_id], intent),
});

const notShown = 'When one that was created since does not show them.';
const made = (what: string, by: string) => `${what} created since with the same ${by}.`;

export const probes: { [Id in OnceId]: Probe<Id> } = {
  syncSite: {
    looksFor: 'A sync of the site that is running, or a snapshot or last sync since.',
    unknown: 'When the service does not show when it last synced the site.',
    async find(looking, { site_id }, intent) {
      const sync = await findSync(looking, site_id, intent);
      return sync.is === 'following' ? found : sync;
    },
  },
  createStagingSite: {
    looksFor: 'A task of type staging for the site, created since.',
    unknown: 'When such a task does not show its site.',
    find: (looking, { body }, intent) =>
      task(looking, 'createStagingSite', 'staging', [body.staging_site.site_id], intent),
  },
  downloadStagingSite: {
    looksFor: 'A task of type download_staging for the copy or its live site, created since.',
    unknown: 'When such a task does not show its site.',
    find: (looking, { staging_site_id }, intent) =>
      stagingTask(looking, 'downloadStagingSite', 'download_staging', staging_site_id, intent),
  },
  updateStagingSitePhpVersion: {
    looksFor:
      'A task of type configure_staging_site for the copy or its live site, created since; else the requested PHP version, on a copy changed since.',
    unknown:
      'When such a task does not show its site, or when the copy has the version and does not show since when.',
    async find(looking, { staging_site_id, body }, intent) {
      const operation = 'updateStagingSitePhpVersion';
      const began = await stagingTask(looking, operation, 'configure_staging_site', staging_site_id, intent);
      if (began.is !== 'absent') return began;
      const { staging_site } = await looking.api.showStagingSite({ staging_site_id });
      const isAsAsked = staging_site.php_version === body.staging_site.php_version;
      return changed(looking, operation, intent, isAsAsked, staging_site);
    },
  },
  extendStagingSiteExpiry: {
    looksFor: 'An expiry later than the one shown directly before the request.',
    unknown: 'When none was shown then, or none is now.',
    async find(looking, { staging_site_id }, { note }) {
      if (note === undefined) return unknown('The expiry before the change is not known.');
      const { staging_site } = await looking.api.showStagingSite({ staging_site_id });
      const expiresAt = secondsOf(staging_site.expires_at ?? '');
      if (Number.isNaN(expiresAt)) return unknown('The copy does not show when it expires.');
      if (expiresAt <= secondsOf(note)) return absent;
      return unlessAnothers(looking, 'extendStagingSiteExpiry', staging_site);
    },
  },
  startSiteBackupDownload: backup('startSiteBackupDownload', 'download'),
  startSiteBackupUpload: backup('startSiteBackupUpload', 'upload'),
  startSiteBackupMigration: backup('startSiteBackupMigration', 'migrate'),
  createReport: {
    looksFor:
      'A task of type report for the site, created since; else a report of the site and dates, created since.',
    unknown: 'When such a task does not show its site.',
    async find(looking, { body: { report } }, intent) {
      const began = await task(looking, 'createReport', 'report', [report.site_id], intent);
      if (began.is === 'found') return began;
      const filters = { site_id: { eq: report.site_id }, ...(await createdSince(looking, intent)) };
      const made = await item(
        looking,
        'createReport',
        intent,
        'listReports',
        { filters },
        ({ start_date, end_date }) =>
          all(equal(start_date, report.start_date), equal(end_date, report.end_date)),
      );
      return made.is === 'absent' ? began : made;
    },
  },
  sendReportEmail: {
    looksFor: 'The recipients among those of the report, sent since.',
    unknown:
      'When some of them are there and some are not, when the report does not show any, or when another run sent it to one at about that time.',
    async find({ api, serviceTime, effects }, { report_id, body }, intent) {
      const { report } = await api.showReport({ report_id });
      const intended = await serviceTime(intent.at);
      if (!report.email?.recipients) return unknown('The report does not show to whom it was sent.');
      const sent = report.email.recipients.filter(({ sent_at }) => orderIn(sent_at, intended) !== 'before');
      const asked = body.send_email.recipients;
      const there = asked.filter((address) => sent.some(({ email }) => same(email, address)));
      for (const { email, sent_at } of sent) {
        if (!there.some((address) => same(email, address)) || orderIn(sent_at, intended) === 'after')
          continue;
        if (await effects.belongsToOther('sendReportEmail', mailId(report_id, email)))
          return unknown('Another run sent the report at about the time of the request.');
      }
      if (there.length === asked.length) return found;
      return there.length === 0
        ? absent
        : { is: 'unknown', detail: `${there.length} of ${asked.length} recipients are in the report.` };
    },
  },
  createClient: {
    looksFor: made('A client', 'e-mail, or, without one, the same names'),
    unknown: notShown,
    find: (looking, { body: { client } }, intent) =>
      newItem(looking, 'createClient', intent, 'listClients', {}, (one) =>
        client.email
          ? same(one.email, client.email)
          : all(
              ...(['first_name', 'last_name', 'company_name'] as const).map((name) =>
                equal(one[name], client[name] ?? ''),
              ),
            ),
      ),
  },
  createTag: {
    looksFor: made('A tag', 'name'),
    unknown: notShown,
    find: (looking, { body: { tag } }, intent) =>
      newItem(looking, 'createTag', intent, 'listTags', {}, ({ name }) => equal(name, tag.name)),
  },
  createSite: {
    looksFor: made('A site', 'address'),
    unknown: notShown,
    find: (looking, { body: { site } }, intent) =>
      newItem(looking, 'createSite', intent, 'listSites', {}, ({ url }) =>
        same(url.replace(/\/$/, ''), site.url.replace(/\/$/, '')),
      ),
  },
  createSenderEmail: {
    looksFor: made('A sender e-mail', 'address'),
    unknown: notShown,
    find: (looking, { body: { sender_email } }, intent) =>
      newItem(looking, 'createSenderEmail', intent, 'listSenderEmails', {}, ({ email }) =>
        same(email, sender_email.email),
      ),
  },
  createTeamMember: {
    looksFor: made('An invitation', 'e-mail'),
    unknown: notShown,
    find: (looking, { body: { team_member } }, intent) =>
      newItem(looking, 'createTeamMember', intent, 'listTeamMembers', {}, ({ email }) =>
        same(email, team_member.email),
      ),
  },
  createReportTemplate: {
    looksFor: made('A template', 'name'),
    unknown: notShown,
    find: (looking, { body: { report_template } }, intent) =>
      newItem(looking, 'createReportTemplate', intent, 'listReportTemplates', {}, ({ name }) =>
        equal(name, report_template.name),
      ),
  },
  createScheduledReport: {
    looksFor: 'A scheduled report of the site, created since: it can have one at most.',
    async find(looking, { body: { scheduled_report } }, intent) {
      const filters = {
        site_id: { eq: scheduled_report.site_id },
        ...(await createdSince(looking, intent)),
      };
      return item(looking, 'createScheduledReport', intent, 'listScheduledReports', { filters }, () => true);
    },
  },
  createAutoUpdateSchedule: {
    looksFor: made('A schedule', 'name'),
    unknown: notShown,
    find: (looking, { body: { auto_update_schedule } }, intent) =>
      newItem(looking, 'createAutoUpdateSchedule', intent, 'listAutoUpdateSchedules', {}, ({ name }) =>
        equal(name, auto_update_schedule.name),
      ),
  },
  createSiteNote: {
    looksFor: made('A note of the site', 'content'),
    unknown: notShown,
    find: (looking, { site_id, body: { note } }, intent) =>
      newItem(looking, 'createSiteNote', intent, 'listSiteNotes', { site_id }, ({ content }) =>
        equal(content?.trim(), note.content.trim()),
      ),
  },
  updateSiteNote: {
    looksFor: 'The requested content, in a note changed since.',
    unknown: 'When the note has the content and does not show since when.',
    async find(looking, { site_id, note_id, body }, intent) {
      const { note } = await looking.api.showSiteNote({ site_id, note_id });
      if (note.content === undefined) return unknown('The note does not show its content.');
      const isAsAsked = note.content.trim() === body.note.content.trim();
      return changed(looking, 'updateSiteNote', intent, isAsAsked, note);
    },
  },
  createSiteCustomWorks: {
    looksFor: 'Entries of the site created since with the same titles and days.',
    unknown: 'When some of them are there and some are not.',
    async find(looking, { site_id, body: { custom_works } }, intent) {
      const nameOf = (one: { title: string; performed_on: string }) => `${one.performed_on} ${one.title}`;
      const listed: { id: string; created_at?: string | undefined; name: string; isShown: boolean }[] = [];
      const filters = await createdSince(looking, intent);
      for await (const { id, created_at, title, performed_on } of looking.all('listSiteCustomWorks', {
        site_id,
        filters,
      }))
        listed.push({
          id,
          created_at,
          name: nameOf({ title: title ?? '', performed_on: performed_on ?? '' }),
          isShown: title !== undefined && performed_on !== undefined,
        });
      let [there, unclear] = [0, 0];
      for (const name of custom_works.map(nameOf)) {
        const candidates = listed
          .filter((one) => one.name === name || !one.isShown)
          .map(({ id, created_at, isShown }) => ({ id, createdAt: created_at, isSure: isShown }));
        const own = await ownOf(looking, 'createSiteCustomWorks', intent, candidates);
        if (own.is === 'unknown') unclear += 1;
        if (own.is !== 'found') continue;
        there += 1;
        listed.splice(
          listed.findIndex(({ id }) => id === own.id),
          1,
        );
      }
      if (there === custom_works.length) return found;
      if (there + unclear === 0) return absent;
      return unknown(`${there} of ${custom_works.length} entries are there for certain.`);
    },
  },
  updateTeamMember: {
    looksFor:
      'The member with the requested values, by its id, changed since; else, as a pending invitation is replaced, one created since with the same e-mail.',
    unknown: 'When it has the requested values and does not show since when, or when neither is there.',
    async find(looking, { team_member_id, body: { team_member } }, intent) {
      try {
        const shown = (await looking.api.showTeamMember({ team_member_id })).team_member;
        const now = shown as Record<string, unknown>;
        const asked = Object.entries(team_member);
        const differs = asked.some(
          ([name, value]) => name in now && JSON.stringify(now[name]) !== JSON.stringify(value),
        );
        if (!differs && asked.some(([name]) => !(name in now)))
          return unknown('The member does not show the requested values.');
        return changed(looking, 'updateTeamMember', intent, !differs, shown);
      } catch (error) {
        if (!(error instanceof GoneError)) throw error;
        return replaced(looking, 'updateTeamMember', intent);
      }
    },
  },
  resendTeamMemberInvitation: {
    looksFor:
      'As the invitation is replaced: one created since with the same e-mail, when the old one is gone.',
    unknown: 'When neither is there.',
    async find(looking, { team_member_id }, intent) {
      try {
        await looking.api.showTeamMember({ team_member_id });
        return absent;
      } catch (error) {
        if (!(error instanceof GoneError)) throw error;
        return replaced(looking, 'resendTeamMemberInvitation', intent);
      }
    },
  },
  resendSenderEmailVerification: noProbe('the verification was sent again'),
  rotateSenderEmailDkim: {
    looksFor: 'A DKIM value other than the one shown directly before the request.',
    unknown: 'When none was shown then, or none is now.',
    async find(looking, { sender_email_id }, { note }) {
      if (note === undefined) return unknown('The DKIM value before the change is not known.');
      const { sender_email } = await looking.api.showSenderEmail({ sender_email_id });
      const value = sender_email.domain?.dkim?.value;
      if (value === undefined) return unknown('The sender email does not show its DKIM value.');
      if (value === note) return absent;
      return unlessAnothers(looking, 'rotateSenderEmailDkim', sender_email);
    },
  },
};

/** Looks for what replaced an invitation that is gone, by the e-mail that it had directly before the request. */
async function replaced(looking: Looking, operation: OnceId, intent: Intent): Promise<Found> {
  const gone = unknown('It is no longer there under its id, and nothing shows what replaced it.');
  if (intent.note === undefined) return gone;
  const own = await newItem(looking, operation, intent, 'listTeamMembers', {}, ({ email }) =>
    equal(email && lastingId(email), intent.note),
  );
  return own.is === 'absent' ? gone : own;
}

/** Finds out whether a lost change has happened. Only reads. Throws the client's errors. */
export const probeEffect = <Id extends OnceId>(
  operation: Id,
  looking: Looking,
  input: Input<Id>,
  intent: Intent,
): Promise<Found> => (probes[operation] as Probe<Id>).find(looking, input, intent);
