/** The form of answers to programs, from which the OpenAPI document is made. */
import { z } from 'zod';
import { isoTime } from '../clock.ts';
import type { Freeze } from '../records/freeze-store.ts';
import { RunSummary, toSummary } from '../run/report.ts';
import type { Run } from '../run/run.ts';
import { formatDuration } from '../yaml/duration.ts';

/** The end of the answer of a list. */
export const NextPage = {
  next: z
    .string()
    .nullable()
    .describe('The `after` of the next page; null at the end. The header Link has its address.'),
};

export const OneRun = z.object({ run: RunSummary });
export const oneRun = (run: Run) => ({ run: toSummary(run) });

export const Nothing = z.object({});

export const FreezeAnswer = z
  .object({
    id: z.string().nullable().describe('Missing for the freeze of everything.'),
    account: z.string().nullable(),
    policy: z.string().nullable(),
    job: z.string().nullable(),
    client: z.string().nullable(),
    tag: z.string().nullable(),
    by: z.string(),
    since: z.iso.datetime(),
    until: z.iso.datetime(),
    reason: z.string().nullable(),
    rule: z
      .object({ id: z.string(), cron: z.array(z.string()), timezone: z.string(), for: z.string() })
      .nullable()
      .describe('Of one that recurs: when it begins each time, and for how long. Its id ends it for good.'),
  })
  .meta({ id: 'Freeze' });

export type FreezeAnswer = z.output<typeof FreezeAnswer>;

/** A freeze as programs see it. */
export const freezeAnswer = ({
  id,
  scope = {},
  by,
  at,
  until,
  reason,
  rule,
}: Freeze): z.output<typeof FreezeAnswer> => ({
  id: id ?? null,
  account: scope.account ?? null,
  policy: scope.policy ?? null,
  job: scope.job ?? null,
  client: scope.client ?? null,
  tag: scope.tag ?? null,
  by,
  since: isoTime(at),
  until: isoTime(until),
  reason: reason ?? null,
  rule: rule
    ? { id: rule.id, cron: rule.cron, timezone: rule.timezone, for: formatDuration(rule.forMs) }
    : null,
});
