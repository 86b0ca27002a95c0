import { z } from 'zod';
import { holds, isPermitted } from '../../access/principal.ts';
import type { Freeze } from '../../records/freeze-store.ts';
import { FreezeAnswer, freezeAnswer } from '../answers.ts';
import { defineCommand } from '../command.ts';

/** The answer while there are no records. */
export const noFreezes = { freezes: [], planned: [] };

export const listFreezes = defineCommand()({
  name: 'freezes.list',
  summary: 'Lists the active freezes, those that begin later, and the next time of each that recurs.',
  role: 'viewer',
  reads: true,
  path: '/freezes',
  input: z.strictObject({}),
  subject: () => undefined,
  /** A freeze of everything concerns everyone; one of an account those who may see the account. */
  async carryOut(_input, { records, clock }, { by: { principal } }) {
    const now = clock.now();
    const isSeen = ({ scope }: Freeze) =>
      scope?.account === undefined ? holds(principal, 'viewer') : isPermitted(principal, 'viewer', scope);
    const later = (await records.freeze.parts()).filter(({ at, until }) => at > now && until > at);
    const isFirst = ({ id, rule }: Freeze) =>
      !rule || later.find((one) => one.rule?.id === rule.id)?.id === id;
    return {
      freezes: (await records.freeze.active(now)).filter(isSeen),
      planned: later.filter((one) => isFirst(one) && isSeen(one)),
    };
  },
  answer: z.object({ freezes: z.array(FreezeAnswer), planned: z.array(FreezeAnswer) }),
  toAnswer: ({ freezes, planned }) => ({
    freezes: freezes.map(freezeAnswer),
    planned: planned.map(freezeAnswer),
  }),
});
