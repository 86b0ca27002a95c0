/** `caretaker findings`: what is wrong in the fleet. */
import { isoMinute } from '../../clock.ts';
import { acknowledgeFindings, unacknowledgeFindings } from '../../control/commands/acknowledge-findings.ts';
import {
  type FindingReport,
  findingColumns,
  listFindingsCommand,
} from '../../control/commands/list-findings.ts';
import type { FindingState, Severity } from '../../records/filter-values.ts';
import { withClient, withReader } from '../client.ts';
import type { GlobalOptions, ReasonOption } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { type List, readPages, showList } from '../output/list.ts';
import type { Terminal } from '../output/terminal.ts';
import { endText, sinceText, type UntilOptions } from '../parse-time.ts';

export interface FindingsOptions extends GlobalOptions {
  severity?: Severity[];
  state?: FindingState[];
  policy?: string[];
  account?: string[];
  search?: string;
  since?: string;
  limit: number;
}

/** Lists findings, the most severe first: as many as the limit says, page by page. */
export const findings = (terminal: Terminal, options: FindingsOptions): Promise<number> =>
  withReader('records', terminal, options, async ({ read, clock }) => {
    const { severity, state, policy, account, search } = options;
    const since = sinceText(options.since, clock.now());
    const query = { severity, state, policy, account, search, since };
    // A page may be short: with a search it reads a part of the findings.
    const { rows, next } = await readPages(options.limit, async (page) => {
      const found = await read(listFindingsCommand, { ...query, ...page }, { findings: [], next: null });
      return { rows: found.findings, next: found.next };
    });
    const more = next !== null && 'There are more.';
    return showList(terminal, options, list, {
      rows,
      none: 'No finding that a run has recorded matches.',
      more,
    });
  });

/** As many as a policy can have. */
const MAX_ACKNOWLEDGED = 1_000;

export interface AcknowledgeOptions extends GlobalOptions, UntilOptions {
  account: string;
  about?: string;
  reason: string;
  severity?: Severity[];
  search?: string;
  all?: true;
}

/** Acknowledges the open findings of a policy on a site, or those that match. */
export const acknowledge = (
  terminal: Terminal,
  policy: string,
  site: string | undefined,
  options: AcknowledgeOptions,
): Promise<number> =>
  withClient('records', terminal, options, async ({ act, read, clock }) => {
    const { account, about, reason, severity, search, all, ...ends } = options;
    const until = endText(ends, clock.now());
    if ((site === undefined) !== Boolean(severity ?? search ?? all))
      throw new UsageError(
        site === undefined
          ? 'Give the id of a site; or without one, --severity, --search, or --all for all open findings of the policy.'
          : '--severity, --search and --all are for findings on all sites: leave out the site, or them.',
      );
    const query = { policy, account, severity, search, state: ['new' as const, 'open' as const] };
    const listed =
      site === undefined
        ? await readPages(MAX_ACKNOWLEDGED, async (page) => {
            const found = await read(
              listFindingsCommand,
              { ...query, ...page },
              { findings: [], next: null },
            );
            return { rows: found.findings, next: found.next };
          })
        : undefined;
    const only = listed?.rows.map(({ target, about }) => ({ target, about }));
    if (only?.length === 0) throw new UsageError(`No open finding of ${policy} matches.`);
    const input = { policy, account, site, findings: only, about, reason, until };
    const { findings: found } = await act(acknowledgeFindings, input);
    const last = found[0]?.acknowledged_until ?? null;
    const end = last === null ? 'until resolved' : `until ${isoMinute(last)}`;
    for (const { label, about, message } of found)
      terminal.message(`Acknowledged ${end}: ${label}, ${about}: ${message}`);
    return exit.ok;
  });

/** Ends the acknowledgement of the open findings of a policy on a site. */
export const unacknowledge = (
  terminal: Terminal,
  policy: string,
  site: string,
  options: GlobalOptions & Pick<AcknowledgeOptions, 'account' | 'about'> & ReasonOption,
): Promise<number> =>
  withClient('records', terminal, options, async ({ act }) => {
    const { account, about, reason } = options;
    const input = { policy, account, site, about, reason };
    const { length: count } = (await act(unacknowledgeFindings, input)).findings;
    terminal.message(count === 1 ? 'The finding counts again.' : `${count} findings count again.`);
    return exit.ok;
  });

const styles = { error: 'red', warning: 'yellow', info: 'dim' } as const;

const list: List<FindingReport> = {
  table: {
    severity: ({ severity }, { paint }) => paint(styles[severity], severity),
    state: ({ state }) => state,
    policy: ({ policy }) => policy,
    site: ({ label }) => label,
    since: ({ since }) => isoMinute(since),
    'last seen': ({ last_seen_at: at }) => isoMinute(at),
    message: ({ about, message }) => `${about}: ${message}`,
  },
  shrink: ['message: 20', 'site: 12', 'message: 0'],
  csv: findingColumns,
};
