/** What `config/examples/check-overdue.yaml` makes of a field that is absent; config/tests/examples/overdue.yaml has the rest. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OperationId } from '../../../src/contract/operations.ts';
import { examples } from '../../policy/example-runs.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { asPerson } from '../acting.ts';

const HOUR = 3_600_000;
let world: World;
beforeAll(async () => {
  world = await startWorld({ sites: 60 });
});
afterAll(() => world.stop());

/** What a run of this policy would report: a check decides in its plan. */
async function checked(name: string) {
  const policy = examples.policies.find((one) => one.name === name);
  if (!policy) throw new Error(`There is no example "${name}".`);
  const { ended } = await world.caretaker.engine.preview(policy);
  const withReason = (is: string) => ended.filter(({ reason }) => reason === is);
  return {
    found: withReason('found').map(({ id }) => id),
    unknown: new Set(withReason('not-eligible').map(({ why }) => why)),
    ids: ended.map(({ id }) => id),
  };
}

test.each<[policy: string, hidden: string, shownBy: OperationId[]]>([
  ['overdue-syncs', 'sync.next_sync_at', ['listSites', 'showSite']],
  ['overdue-scans', 'security.scanner.next_check_at', ['listSites', 'showSite']],
  ['overdue-updates', 'next_update_at', ['listAutoUpdateSchedules', 'showAutoUpdateSchedule']],
  ['missing-updates', 'started_at', ['listAutoUpdateSchedules', 'showAutoUpdateSchedule']],
  ['overdue-reports', 'next_report_at', ['listScheduledReports', 'showScheduledReport']],
  ['updates-without-sites', 'scope.sites.selection', ['listAutoUpdateSchedules', 'showAutoUpdateSchedule']],
  ['sites-without-reports', 'status', ['listScheduledReports', 'showScheduledReport']],
])('%s: without %s it is unknown whether something is late', async (name, field, shownBy) => {
  const before = await checked(name);
  const shows = shownBy.map((operation) => world.sandbox.hide(operation, field));
  const { found, unknown } = await checked(name);
  for (const show of shows) show();

  // What is found all the same was certain without the field.
  expect(before.found).toEqual(expect.arrayContaining(found));
  expect([...unknown].join()).toMatch(`.${field}.`);
});

test('a schedule that missed its run is found, also beside paused ones, and copies of sites are not', async () => {
  const [late, paused] = ['schedule-0001', 'schedule-0004'] as const;
  world.sandbox.schedule(late).overdueBy(10 * HOUR);
  world.sandbox.schedule(paused).overdueBy(10 * HOUR);
  await asPerson(() => world)('disableAutoUpdateSchedule', { auto_update_schedule_id: paused });

  expect(await checked('overdue-updates')).toMatchObject({ found: [late] });
  const { ids } = await checked('sites-without-reports');
  expect(ids.filter((id) => !world.sandbox.siteIds().includes(id))).toEqual([]);
});
