import { z } from 'zod';
import { isPermitted, type Principal } from '../../access/principal.ts';
import { defined } from '../../defined.ts';
import type { AuditEntry, AuditLine } from '../../records/audit-store.ts';
import { auditResults, isAnyOf, type OneOrSome } from '../../records/filter-values.ts';
import type { Records } from '../../records/records.ts';
import { NextPage } from '../answers.ts';
import { AuditReport, toAuditReport } from '../audit-report.ts';
import { defineCommand } from '../command.ts';
import { limit, pastTime, someOf, someText } from '../fields.ts';

export const listAudit = defineCommand()({
  name: 'audit.list',
  summary: 'Lists the audit log, newest first: what people, programs and the daemon did.',
  role: 'operator',
  reads: true,
  path: '/audit',
  input: z.strictObject({
    since: pastTime.describe('Only lines since this time: 2026-11-01T02:00:00Z, 2026-11-01, or 7d ago.'),
    until: pastTime.describe('Only lines before this time, written as `since`.'),
    who: someText.describe('A part of the name of who acted.'),
    what: someText.describe('A command or the beginning of it: `runs`, `runs.cancel`, `sign-in`.'),
    policy: someText,
    run: someText,
    account: someText,
    result: someOf(z.enum(auditResults)),
    after: z
      .string()
      .regex(/^\d+-\d+$/)
      .optional()
      .describe('The `next` of the previous page.'),
    limit,
  }),
  // For every operator of something; the answer has the lines that the grants of the caller cover.
  subject: () => undefined,
  carryOut: ({ since, until, ...query }, { records, clock }, { by }) => {
    const now = clock.now();
    return auditLog(records, { ...query, since: since?.(now), until: until?.(now) }, by.principal);
  },
  answer: z.object({ lines: z.array(AuditReport), ...NextPage }),
  toAnswer: ({ lines, next }) => ({ lines: lines.map(toAuditReport), next: next ?? null }),
});

/** Reads the audit log: one entry for each act, newest first. */
interface AuditQuery {
  /** Milliseconds since 1970. */
  since?: number | undefined;
  until?: number | undefined;
  /** A part of the name, in any case. */
  who?: OneOrSome<string>;
  /** The command, or the beginning of it: `runs`, `runs.cancel`. */
  what?: OneOrSome<string>;
  policy?: OneOrSome<string>;
  run?: OneOrSome<string>;
  account?: OneOrSome<string>;
  result?: OneOrSome<AuditLine['result']>;
  /** The place that the previous page gave. */
  after?: string | undefined;
  limit: number;
}

interface AuditPage {
  lines: AuditLine[];
  /** The `after` of the next page; missing at the end. */
  next?: string;
}

/** The result of an act that ended later is shown beside its request. */
const LONGEST_ACT_MS = 3_600_000;

/**
 * A page of the log, as far as the principal may see it: acts on policies and accounts for which it is an operator.
 * An act is shown by its result; one without a result is shown by its request. Reads the whole log when few lines
 * match.
 */
export async function auditLog(
  { audit }: Pick<Records, 'audit'>,
  query: AuditQuery,
  principal: Principal,
): Promise<AuditPage> {
  const { after, since, until, limit } = query;
  // Places begin with the time.
  const before = after ?? (until === undefined ? undefined : `${Math.max(0, until)}-0`);
  const answered = before === undefined ? new Set<string>() : await actsAnsweredAfter(audit, before);
  const lines: AuditLine[] = [];
  let last: string | undefined;
  for await (const { place, line } of audit.newestFirst(defined({ since, before }))) {
    if (isAnswered(line, answered) || !isMatch(line, query) || !isPermitted(principal, 'operator', line))
      continue;
    if (lines.length === limit) return { lines, ...defined({ next: last }) };
    lines.push(line);
    last = place;
  }
  return { lines };
}

/** Whether it is a request whose result was seen. Remembers results. */
function isAnswered({ act, result }: AuditLine, answered: Set<string>): boolean {
  if (result === 'requested') return answered.delete(act);
  answered.add(act);
  return false;
}

async function actsAnsweredAfter(audit: Records['audit'], place: string): Promise<Set<string>> {
  const answered = new Set<string>();
  const add = ({ line }: AuditEntry) => line.result !== 'requested' && answered.add(line.act);
  for await (const entry of audit.from(place, LONGEST_ACT_MS)) add(entry);
  return answered;
}

const isMatch = (line: AuditLine, { who, what, policy, run, account, result }: AuditQuery): boolean =>
  isAnyOf(who, (one) => line.who.name.toLowerCase().includes(one.toLowerCase())) &&
  isAnyOf(what, (one) => line.what.startsWith(one.toLowerCase())) &&
  isAnyOf(policy, (one) => line.policy === one) &&
  isAnyOf(run, (one) => line.run === one) &&
  isAnyOf(account, (one) => line.account === one) &&
  isAnyOf(result, (one) => line.result === one);
