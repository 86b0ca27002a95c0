/** As in `untidy-service.test.ts`, for calls that are looked for and for calls that are repeated. */
import { describe, expect, test } from 'vitest';
import { runUntidily } from './untidy-service.ts';

const SITES = 30;
const succeeded = { status: 'succeeded', counts: { planned: SITES, succeeded: SITES } };
const runOf = (options: object) =>
  runUntidily({ sites: SITES }, { job: 'api-call', select: { from: 'listSites', filters: {} }, options });

describe('numbers as text, redirects and errors in HTML, each in one of ten requests', () => {
  test('leave one note on each site', async () => {
    const { world, run } = await runOf({
      operation: 'createSiteNote',
      body: { note: { content: 'Leader.' } },
    });

    expect(run).toMatchObject(succeeded);
    const notes = world.sandbox.siteIds().map((id) => world.sandbox.site(id).notes());
    expect(notes.map((all) => all.filter((one) => one === 'Leader.').length)).toEqual(notes.map(() => 1));
  });

  test('leave activity logs enabled on each site', async () => {
    expect((await runOf({ operation: 'enableSiteActivityLogs' })).run).toMatchObject(succeeded);
  });
});
