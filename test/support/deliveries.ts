/** Notifications in each state, written by the stores that write them in production. */
import type { NewDelivery } from '../../src/records/delivery-store.ts';
import type { Records } from '../../src/records/records.ts';

export type Result = Parameters<Records['deliveries']['end']>[1];

/** Makes a delivery at a time, and attempts it with this result; without one there was no attempt yet. */
export async function deliver(
  { alerts, notices, deliveries }: Records,
  message: NewDelivery,
  result?: Result,
): Promise<void> {
  const { id, at } = message;
  const notice = { type: 'system', event: 'account-back', at, detail: id } as const;
  await alerts.raise(id, notice);
  await alerts.clear(id, at);
  const open = (await notices.open(1_000)).find(
    ({ notice }) => notice?.type === 'system' && notice.detail === id,
  );
  if (!open) throw new Error('the notice is missing');
  await notices.take(open, { made: [{ message }], changes: [] }, at);
  const claimed = result && (await deliveries.claim(id, at, 60_000));
  if (claimed) await deliveries.end(claimed, result);
}
