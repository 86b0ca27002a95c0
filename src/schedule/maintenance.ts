/**
 * Recurring freezes (`maintenance` of the settings). Each occurrence of the next days is recorded as a freeze of a part,
 * so everything that looks at freezes knows it, in advance and afterwards.
 */
import type { Clock } from '../clock.ts';
import { DAY_MS } from '../dates.ts';
import { FreezeScope, type ScopedFreeze } from '../records/freeze-scope.ts';
import type { Records } from '../records/records.ts';
import type { Maintenance } from '../settings/maintenance.ts';
import { type CronSchedule, nextScheduledTimes } from './cron-times.ts';

/** So far ahead, so that predictions of the next week know them; of a rule at most so many. */
const AHEAD_MS = 8 * DAY_MS;
const MAX_AHEAD = 200;
const PREFIX = 'maintenance ';

const timesOf = (schedule: CronSchedule, from: number, until: number): number[] =>
  nextScheduledTimes(schedule, from, MAX_AHEAD, until).filter((at) => at <= until);

/** What the rules freeze now and in the next days. */
export function occurrencesOf(rules: readonly Maintenance[], now: number): ScopedFreeze[] {
  return rules.flatMap(({ name, cron, timezone, forMs, scope, reason = name }) =>
    timesOf({ cron: [...cron], timezone }, now - forMs, now + AHEAD_MS).map((at) => ({
      id: `${name}-${new Date(at).toISOString().slice(0, 16)}Z`,
      ...{ scope: FreezeScope.parse(scope), at, by: `${PREFIX}${name}`, reason, until: at + forMs },
    })),
  );
}

/**
 * Records what the rules freeze in the next days. With `drops`, also takes back what other rules, such as those before an
 * edit, would have frozen. One that a person has ended stays ended. Costs one read while nothing has changed.
 */
export async function noteMaintenance(
  { freeze }: Pick<Records, 'freeze'>,
  rules: readonly Maintenance[],
  { now }: Pick<Clock, 'now'>,
  { drops = false }: { drops?: boolean } = {},
): Promise<void> {
  const at = now();
  const wanted = new Map(occurrencesOf(rules, at).map((one) => [one.id, one]));
  for (const one of await freeze.parts()) {
    const other = wanted.get(one.id);
    if (!one.by.startsWith(PREFIX)) continue;
    // Over, or ended by a person.
    if (one.until <= at || JSON.stringify(other) === JSON.stringify(one)) wanted.delete(one.id);
    else if (!other && drops) await freeze.drop(one, at);
  }
  await freeze.put([...wanted.values()], at);
}
