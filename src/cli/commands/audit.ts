import { isoMinute } from '../../clock.ts';
import { type AuditReport, auditColumns } from '../../control/audit-report.ts';
import { listAudit } from '../../control/commands/list-audit.ts';
import type { AuditLine } from '../../records/audit-store.ts';
import { withReader } from '../client.ts';
import type { GlobalOptions } from '../context.ts';
import { type List, showList } from '../output/list.ts';
import type { Terminal } from '../output/terminal.ts';
import { sinceText } from '../parse-time.ts';

export interface AuditOptions extends GlobalOptions {
  since?: string;
  until?: string;
  who?: string[];
  what?: string[];
  policy?: string[];
  run?: string[];
  account?: string[];
  result?: AuditLine['result'][];
  limit: number;
}

/** Lists the audit log, newest first. */
export const audit = (terminal: Terminal, options: AuditOptions): Promise<number> =>
  withReader('records', terminal, options, async ({ read, clock }) => {
    const { lines, next } = await read(listAudit, inputOf(options, clock.now()), { lines: [], next: null });
    return showList(terminal, options, list, {
      rows: lines,
      none: 'No line of the audit log matches.',
      more: next !== null && 'There are older lines.',
    });
  });

function inputOf(
  { since, until, who, what, policy, run, account, result, limit }: AuditOptions,
  now: number,
) {
  return {
    ...{ who, what, policy, run, account, result, limit },
    since: sinceText(since, now),
    until: sinceText(until, now, '--until'),
  };
}

const styles = { done: 'green', requested: 'yellow', refused: 'red', failed: 'red' } as const;

const list: List<AuditReport> = {
  table: {
    time: ({ at }) => isoMinute(at),
    who: ({ who, from }) => (who.kind === 'local' ? `${who.name} (${from})` : who.name),
    what: ({ what }) => what,
    // Its run, or its policy, or else its account.
    subject: ({ run, policy, account }) => run ?? policy ?? account,
    result: ({ result }, { paint }) => paint(styles[result], result),
    detail: ({ detail, why, error }) => [detail, why, error?.message].filter(Boolean).join('; '),
  },
  shrink: ['detail: 16', 'who: 8', 'detail: 0', 'who: 0'],
  csv: auditColumns,
};
