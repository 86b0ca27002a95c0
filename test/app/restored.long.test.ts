/** A Redis that is restored to a state before a scheduled time. */
import { expect, onTestFinished, test } from 'vitest';
import { startDaemon } from '../../src/app/daemon.ts';
import { folderWith } from '../settings/folder.ts';
import { until } from '../support/caretaker.ts';
import { quickSyncs } from '../support/quick-syncs.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { takeSnapshot } from './put-back.ts';

const HOUR_MS = 3_600_000;

test('a scheduled time that may have had its run is skipped, and its record has the reason', async () => {
  const policiesDir = folderWith({
    'hourly.yaml':
      'policies:\n  - { name: hourly, job: site-sync, schedule: { cron: "0 * * * *", catchup: 12h } }\n',
  });
  // A whole daemon, with the ticks of node-cron: only this shows that it notices the older state before it fires again.
  const world = await worldOfTest({ before: quickSyncs, sites: 1, speedUp: 10, work: false, policiesDir });
  const { caretaker, clock } = world;
  const { records } = caretaker;
  const daemon = await startDaemon({ caretaker, roles: ['scheduler', 'worker'] });
  onTestFinished(() => daemon.stop());
  await until(world, async () => (await records.policies.state('hourly')).cursor !== undefined);
  const { putBack } = await takeSnapshot(world);
  const toTheHour = () => clock.leap(HOUR_MS - (clock.now() % HOUR_MS));
  toTheHour();
  const ledger = () => records.ledger.latest('hourly', 10);
  await until(world, async () => (await ledger()).some(({ is }) => is === 'ran'));
  const [ran] = (await ledger()).filter(({ is }) => is === 'ran');
  await until(world, async () => (await records.runs.get(ran?.run ?? ''))?.status === 'succeeded');
  await putBack();

  await until(world, async () =>
    (await ledger()).some(({ scheduledFor: moment }) => moment === ran?.scheduledFor),
  );
  const record = (await ledger()).find(({ scheduledFor: moment }) => moment === ran?.scheduledFor);

  expect(record).toMatchObject({ is: 'skipped', why: 'frozen' });
  expect(record?.note).toMatch(/^by caretaker: Redis was restored to its state of 20/);
  // Later scheduled times fire.
  const now = clock.now();
  toTheHour();
  await until(world, async () =>
    (await ledger()).some(({ is, scheduledFor: moment }) => is === 'ran' && moment > now),
  );
});
