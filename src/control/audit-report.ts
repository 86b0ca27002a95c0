/** The public form of the audit log: the objects of `audit --json`, of its file and of `GET /api/v1/audit`. */

import { z } from 'zod';
import { isoTime } from '../clock.ts';
import type { AuditLine } from '../records/audit-store.ts';
import { auditResults } from '../records/filter-values.ts';
import { columnsIn } from '../text.ts';

const text = z.string().nullable();

export const AuditReport = z
  .object({
    at: z.iso.datetime(),
    act: z.string().describe('The lines of one act have the same.'),
    result: z
      .enum(auditResults)
      .describe('`requested`: it is being carried out, or the process ended before the result was known.'),
    who: z.object({ kind: z.string(), name: z.string() }),
    from: z.string().describe('An IP address, or `cli@host`.'),
    what: z.string().describe('The command, such as `runs.cancel`, or what else happened.'),
    policy: text,
    account: text,
    run: text,
    targets: z.int().nullable().describe('How many targets were named.'),
    detail: text,
    why: text.describe('The reason that was given.'),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: 'AuditLine' });
export type AuditReport = z.output<typeof AuditReport>;

export const toAuditReport = ({ code, message, ...line }: AuditLine): AuditReport => ({
  at: isoTime(line.at),
  act: line.act,
  result: line.result,
  who: { kind: line.who.kind, name: line.who.name },
  from: line.from,
  what: line.what,
  policy: line.policy ?? null,
  account: line.account ?? null,
  run: line.run ?? null,
  targets: line.targets ?? null,
  detail: line.detail ?? null,
  why: line.why ?? null,
  error: code === undefined ? null : { code, message: message ?? '' },
});

/** The columns of CSV. */
export const auditColumns = columnsIn(
  'at result who.kind who.name from what policy account run targets detail why error.code error.message act',
);
