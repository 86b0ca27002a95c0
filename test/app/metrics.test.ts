/** What a daemon measures reaches the one that serves the metrics, whichever process it is. */
import { expect, onTestFinished, test } from 'vitest';
import { startDaemon } from '../../src/app/daemon.ts';
import { type Exposition, readExposition } from '../dashboard/exposition.ts';
import { folderWith } from '../settings/folder.ts';
import { until } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';
import { worldOfTest } from '../support/world-of-test.ts';

const PASSWORD = 'correct horse battery';

test('durations that a worker measures are in the metrics of the daemon with the dashboard', async () => {
  const policiesDir = folderWith({
    'hourly.yaml':
      'policies:\n  - { name: hourly, job: site-sync, schedule: { cron: "0 * * * *", catchup: 30m } }\n',
  });
  const world = await worldOfTest({
    ...{ before: quickSyncs, sites: 2, work: false, policiesDir, dashboard: { password: PASSWORD } },
  });
  const serving = await startDaemon({ caretaker: world.caretaker, roles: ['dashboard'] });
  onTestFinished(() => serving.stop());
  const caretaker = await world.another({ work: false });
  const firing = await startDaemon({ caretaker, roles: ['scheduler', 'worker'] });
  onTestFinished(() => firing.stop());
  const { records } = caretaker;
  await until(world, async () => (await records.policies.state('hourly')).cursor !== undefined);

  const HOUR = 3_600_000;
  world.clock.leap((Math.floor(world.clock.now() / HOUR) + 1) * HOUR - world.clock.now());
  await world.ended('hourly.20261121T130000Z');

  const headers = { authorization: `Bearer ${PASSWORD}` };
  const scrape = async () =>
    readExposition(await (await fetch(`${serving.dashboard?.url}/metrics`, { headers })).text());
  let seen: Exposition = await scrape();
  const count = (name: string, labels: Record<string, string>) =>
    seen.value(`caretaker_${name}_seconds_count`, labels) ?? 0;
  const durations = () => ({
    requests: count('request_duration', { operation: 'syncSite', result: 'ok' }),
    targets: count('target_duration', { job: 'site-sync' }),
    plans: count('queue_wait', { queue: 'plans' }),
    actions: count('queue_wait', { queue: 'actions' }),
    // On a busy machine the tick may come more than 90 s of this fast clock later.
    firings:
      count('schedule_lateness', { trigger: 'schedule' }) +
      count('schedule_lateness', { trigger: 'catch-up' }),
  });
  await until(world, async () => {
    await records.measurements.publish();
    seen = await scrape();
    return durations().requests >= 2 && durations().targets >= 2;
  });

  const { plans, actions, ...exactly } = durations();
  expect(exactly).toEqual({ requests: 2, targets: 2, firings: 1 });
  // One entry names both targets.
  expect(plans).toBeGreaterThanOrEqual(1);
  expect(actions).toBeGreaterThanOrEqual(1);
  // A sync takes longer than a second of the account's time.
  expect(seen.value('caretaker_target_duration_seconds_sum', { job: 'site-sync' })).toBeGreaterThan(2);
});
