/** Runs against a service that violates its specification in many ways at once. */
import { expect } from 'vitest';
import type { Policy } from '../../src/policy/policy.ts';
import { aPolicy } from '../support/builders.ts';
import type { WorldOptions } from '../support/caretaker.ts';
import { endedByLeaps } from '../support/leaps.ts';
import { worldOfTest } from '../support/world-of-test.ts';

const faults = {
  'numbers-as-text': 0.1,
  redirect: 0.1,
  'redirect-away': 0.1,
  'html-errors': 0.1,
  'html-400': 0.1,
  'other-errors': 0.1,
};
/** A request that the service never carries out is repeated more often than one request in three is lost. */
const retry = { attempts: 12, backoff: 'exponential', delayMs: 5_000, maxDelayMs: 60_000 } as const;

/**
 * Runs a policy to its end. Checks that the token was sent nowhere else, and that each fault occurred: otherwise nothing
 * was tested.
 */
export async function runUntidily(options: WorldOptions, policy: Partial<Policy>) {
  const world = await worldOfTest({ rateLimit: 1_000_000, faults, seed: 3, ...options });
  const run = await endedByLeaps(world, await world.fire(aPolicy({ ...policy, retry })));
  const { journal, followedRedirects } = world.sandbox;
  expect(followedRedirects.filter(({ to, method }) => to === 'other-origin' || method !== 'GET')).toEqual([]);
  const met = new Set(journal.requests.map(({ fault }) => fault));
  for (const fault of ['redirect', 'redirect-away', 'html-400', 'numbers-as-text'] as const)
    expect(met).toContain(fault);
  return { world, run };
}
