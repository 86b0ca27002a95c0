/** Writes the audit log: acts of people and programs, sign-ins, and what the daemon does by itself. */
import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../clock.ts';
import { fileFaultOf, systemCodeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { AuditLine } from '../records/audit-store.ts';
import type { Records } from '../records/records.ts';
import { redact } from '../secrets.ts';
import { visibleJson } from '../text.ts';
import { toAuditReport } from './audit-report.ts';

/** Lines go to Redis first, and then to the file that the settings name. */
export interface Audit {
  /** Adds a line. When it cannot be added, the act that it announces must not be carried out. */
  write(line: Omit<AuditLine, 'at'>): Promise<void>;
  /**
   * Adds the result of an act. When it cannot be added, that is logged: the act has happened, and its request
   * stays in the log without a result.
   */
  writeResult(line: Omit<AuditLine, 'at'>): Promise<void>;
  /**
   * Adds that an act was refused because of who asked. In each process, everyone has ten such lines a minute and one more
   * that says so: no one without a role can fill the log.
   */
  refuse(line: Omit<AuditLine, 'at' | 'result'>): Promise<void>;
  /** The same for something that has happened and has no request: a sign-in, a changed file. */
  note(event: Omit<AuditLine, 'at' | 'act'>): Promise<void>;
}

export interface AuditOptions {
  records: Pick<Records, 'audit'>;
  clock: Pick<Clock, 'now'>;
  /** How long lines are kept. */
  keptMs: number;
  log: Log;
  /** Also receives each line, once it is in Redis. */
  file?: ((line: AuditLine) => void) | undefined;
}

const MAX_TEXT = 500;
const MAX_REFUSED = 10;
const REFUSED_WINDOW_MS = 60_000;
/** Principals that are remembered; beyond that all are forgotten. */
const MAX_PRINCIPALS = 1_000;

export function openAudit({ records, clock, keptMs, log, file }: AuditOptions): Audit {
  const write = async (given: Omit<AuditLine, 'at'>) => {
    // Secrets are hidden here too: a reason or an error can contain anything.
    const line = shortened(redact({ ...given, at: clock.now() }) as AuditLine);
    await records.audit.append(line, keptMs);
    file?.(line);
  };
  const writeResult = (line: Omit<AuditLine, 'at'>) =>
    write(line).catch((error: unknown) =>
      log.error(
        { err: error, act: line.act, what: line.what },
        'the result of an act is not in the audit log',
      ),
    );
  const refused = new Map<string, { count: number; endsAt: number }>();
  const refuse = async (line: Omit<AuditLine, 'at' | 'result'>) => {
    const now = clock.now();
    const key = `${line.who.kind}:${line.who.name}`;
    const last = refused.get(key);
    const window = last && last.endsAt > now ? last : { count: 0, endsAt: now + REFUSED_WINDOW_MS };
    window.count += 1;
    if (refused.size >= MAX_PRINCIPALS && !refused.has(key)) refused.clear();
    refused.set(key, window);
    if (window.count > MAX_REFUSED + 1) return;
    const message =
      window.count > MAX_REFUSED
        ? { message: `${line.message ?? ''} More that is refused within this minute has no line.`.trim() }
        : {};
    await writeResult({ ...line, ...message, result: 'refused' });
  };
  return { write, writeResult, refuse, note: (event) => writeResult({ ...event, act: randomUUID() }) };
}

/** Texts that others write are cut, so that no line is large. */
function shortened(line: AuditLine): AuditLine {
  const cut = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text);
  const entries = Object.entries(line).map(([key, value]) => [
    key,
    typeof value === 'string' ? cut(value) : value,
  ]);
  return Object.fromEntries(entries) as AuditLine;
}

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
