import { isoTime } from '../../clock.ts';
import { type AuditReport, fromAuditReport } from '../../control/audit-report.ts';
import { type AuditOptions, showAudit } from '../commands/audit.ts';
import { exit } from '../exit.ts';
import { clockOf } from '../io.ts';
import type { Terminal } from '../output/terminal.ts';
import { sinceOf } from '../parse-since.ts';
import type { Server } from './server.ts';

/** Lists the audit log of the server, as far as the token may see it. */
export async function audit(
  terminal: Terminal,
  server: Server,
  _args: string[],
  { since, who, what, policy, run, account, result, limit, ...options }: AuditOptions,
): Promise<number> {
  const at = sinceOf(since, clockOf(terminal.io).now());
  const page = await server.get<{ lines: AuditReport[]; next: string | null }>('/audit', {
    ...{ who, what, policy, run, account, result, limit },
    since: at === undefined ? undefined : isoTime(at),
  });
  const lines = page.lines.map(fromAuditReport);
  await showAudit({ lines, ...(page.next === null ? {} : { next: page.next }) }, terminal, options);
  return exit.ok;
}
