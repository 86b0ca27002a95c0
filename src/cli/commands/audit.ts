import { isoMinute, isoTime } from '../../clock.ts';
import type { AuditPage } from '../../control/audit-log.ts';
import { toAuditReport } from '../../control/audit-report.ts';
import { carryOut } from '../../control/carry-out.ts';
import { listAudit } from '../../control/commands/list-audit.ts';
import type { AuditLine } from '../../records/audit-store.ts';
import { type GlobalOptions, hasRecords, settingsOf, withRecords } from '../context.ts';
import { exit } from '../exit.ts';
import { localActor } from '../local-actor.ts';
import { type OutputOption, show } from '../output/show.ts';
import { type Terminal, table } from '../output/terminal.ts';
import { sinceOf } from '../parse-since.ts';

export interface AuditOptions extends GlobalOptions {
  since?: string;
  who?: string;
  what?: string;
  policy?: string;
  run?: string;
  account?: string;
  result?: AuditLine['result'];
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
export async function audit(terminal: Terminal, options: AuditOptions): Promise<number> {
  const settings = settingsOf(terminal, options);
  // A command that only reads does not start the embedded Redis.
  const page = hasRecords(settings)
    ? await withRecords(terminal, options, settings, (opened) =>
        carryOut(listAudit, opened, inputOf(options, opened.clock.now()), localActor()),
      )
    : { lines: [] };
  await showAudit(page, terminal, options);
  return exit.ok;
}

/** Shows a page of the log. */
export async function showAudit(page: AuditPage, terminal: Terminal, options: OutputOption): Promise<void> {
  const text = () => {
    if (page.lines.length === 0) terminal.message('No line of the audit log matches.');
    else terminal.data(auditTable(page.lines, terminal));
    if (page.next !== undefined)
      terminal.message(`There are older lines. Use --limit to show more than ${page.lines.length}.`);
  };
  await show(terminal, options, { value: page.lines.map(toAuditReport), columns, text });
}

function inputOf({ since, who, what, policy, run, account, result, limit }: AuditOptions, now: number) {
  const at = sinceOf(since, now);
  const wanted = { who, what, policy, run, account, result, limit };
  return { ...wanted, ...(at === undefined ? {} : { since: isoTime(at) }) };
}

const styles = { done: 'green', requested: 'yellow', refused: 'red', failed: 'red' } as const;

/** What an act concerns: its run, or its policy, or else its account. */
const subjectOf = ({ run, policy, account }: AuditLine): string => run ?? policy ?? account ?? '';

function auditTable(lines: readonly AuditLine[], { paint, dataColumns }: Terminal): string {
  const rows = lines.map((line) => [
    isoMinute(line.at),
    line.who.kind === 'local' ? `${line.who.name} (${line.from})` : line.who.name,
    line.what,
    subjectOf(line),
    paint(styles[line.result], line.result),
    [line.detail, line.why, line.message].filter((part) => part !== undefined).join('; '),
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
