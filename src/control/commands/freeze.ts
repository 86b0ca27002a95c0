import { z } from 'zod';
import { isoEnd } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { type FreezeScope, formatScope } from '../../records/freeze-scope.ts';
import { type Freeze, formatFrozen } from '../../records/freeze-store.ts';
import { type ActSubject, type BaseDeps, defineCommand } from '../command.ts';
import { NotFoundError } from '../errors.ts';
import { endOf, reason, until } from '../fields.ts';
import { type NameDeps, needNames } from '../freeze-names.ts';
import { FreezeAnswer, freezeAnswer } from './list-freezes.ts';

const text = z.string().min(1).max(200).optional();

const scopeOf = ({
  account,
  job,
  client,
  tag,
}: { [K in keyof FreezeScope]: string | undefined }): FreezeScope => defined({ account, job, client, tag });

/** A freeze that has just begun. */
export const BegunFreeze = FreezeAnswer.extend({
  replaced: FreezeAnswer.nullable().describe('The freeze of everything that it replaces.'),
  unchecked: z
    .string()
    .nullable()
    .describe('Why it is not known whether the client or tag exists: an account could not be asked.'),
});
export type BegunFreeze = z.output<typeof BegunFreeze>;

export const beginFreeze = defineCommand<NameDeps>()({
  name: 'freezes.begin',
  summary:
    'Keeps policies from starting runs until a time: all, or those of an account or job; or skips the targets of a client or tag.',
  role: 'operator',
  path: '/freezes',
  input: z.strictObject({ until, account: text, job: text, client: text, tag: text, reason }),
  /** A freeze of a job, a client or a tag may concern any policy of the account. */
  subject({ account, job, client, tag }): ActSubject {
    const scope = scopeOf({ account, job, client, tag });
    const detail = Object.keys(scope).length === 0 ? 'everything' : formatScope(scope);
    return { ...(account === undefined ? {} : { account }), detail };
  },
  async carryOut({ until: end, reason, ...names }, deps, act) {
    const { records, clock } = deps;
    const at = clock.now();
    const ends = endOf(end, at);
    const by = act.by.principal.name;
    const scope = scopeOf(names);
    if (Object.keys(scope).length === 0) {
      const before = await records.freeze.at(at);
      const why = reason || before?.reason;
      const freeze: Freeze = { at, by, until: ends, ...(why === undefined ? {} : { reason: why }) };
      await records.freeze.begin(freeze);
      return { freeze, before, unchecked: undefined };
    }
    const unchecked = await needNames(scope, deps);
    const { id } = await act.decide('freeze', async () => ({ id: await records.freeze.nextId() }));
    const freeze = { id, scope, at, by, until: ends, ...(reason ? { reason } : {}) };
    await records.freeze.add(freeze);
    return { freeze: freeze as Freeze, before: undefined, unchecked };
  },
  outcome: ({ freeze }) => ({
    detail: `${formatFrozen(freeze)}, until ${isoEnd(freeze.until)}${freeze.id === undefined ? '' : ` (${freeze.id})`}`,
  }),
  answer: BegunFreeze,
  toAnswer: ({ freeze, before, unchecked }) => ({
    ...freezeAnswer(freeze),
    replaced: before ? freezeAnswer(before) : null,
    unchecked: unchecked ?? null,
  }),
});

/** Number of the freeze of everything in addresses. */
const EVERYTHING = 'everything';

async function freezeNamed({ records, clock }: BaseDeps, id: string): Promise<Freeze | undefined> {
  const active = await records.freeze.active(clock.now());
  return active.find((one) => (id === EVERYTHING ? one.scope === undefined : one.id === id));
}

export const endFreeze = defineCommand()({
  name: 'freezes.end',
  summary: 'Ends a freeze early. Scheduled times that it skipped stay skipped.',
  role: 'operator',
  path: '/freezes/{freeze}/end',
  input: z.strictObject({
    freeze: z.string().min(1).describe('The id of a freeze, or `everything` for the freeze of everything.'),
    reason,
  }),
  async subject({ freeze: id }, deps): Promise<ActSubject> {
    const freeze = await freezeNamed(deps, id);
    const account = freeze?.scope?.account;
    return {
      ...(account === undefined ? {} : { account }),
      detail: freeze ? formatFrozen(freeze) : `the freeze ${id}`,
    };
  },
  async carryOut({ freeze: id }, deps) {
    const { records, clock } = deps;
    const now = clock.now();
    if (id !== EVERYTHING) {
      const ended = await records.freeze.lift(id, now);
      if (!ended)
        throw new NotFoundError(`There is no active freeze ${id}. "caretaker freeze list" lists them.`);
      return { ended: ended as Freeze | undefined };
    }
    const ended = await records.freeze.at(now);
    if (ended) await records.freeze.end(now);
    return { ended };
  },
  answer: z.object({ ended: FreezeAnswer.nullable() }),
  toAnswer: ({ ended }) => ({ ended: ended ? freezeAnswer(ended) : null }),
});
