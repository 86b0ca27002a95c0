import { z } from 'zod';
import { holds, isPermitted } from '../../access/principal.ts';
import { isoTime } from '../../clock.ts';
import type { Freeze } from '../../records/freeze-store.ts';
import { defineCommand } from '../command.ts';

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
});

export const listFreezes = defineCommand()({
  name: 'freezes.list',
  summary: 'Lists the active freezes.',
  role: 'viewer',
  reads: true,
  path: '/freezes',
  input: z.strictObject({}),
  subject: () => undefined,
  /** A freeze of everything concerns everyone; one of an account those who may see the account. */
  async carryOut(_input, { records, clock }, { by: { principal } }) {
    const active = await records.freeze.active(clock.now());
    return active.filter(({ scope }) =>
      scope?.account === undefined ? holds(principal, 'viewer') : isPermitted(principal, 'viewer', scope),
    );
  },
  answer: z.object({ freezes: z.array(FreezeAnswer) }),
  toAnswer: (freezes) => ({ freezes: freezes.map(freezeAnswer) }),
});
