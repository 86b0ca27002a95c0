/**
 * Recurring freezes: `maintenance` of the settings, and what people freeze again and again. Each occurrence of the
 * next days is recorded as a freeze of a part, so everything that looks at freezes knows it, in advance and
 * afterwards.
 */
import type { Clock } from '../clock.ts';
import { DAY_MS } from '../dates.ts';
import { defined } from '../defined.ts';
import type { RecurringFreeze, ScopedFreeze } from '../records/freeze-scope.ts';
import type { Records } from '../records/records.ts';
import type { Maintenance } from '../settings/maintenance.ts';
import { nextScheduledTimes } from './cron-times.ts';

/** So far ahead, so that predictions of the next week know them; of a rule at most so many. */
const AHEAD_MS = 8 * DAY_MS;
const MAX_AHEAD = 200;

type Rule = Omit<RecurringFreeze, 'id' | 'at' | 'until'>;
type Freezes = Pick<Records, 'freeze'>;

/** Its scope in the order of the record. */
const asRule = ({ name, cron, timezone, forMs, scope, reason = name }: Maintenance): Rule => ({
  scope: defined({ account: scope.account, policy: scope.policy, client: scope.client, tag: scope.tag }),
  ...{ by: `maintenance ${name}`, reason },
  rule: { id: name, cron: [...cron], timezone, forMs },
});

/** What a rule freezes that begins after `from`, and not after `until`. */
export const occurrencesOf = (
  { scope, by, reason, rule }: Rule,
  from: number,
  until: number,
  most = MAX_AHEAD,
): ScopedFreeze[] =>
  nextScheduledTimes(rule, from, most, until)
    .filter((at) => at <= until)
    .map((at) => ({
      id: `${rule.id}-${new Date(at).toISOString().slice(0, 16)}Z`,
      ...{ scope, at, by, ...(reason === undefined ? {} : { reason }), until: at + rule.forMs, rule },
    }));

/**
 * Records what the rules freeze in the next days. With `drops`, also takes back what other rules, such as those before an
 * edit, would have frozen. One that a person has ended stays ended. Costs two reads while nothing has changed.
 */
export async function noteMaintenance(
  { freeze }: Freezes,
  rules: readonly Maintenance[],
  { now }: Pick<Clock, 'now'>,
  { drops = false }: { drops?: boolean } = {},
): Promise<void> {
  const at = now();
  // In this order: a rule is stored before its occurrences, and taken away before them.
  const parts = await freeze.parts();
  const all = [...rules.map(asRule), ...(await freeze.rules())];
  const wanted = new Map(
    all
      .flatMap((one) => [
        ...occurrencesOf(one, at - one.rule.forMs, at + AHEAD_MS),
        // The next one is listed, however far ahead it is.
        ...occurrencesOf(one, at, Number.POSITIVE_INFINITY, 1),
      ])
      .map((found) => [found.id, found]),
  );
  for (const one of parts) {
    const other = wanted.get(one.id);
    if (!one.rule) continue;
    // Over, or ended by a person.
    if (one.until <= Math.max(at, one.at) || JSON.stringify(other) === JSON.stringify(one))
      wanted.delete(one.id);
    else if (!other && drops) await freeze.drop(one, at);
  }
  await freeze.put([...wanted.values()], at);
}

/**
 * The freezes of parts between two times, oldest first: those that are recorded, and further ones of each rule. Rules are
 * known by what is recorded of them.
 */
export async function freezesBetween(
  { freeze }: Freezes,
  { from, to, now }: { from: number; to: number; now: number },
): Promise<ScopedFreeze[]> {
  const parts = await freeze.parts();
  const latest = new Map<string, number>();
  for (const { rule, at } of parts)
    if (rule) latest.set(rule.id, Math.max(at, latest.get(rule.id) ?? Number.NEGATIVE_INFINITY));
  const known = parts.filter((one): one is RecurringFreeze => one.rule !== undefined && one.until > now);
  const rules = new Map(known.map((one) => [one.rule.id, one]));
  const ahead = [...rules].flatMap(([id, one]) =>
    occurrencesOf(one, Math.max(from - one.rule.forMs, latest.get(id) ?? now), to),
  );
  return [...parts, ...ahead]
    .filter(({ at, until }) => at < to && until > Math.max(at, from))
    .sort((a, b) => a.at - b.at);
}
