import { isoMinute } from '../../clock.ts';
import {
  listSitesCommand,
  type SiteReport,
  type SitesAnswer,
  siteColumns,
} from '../../control/commands/list-sites.ts';
import { lastBackup, statesOf } from '../../control/sites.ts';
import { withClient } from '../client.ts';
import type { GlobalOptions } from '../context.ts';
import { exit } from '../exit.ts';
import { type List, readPages, showList } from '../output/list.ts';
import type { Terminal } from '../output/terminal.ts';

interface SitesOptions extends GlobalOptions {
  text?: string;
  client?: string[];
  tag?: string[];
  account?: string[];
  connection?: 'connected' | 'disconnected';
  notSynced?: string;
  notBackedUp?: string;
  outcome?: Parameters<typeof listSitesCommand.carryOut>[0]['outcome'];
  findings?: true;
  other?: true;
  limit: number;
}

/** The longest page of a list. */
const PAGE = 1_000;

/**
 * Lists the sites of the accounts. Reads them when the record is not recent, one request per 100; in this process it
 * waits for the end of that, since no one else would go on with it.
 */
export const sites = (terminal: Terminal, options: SitesOptions): Promise<number> =>
  withClient('caretaker', terminal, options, async ({ read }) => {
    const { text, client, tag, account, connection, notSynced, notBackedUp, outcome } = options;
    const query = {
      ...{ text, client, tag, account, connection, outcome },
      ...{ not_synced: notSynced, not_backed_up: notBackedUp },
      ...(options.findings && { findings: 'true' as const }),
      ...(options.other && { kind: 'other' as const }),
    };
    let accounts: SitesAnswer['accounts'] = [];
    const { rows, next } = await readPages(options.limit, async ({ limit, after }) => {
      const page: SitesAnswer = await read(
        listSitesCommand,
        { ...query, after, limit: Math.min(PAGE, limit) },
        { sites: [], found: 0, accounts, next: null },
        { maxReadingMs: Number.POSITIVE_INFINITY },
      );
      accounts = page.accounts;
      return { rows: page.sites, next: page.next };
    });
    const more = next !== null && 'There are more.';
    const code = await showList(terminal, options, listFor(options), {
      rows,
      none: 'No site matches.',
      more,
    });
    for (const name of account?.filter((one) => !accounts.some((known) => known.account === one)) ?? [])
      terminal.message(`There is no account "${name}": only what stored runs have worked on is known of it.`);
    for (const { account: name, read_at: at, not_newer: why } of accounts)
      if (why !== null)
        terminal.message(
          `The sites of the account "${name}" ${at === null ? 'were never read' : `are those of ${isoMinute(at)}`}: ${why}`,
        );
    // Of what was never read nothing is known: an empty list would say that all is well.
    const isUnknown = accounts.some(({ read_at: at, not_newer: why }) => at === null && why !== null);
    return isUnknown ? exit.unreachable : code;
  });

/** The column of times is of what was asked for. */
const listFor = ({ notBackedUp }: SitesOptions): List<SiteReport> => ({
  table: {
    site: ({ label }) => label,
    title: ({ title }) => title,
    client: ({ client }) => client?.name,
    tags: ({ tags }) => tags?.map(({ name }) => name).join(', '),
    ...(notBackedUp === undefined ? { 'last sync': lastSyncText } : { 'last backup': lastBackupText }),
    state: (site) => (site.in_account === false ? 'not in the account' : statesOf(site).join(', ')),
    'last result': ({ last }) => last?.outcome,
    findings: ({ findings }) => findings || '',
  },
  shrink: ['title: 12', 'tags: 12', 'client: 12', 'site: 16', 'tags: 0', 'title: 0'],
  csv: siteColumns,
});

const lastSyncText = ({ last_sync_at: at }: SiteReport): string =>
  at ? isoMinute(at) : at === null ? 'never' : 'not known';

function lastBackupText(site: SiteReport): string {
  const { at, why } = lastBackup(site);
  return why ?? isoMinute(at);
}
