import { isoMinute, isoTime } from '../../clock.ts';
import type { AuditReport } from '../../control/audit-report.ts';
import { listAudit } from '../../control/commands/list-audit.ts';
import type { AuditLine } from '../../records/audit-store.ts';
import { withReader } from '../client.ts';
import type { GlobalOptions } from '../context.ts';
import { exit } from '../exit.ts';
import { show } from '../output/show.ts';
import { type Terminal, table } from '../output/terminal.ts';
import { sinceOf } from '../parse-since.ts';

export interface AuditOptions extends GlobalOptions {
  since?: string;
  who?: string[];
  what?: string[];
  policy?: string[];
  run?: string[];
  account?: string[];
  result?: AuditLine['result'][];
  limit: number;
}

const columns = [
  ...[
    'at',
    'result',
    'who.kind',
    'who.name',
    'from',
    'what',
    'policy',
    'account',
    'run',
    'targets',
    'detail',
  ],
  ...['why', 'error.code', 'error.message', 'act'],
];

/** Lists the audit log, newest first. */
export const audit = (terminal: Terminal, options: AuditOptions): Promise<number> =>
  withReader('records', terminal, options, async ({ read, clock }) => {
    const { lines, next } = await read(listAudit, inputOf(options, clock.now()), { lines: [], next: null });
    const text = () => {
      if (lines.length === 0) terminal.message('No line of the audit log matches.');
      else terminal.data(auditTable(lines, terminal));
      if (next !== null)
        terminal.message(`There are older lines. Use --limit to show more than ${lines.length}.`);
    };
    await show(terminal, options, { value: lines, columns, text });
    return exit.ok;
  });

function inputOf({ since, who, what, policy, run, account, result, limit }: AuditOptions, now: number) {
  const at = sinceOf(since, now);
  const wanted = { who, what, policy, run, account, result, limit };
  return { ...wanted, ...(at === undefined ? {} : { since: isoTime(at) }) };
}

const styles = { done: 'green', requested: 'yellow', refused: 'red', failed: 'red' } as const;

/** What an act concerns: its run, or its policy, or else its account. */
const subjectOf = ({ run, policy, account }: AuditReport): string => run ?? policy ?? account ?? '';

function auditTable(lines: readonly AuditReport[], { paint, dataColumns }: Terminal): string {
  const rows = lines.map((line) => [
    isoMinute(Date.parse(line.at)),
    line.who.kind === 'local' ? `${line.who.name} (${line.from})` : line.who.name,
    line.what,
    subjectOf(line),
    paint(styles[line.result], line.result),
    [line.detail, line.why, line.error?.message].filter((part) => part).join('; '),
  ]);
  return table(['time', 'who', 'what', 'subject', 'result', 'detail'], rows, paint, {
    columns: dataColumns,
    shrink: [
      { column: 5, min: 16 },
      { column: 1, min: 8 },
      { column: 5, min: 0 },
      { column: 1, min: 0 },
    ],
  });
}
