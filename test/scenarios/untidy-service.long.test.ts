/** As in `untidy-service.test.ts`, for calls that are looked for and for calls that are repeated. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Policy } from '../../src/policy/policy.ts';
import type { Run } from '../../src/run/run.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';

let world: World;
afterEach(() => world.stop());

const SITES = 30;
const untidy = {
  'numbers-as-text': 0.1,
  redirect: 0.1,
  'redirect-away': 0.1,
  'html-errors': 0.1,
  'html-400': 0.1,
  'other-errors': 0.1,
};
/** A request that the service never carries out is repeated more often than one request in three is lost. */
const retry = { attempts: 12, backoff: 'exponential', delayMs: 5_000, maxDelayMs: 60_000 } as const;

async function runOver(policy: Partial<Policy>): Promise<Run> {
  world = await startWorld({ sites: SITES, rateLimit: 1_000_000, faults: untidy, seed: 3 });
  return world.ended(await world.fire(aPolicy({ ...policy, retry })));
}

/**
 * Checks that the token was sent nowhere else, and that each fault occurred: otherwise nothing was tested.
 */
function expectTried(): void {
  const { journal, followedRedirects } = world.sandbox;
  expect(followedRedirects.filter(({ to, method }) => to === 'other-origin' || method !== 'GET')).toEqual([]);
  const met = new Set(journal.requests.map(({ fault }) => fault));
  for (const fault of ['redirect', 'redirect-away', 'html-400', 'numbers-as-text'] as const)
    expect(met).toContain(fault);
}

describe('numbers as text, redirects and errors in HTML, each in one of ten requests', () => {
  test('leave one note on each site', async () => {
    const run = await runOver({
      job: 'api-call',
      select: { from: 'listSites', filters: {} },
      options: { operation: 'createSiteNote', body: { note: { content: 'Leader.' } } },
    });

    expectTried();
    expect(run).toMatchObject({ status: 'succeeded', counts: { planned: SITES, succeeded: SITES } });
    const notes = world.sandbox.siteIds().map((id) => world.sandbox.site(id).notes());
    expect(notes.map((all) => all.filter((one) => one === 'Leader.').length)).toEqual(notes.map(() => 1));
  });

  test('leave activity logs enabled on each site', async () => {
    const run = await runOver({
      job: 'api-call',
      select: { from: 'listSites', filters: {} },
      options: { operation: 'enableSiteActivityLogs' },
    });

    expectTried();
    expect(run).toMatchObject({ status: 'succeeded', counts: { planned: SITES, succeeded: SITES } });
  });
});
