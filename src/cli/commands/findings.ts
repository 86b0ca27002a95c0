/** `caretaker findings`: what is wrong in the fleet. */
import { isoMinute } from '../../clock.ts';
import { acknowledgeFindings, unacknowledgeFindings } from '../../control/commands/acknowledge-findings.ts';
import { listFindingsCommand } from '../../control/commands/list-findings.ts';
import { type FindingReport, findingColumns } from '../../control/finding-report.ts';
import type { FindingState, Severity } from '../../records/finding-words.ts';
import { withClient, withReader } from '../client.ts';
import type { GlobalOptions, ReasonOption } from '../context.ts';
import { exit } from '../exit.ts';
import { show } from '../output/show.ts';
import { type Terminal, table } from '../output/terminal.ts';
import { endText, type UntilOptions } from '../parse-end-time.ts';

export interface FindingsOptions extends GlobalOptions {
  severity?: Severity[];
  state?: FindingState[];
  policy?: string[];
  account?: string[];
  search?: string;
  limit: number;
}

/** Lists findings, the most severe first: as many as the limit says, page by page. */
export const findings = (terminal: Terminal, options: FindingsOptions): Promise<number> =>
  withReader('records', terminal, options, async ({ read }) => {
    const { severity, state, policy, account, search, limit } = options;
    const all: FindingReport[] = [];
    let next: string | null = null;
    do {
      const input = { severity, state, policy, account, search, after: next ?? undefined };
      // A page may be short: with a search it reads a part of the findings.
      const page: { findings: FindingReport[]; next: string | null } = await read(
        listFindingsCommand,
        { ...input, limit: limit - all.length },
        { findings: [], next: null },
      );
      all.push(...page.findings);
      next = page.next;
    } while (next !== null && all.length < limit);
    const text = () => {
      if (all.length === 0) terminal.message('No finding matches.');
      else terminal.data(findingTable(all, terminal));
      if (next !== null) terminal.message(`There are more. Use --limit to show more than ${all.length}.`);
    };
    await show(terminal, options, { value: all, columns: findingColumns, text });
    return exit.ok;
  });

export interface AcknowledgeOptions extends GlobalOptions, UntilOptions {
  account: string;
  about?: string;
  reason: string;
}

/** Acknowledges the open findings of a policy on a site. */
export const acknowledge = (
  terminal: Terminal,
  policy: string,
  site: string,
  options: AcknowledgeOptions,
): Promise<number> =>
  withClient('records', terminal, options, async ({ act, clock }) => {
    const { account, about, reason, ...ends } = options;
    const until = endText(ends, clock.now());
    const input = { policy, account, site, about, reason, until };
    const { findings: found } = await act(acknowledgeFindings, input);
    const last = found[0]?.acknowledged_until ?? null;
    const end = last === null ? 'until resolved' : `until ${isoMinute(Date.parse(last))}`;
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

const findingTable = (findings: readonly FindingReport[], { paint, dataColumns }: Terminal): string =>
  table(
    ['severity', 'state', 'policy', 'site', 'since', 'message'],
    findings.map(({ severity, state, policy, label, since, about, message }) => [
      paint(styles[severity], severity),
      state,
      policy,
      label,
      isoMinute(Date.parse(since)),
      `${about}: ${message}`,
    ]),
    paint,
    {
      columns: dataColumns,
      shrink: [
        { column: 5, min: 20 },
        { column: 3, min: 12 },
        { column: 5, min: 0 },
      ],
    },
  );
