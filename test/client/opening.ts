/** A client of the account `agency` with its budget, and the errors of its calls. */
import type { Redis } from 'ioredis';
import { expect } from 'vitest';
import { openBudget } from '../../src/budget/budget.ts';
import { openClient } from '../../src/client/client.ts';
import type { Clock } from '../../src/clock.ts';
import { keptLog } from '../support/quiet.ts';

export type AgencyOptions = Partial<Parameters<typeof openClient>[0]>;

export function openAgency(
  redis: Redis,
  clock: Clock,
  { baseUrl, token = 'secret', ...more }: { baseUrl: string; token?: string } & AgencyOptions,
) {
  const account = { name: 'agency', baseUrl, token };
  const budget = openBudget(redis, clock, account.name, { requestsPerMinute: 200, reserve: 0 });
  return { budget, client: openClient({ account, budget, clock, log: keptLog(), ...more }) };
}

export const errorOf = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => expect.unreachable('the call went well'),
    (error: Error) => error,
  );

/** The answer of a list without tags. */
export const noTags = {
  tags: [],
  meta: { pagination: { page: 1, perPage: 100, totalPages: 1, totalItems: 0 } },
};
