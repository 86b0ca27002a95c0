import { z } from 'zod';
import { holds, isPermitted } from '../../access/principal.ts';
import { defineCommand } from '../command.ts';
import { FreezeAnswer, freezeAnswer } from './freeze.ts';

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
