/** The file to which a process appends its lines of the audit log, one JSON object per line. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileFaultOf, systemCodeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { AuditLine } from '../records/audit-store.ts';
import { visibleJson } from '../text.ts';
import { toAuditReport } from './audit-report.ts';

/**
 * Appends lines to a file. It is opened for each line, so that it can be rotated at any time. Processes may share
 * it, because a line is written at once. A line that cannot be written is logged: it is in Redis.
 */
export const openAuditFile =
  (path: string, log: Log) =>
  (line: AuditLine): void => {
    try {
      append(path, `${visibleJson(toAuditReport(line))}\n`);
    } catch (error) {
      log.error(
        `A line of the audit log cannot be written to ${path}: ${fileFaultOf(error)}. It is in Redis, where "caretaker audit" reads it.`,
      );
    }
  };

function append(path: string, text: string): void {
  try {
    appendFileSync(path, text, { mode: 0o600 });
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    appendFileSync(path, text, { mode: 0o600 });
  }
}
