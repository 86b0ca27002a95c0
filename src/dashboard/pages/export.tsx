/** Lists as CSV files. Each that is sent has a line in the audit log. */

import { randomUUID } from 'node:crypto';
import { stream } from 'hono/streaming';
import type { z } from 'zod';
import { isoTime } from '../../clock.ts';
import { answer, parseInput } from '../../control/carry-out.ts';
import type { Command } from '../../control/command.ts';
import type { ControlDeps } from '../../control/commands.ts';
import type { AuditLine } from '../../records/audit-store.ts';
import { BYTE_ORDER_MARK, csvLine, flatRow } from '../../text.ts';
import { actorOf } from '../auth/caller.ts';
import { pathWith } from '../components/filter-bar.tsx';
import { Icon } from '../components/icon.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';

/** So many rows are read at once. */
const PAGE = 1_000;

/** The link to the file of a list with these filters. */
export const CsvLink = ({ path, given = {} }: { path: string; given?: Parameters<typeof pathWith>[1] }) => (
  <a class="action" href={pathWith(path, given)} download>
    <Icon name="download" /> CSV
  </a>
);

interface CsvFile {
  /** What it has: `runs`. */
  of: string;
  /** `runs-2026-11-24` without it. */
  name?: string;
  columns: readonly string[];
  rows: Iterable<object> | AsyncIterable<object>;
  /** What it concerns, for the audit log. */
  subject?: Pick<AuditLine, 'run' | 'policy' | 'account'>;
}

/** Sends these columns of the rows while they are read, so their number does not matter. */
export async function sendCsv(
  c: Exchange,
  { control, clock }: DashboardContext,
  { of, name = `${of}-${isoTime(clock.now()).slice(0, 10)}`, columns, rows, subject }: CsvFile,
): Promise<Response> {
  const { principal, from } = actorOf(c);
  const filters = Object.entries(c.req.query()).map(([key, value]) => `${key}: ${value}`);
  await control.audit.write({
    ...{ act: randomUUID(), result: 'done', what: `export.${of}`, from },
    who: { kind: principal.kind, name: principal.name },
    ...subject,
    ...(filters.length > 0 ? { detail: filters.join(', ') } : {}),
  });
  c.header('Content-Type', 'text/csv; charset=UTF-8');
  c.header('Content-Disposition', `attachment; filename="${name.replace(/[^\w.-]/g, '_')}.csv"`);
  return stream(c, async (body) => {
    await body.write(`${BYTE_ORDER_MARK}${csvLine(columns)}\r\n`);
    for await (const row of rows) {
      const cells = flatRow(row);
      await body.write(`${csvLine(columns.map((column) => cells.get(column) ?? null))}\r\n`);
    }
  });
}

/**
 * Sends everything that a command lists, page by page, as the command line and the API show it.
 *
 * @throws {InvalidRequestError} before anything is sent.
 */
export function sendList<Schema extends z.ZodType, Result, Answer extends { next: string | null }>(
  c: Exchange,
  context: DashboardContext,
  file: Pick<CsvFile, 'of' | 'columns'>,
  command: Command<Schema, Result, ControlDeps, Answer>,
  filter: Omit<z.input<Schema>, 'limit' | 'after'>,
  rowsOf: (answer: Answer) => readonly object[],
): Promise<Response> {
  const inputAt = (after: string | undefined) => ({ ...filter, limit: PAGE, after }) as z.input<Schema>;
  parseInput(command, inputAt(undefined));
  return sendCsv(c, context, { ...file, rows: rows() });
  async function* rows() {
    for (let after: string | null | undefined; after !== null; ) {
      const page: Answer = await answer(command, context.control, inputAt(after), actorOf(c));
      yield* rowsOf(page);
      after = page.next;
    }
  }
}
