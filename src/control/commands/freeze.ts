import { z } from 'zod';
import { isoEnd } from '../../clock.ts';
import { DAY_MS } from '../../dates.ts';
import { defined } from '../../defined.ts';
import { type FreezeScope, formatRule, formatScope } from '../../records/freeze-scope.ts';
import { type Freeze, formatFrozen } from '../../records/freeze-store.ts';
import { cron, timezone } from '../../yaml/cron.ts';
import { duration } from '../../yaml/duration.ts';
import { FreezeAnswer, freezeAnswer } from '../answers.ts';
import { type ActSubject, type BaseDeps, defineCommand } from '../command.ts';
import { NotFoundError } from '../errors.ts';
import { endOf, reason, until } from '../fields.ts';
import { type FreezeDeps, needNames } from '../freeze-names.ts';

const text = z.string().min(1).max(200).optional();

const scopeOf = ({
  account,
  policy,
  job,
  client,
  tag,
}: { [K in keyof FreezeScope]: string | undefined }): FreezeScope =>
  defined({ account, policy, job, client, tag });
const isOfAll = (names: Parameters<typeof scopeOf>[0]): boolean => Object.keys(scopeOf(names)).length === 0;

/** A freeze that has just begun; of one that recurs, its first time. */
export const BegunFreeze = FreezeAnswer.extend({
  replaced: FreezeAnswer.nullable().describe('The freeze of everything that it replaces.'),
  unchecked: z
    .string()
    .nullable()
    .describe('Why it is not known whether the client or tag exists: an account could not be asked.'),
});
export type BegunFreeze = z.output<typeof BegunFreeze>;

export const beginFreeze = defineCommand<FreezeDeps>()({
  name: 'freezes.begin',
  summary:
    'Keeps policies from starting runs until a time, or again and again: all, or those of an account, name or job; or skips the targets of a client or tag.',
  role: 'operator',
  path: '/freezes',
  input: z
    .strictObject({
      until: until.optional(),
      from: until.optional().describe('When it begins, written as `until`. Default now.'),
      // The words of `maintenance` in the settings.
      cron: z
        .union([cron, z.array(cron).min(1)])
        .optional()
        .describe('Each begin of one that recurs.'),
      for: duration(60_000).optional().describe('How long that lasts each time, at most 7d.'),
      timezone: timezone.optional().describe('The time zone of `cron`. Default UTC.'),
      policy: text.describe('The name of a policy, or a pattern: `nightly-*`.'),
      ...{ account: text, job: text, client: text, tag: text, reason },
    })
    .refine(({ cron, for: ms, until, from }) => (cron ? ms && !until && !from : until && !ms), {
      error:
        'needs its end (until); of a freeze that recurs, when it begins (cron) and how long it lasts (for), without until and from',
    })
    .refine(({ cron, timezone }) => cron || !timezone, {
      path: ['timezone'],
      error: 'needs `cron`: a freeze that begins once has none',
    })
    .refine(({ for: ms = 0 }) => ms <= 7 * DAY_MS, { path: ['for'], error: 'must be at most 7d' })
    .refine(({ cron, from, ...names }) => (!cron && !from) || !isOfAll(names), {
      error:
        'needs an account, a policy, a job, a client or a tag: a freeze of everything begins at once, and does not recur',
    }),
  /** A freeze of a job, a client or a tag may concern any policy of the account. */
  subject({ account, ...names }): ActSubject {
    const detail = isOfAll({ account, ...names })
      ? 'everything'
      : formatScope(scopeOf({ account, ...names }));
    return { ...(account === undefined ? {} : { account }), detail };
  },
  async carryOut({ until: end, from, cron, for: forMs = 0, timezone = 'UTC', reason, ...names }, deps, act) {
    const { records, clock } = deps;
    const now = clock.now();
    const at = from === undefined ? now : endOf(from, now, 'begin (from)');
    const when = from === undefined ? undefined : 'after the begin (from)';
    const ends = end === undefined ? now : endOf(end, at, 'end (until)', when);
    const by = act.by.principal.name;
    const scope = scopeOf(names);
    if (isOfAll(names)) {
      const before = await records.freeze.at(at);
      const why = reason || before?.reason;
      const freeze: Freeze = { at, by, until: ends, ...(why === undefined ? {} : { reason: why }) };
      await records.freeze.begin(freeze);
      return { freeze, before, unchecked: undefined };
    }
    const unchecked = await needNames(scope, deps);
    const { id } = await act.decide('freeze', async () => ({ id: await records.freeze.nextId() }));
    const freeze = { id, scope, at, by, until: ends, ...(reason ? { reason } : {}) };
    if (!cron) await records.freeze.add(freeze);
    else {
      const recurring = { ...freeze, rule: { id, cron: [cron].flat(), timezone, forMs } };
      await records.freeze.addRule(recurring);
      await deps.noteMaintenance();
      const first = (await records.freeze.parts()).find(({ rule }) => rule?.id === id);
      return { freeze: (first ?? recurring) as Freeze, before: undefined, unchecked };
    }
    return { freeze: freeze as Freeze, before: undefined, unchecked };
  },
  outcome: ({ freeze }) => ({
    detail: freeze.rule
      ? `${formatFrozen(freeze)}, ${formatRule(freeze.rule)} (${freeze.rule.id})`
      : `${formatFrozen(freeze)}, until ${isoEnd(freeze.until)}${freeze.id === undefined ? '' : ` (${freeze.id})`}`,
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

/** A freeze that is not over, by its id; or `everything`. */
export const freezeNamed = ({ records, clock }: BaseDeps, id: string): Promise<Freeze | undefined> =>
  id === EVERYTHING ? records.freeze.at(clock.now()) : records.freeze.named(id, clock.now());

export const endFreeze = defineCommand()({
  name: 'freezes.end',
  summary: 'Ends a freeze early, also before it begins. Scheduled times that it skipped stay skipped.',
  role: 'operator',
  path: '/freezes/{freeze}/end',
  input: z.strictObject({
    freeze: z
      .string()
      .min(1)
      .describe(
        'The id of a freeze; of a rule, for all its times; `everything` for the freeze of everything.',
      ),
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
      const ended = (await records.freeze.endRule(id, now)) ?? (await records.freeze.lift(id, now));
      if (!ended) throw new NotFoundError(`There is no freeze ${id}. "caretaker freeze list" lists them.`);
      return { ended: ended as Freeze | undefined };
    }
    const ended = await records.freeze.at(now);
    if (ended) await records.freeze.end(now);
    return { ended };
  },
  answer: z.object({ ended: FreezeAnswer.nullable() }),
  toAnswer: ({ ended }) => ({ ended: ended ? freezeAnswer(ended) : null }),
});
