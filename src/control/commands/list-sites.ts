import { z } from 'zod';
import { isoTime, isoTimeOrNull } from '../../clock.ts';
import { SiteFacts } from '../../records/site-store.ts';
import { outcomes } from '../../run/run.ts';
import { columnsIn } from '../../text.ts';
import { duration } from '../../yaml/duration.ts';
import { NextPage } from '../answers.ts';
import { defineCommand } from '../command.ts';
import { limit, nextOf, someOf, someText } from '../fields.ts';
import { type ListedSite, listSites, type SitePage, type SitesDeps, siteKinds } from '../sites.ts';

const time = z.iso.datetime().nullable();
const text = z.string();

const SiteReport = SiteFacts.partial({ title: true, url: true }).extend({
  account: text,
  label: text.describe('Its address; of another target, what runs call it.'),
  in_account: z.boolean().nullable().describe('Whether the account had it then; null: it was never read.'),
  read_at: time.describe('When the service showed this.'),
  last: z
    .object({ run: text, policy: text, outcome: text.nullable(), reason: text.nullable(), at: time })
    .nullable()
    .describe('The last stored run that worked on it.'),
  failed_in_a_row: z.int(),
  findings: z.int().describe('How many are open on it and its items.'),
});
export type SiteReport = z.output<typeof SiteReport>;

/** The columns of CSV. */
export const siteColumns = columnsIn(
  'account id url title client.id client.name tags last_sync_at last_sync_status syncs_paused',
  'connection scanner backups_enabled latest_snapshot.created_at latest_snapshot.status core_update php_version',
  'locked in_account read_at last.run last.policy last.outcome last.reason last.at',
  'failed_in_a_row findings',
);

const SitesAnswer = z.object({
  sites: z.array(SiteReport),
  found: z.int().nullable().describe('How many match, where that is known.'),
  accounts: z.array(
    z.object({
      account: text,
      read_at: time.describe('When its sites were read; null: never, so that its list is not known.'),
      sites: z.int().nullable(),
      not_newer: text.nullable().describe('Why they were not read again.'),
    }),
  ),
  ...NextPage,
});
export type SitesAnswer = z.output<typeof SitesAnswer>;

export const listSitesCommand = defineCommand<SitesDeps>()({
  name: 'sites.list',
  summary: 'Lists the sites of the accounts, by address, with how runs did on them and their open findings.',
  role: 'viewer',
  reads: true,
  path: '/sites',
  input: z.strictObject({
    text: z.string().max(200).optional().describe('Words in the address, title or id, in any case.'),
    client: someText.describe('The id or name of its client.'),
    tag: someText.describe('The id or name of a tag that it has.'),
    account: someText,
    connection: someOf(z.enum(['connected', 'disconnected'])),
    not_synced: duration()
      .optional()
      .describe(
        'No sync is known to have succeeded for this long, or ever: 3d. Sites whose syncs are not shown are listed.',
      ),
    not_backed_up: duration()
      .optional()
      .describe(
        'No backup is known to have succeeded for this long, or ever: 7d. Sites whose backups are off, or whose ' +
          'latest snapshot is not shown or did not succeed, are listed.',
      ),
    outcome: someOf(z.enum([...outcomes, 'none'])).describe(
      'How its last run ended for it; `none`: no stored run has worked on it.',
    ),
    findings: z.enum(['true', 'false']).optional().describe('With open findings, or without.'),
    kind: z
      .enum(siteKinds)
      .default('site')
      .describe('`other`: staging copies, clients and whatever else runs worked on.'),
    order: z.enum(['ascending', 'descending']).default('ascending').describe('By address.'),
    ...nextOf,
    limit,
  }),
  // The answer has what the grants cover.
  subject: () => undefined,
  carryOut: (
    { text = '', findings, limit: count, after, order, ...given },
    deps,
    { by: { principal: by } },
  ): Promise<SitePage> => {
    const { not_synced: notSynced, not_backed_up: notBackedUp, ...filter } = given;
    const ago = (ms: number | undefined) => (ms === undefined ? undefined : deps.clock.now() - ms);
    return listSites(
      deps,
      {
        ...filter,
        words: text.toLowerCase().split(/\s+/).filter(Boolean),
        notSyncedSince: ago(notSynced),
        notBackedUpSince: ago(notBackedUp),
        findings: findings === undefined ? undefined : findings === 'true',
      },
      { limit: count, after, descending: order === 'descending', by },
    );
  },
  answer: SitesAnswer,
  toAnswer: ({ sites, found, next, accounts }): SitesAnswer => ({
    sites: sites.map(toSiteReport),
    found: found ?? null,
    accounts: accounts.map(({ account, reading, notNewer }) => ({
      account,
      read_at: isoTimeOrNull(reading?.at),
      sites: reading?.sites ?? null,
      not_newer: notNewer ?? null,
    })),
    next: next ?? null,
  }),
});

function toSiteReport({ account, target, label, site, readAt, last, ...row }: ListedSite): SiteReport {
  return {
    ...{ account, id: target, label, ...site },
    in_account: readAt === undefined ? null : site !== undefined,
    read_at: isoTimeOrNull(readAt),
    last: last
      ? {
          ...{ run: last.run.id, policy: last.run.policy },
          ...{ outcome: last.target.outcome ?? null, reason: last.target.reason ?? null },
          at: isoTime(last.target.finishedAt ?? last.run.createdAt),
        }
      : null,
    ...{ failed_in_a_row: row.streak, findings: row.findings },
  };
}
