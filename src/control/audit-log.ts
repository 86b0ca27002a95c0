/** Reads the audit log: one entry for each act, newest first. */
import { isPermitted, type Principal } from '../access/principal.ts';
import { defined } from '../defined.ts';
import type { AuditEntry, AuditLine } from '../records/audit-store.ts';
import { isAnyOf, type OneOrSome } from '../records/one-or-some.ts';
import type { Records } from '../records/records.ts';

export interface AuditQuery {
  /** Milliseconds since 1970. */
  since?: number | undefined;
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

export interface AuditPage {
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
  const { after: before, since, limit } = query;
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
