/** A check of `doctor`: whether notifications arrive. */
import { isoMinute, systemClock } from '../clock.ts';
import { openRecords } from '../records/records.ts';
import { redisClock } from '../redis/clock.ts';
import type { Store } from '../redis/store.ts';
import { countOf } from '../text.ts';
import type { Check } from './output/service-description.ts';

/** A pending notification that is older than this is reported: several attempts have failed, or no one works. */
const LONG_MS = 30 * 60_000;

/** A warning for each receiver with notifications that did not arrive, or have been waiting for long. */
export async function checkDeliveries(store: Store): Promise<Check[]> {
  const { deliveries } = openRecords(store);
  const now = (await redisClock(store, systemClock)).now();
  const checks: Check[] = [];
  for (const [to, { pending, dead, since }] of await deliveries.open()) {
    const warn = (message: string) =>
      checks.push({ what: `notifications to "${to}"`, state: 'warning', message });
    if (dead > 0) {
      const [last] = await deliveries.list({ state: 'dead', to, limit: 1 });
      const why = last?.attempts.findLast((one) => one.why !== undefined)?.why;
      warn(
        `${countOf(dead, 'notification')} did not arrive${why === undefined ? '' : ` (of the last one: ${why})`}. Correct the receiver, try it with "caretaker notify test ${to}", then "caretaker notify list --state dead --to ${to}" and "caretaker notify resend"`,
      );
    }
    if (since !== undefined && now - since > LONG_MS)
      warn(
        `${countOf(pending, 'notification')} ${pending === 1 ? 'waits' : 'wait'}, the oldest since ${isoMinute(since)}. Each is tried for a day while a worker runs; "caretaker notify list --state pending --to ${to}" shows why it did not arrive yet`,
      );
  }
  return checks;
}
