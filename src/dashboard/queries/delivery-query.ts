/** The filters of the list of notifications, as its address holds them. */
import type { z } from 'zod';
import type { listDeliveries } from '../../control/commands/notifications.ts';
import { deliveryStates } from '../../records/filter-values.ts';
import { readTimes } from './run-query.ts';

/** Parameters of the address, in the order of the fields. */
export const deliveryParameters = ['receiver', 'state', 'policy', 'from', 'to'] as const;
type Parameter = (typeof deliveryParameters)[number];

export interface DeliveryQuery {
  /** What was given, for fields and links. */
  given: Readonly<Partial<Record<Parameter, string>>>;
  filter: z.input<typeof listDeliveries.input>;
  /** What cannot be understood, a sentence each. */
  faults: readonly string[];
}

export function readDeliveryQuery(query: (name: string) => string | undefined, now: number): DeliveryQuery {
  const given: Partial<Record<Parameter, string>> = {};
  for (const name of deliveryParameters) {
    const value = query(name)?.trim().slice(0, 200);
    if (value) given[name] = value;
  }
  const state = deliveryStates.find((one) => one === given.state);
  const { receiver: to, policy } = given;
  const faults: string[] = [];
  const times = readTimes(given, now, faults);
  return { given, filter: { to, state, policy, ...times }, faults };
}
