/** A check of `doctor`: whether what runs have done is written to the sites. */
import { systemClock } from '../clock.ts';
import { openRecords } from '../records/records.ts';
import { redisClock } from '../redis/clock.ts';
import type { Store } from '../redis/store.ts';
import { formatStuckOutbox, isStuck } from '../run/recordings.ts';
import type { Check } from './output/service-description.ts';

/** A warning for each account whose outbox has been waiting for too long. */
export async function checkOutbox(store: Store): Promise<Check[]> {
  const { outbox } = openRecords(store);
  const now = (await redisClock(store, systemClock)).now();
  const checks: Check[] = [];
  for (const account of await outbox.accounts()) {
    const state = await outbox.state(account);
    if (!isStuck(state, now)) continue;
    const message = `${formatStuckOutbox(account, state)}; see docs/recording.md`;
    checks.push({ what: 'recordings', state: 'warning', message });
  }
  return checks;
}
