import { expect, test } from 'vitest';
import { besideQueues, readQueues } from '../../src/control/commands/list-queues.ts';
import { openQueues } from '../../src/queue/queues.ts';
import { openRecords } from '../../src/records/records.ts';
import { aRun, aTarget } from '../support/builders.ts';
import { keptLog } from '../support/quiet.ts';
import { redisOfFile } from '../support/redis-of-file.ts';

const { redis } = await redisOfFile();
const records = openRecords(redis);

const NOW = Date.UTC(2026, 10, 22, 1);

test('what is followed or waits for a time has no entry in a queue, and is counted beside them', async () => {
  const run = aRun();
  await records.runs.create(run, { concurrency: 5, targetMs: 60_000 });
  await records.runs.move(run, 'planning', { at: NOW });
  const targets = ['a', 'b', 'c', 'd'].map((id) => aTarget(id));
  await records.plans.add(run.id, await records.plans.begin(run.id), targets);
  await records.runs.move(run, 'running', { at: NOW, planComplete: true });
  const dispatched = await records.targets.dispatch(run.id, NOW, 3);
  for (const [index, one] of dispatched.entries()) {
    const { target } = (await records.targets.claim(run, one, NOW)) ?? {};
    const state =
      index === 2 ? ({ state: 'waiting' } as const) : ({ state: 'following', taskId: `t${index}` } as const);
    const moved = aTarget(one.id, { ...target, ...state });
    await records.targets.move(run, moved, { from: ['acting'], dueAt: NOW + 1_000, spent: {}, at: NOW });
  }
  const queues = openQueues(redis, keptLog());

  const report = await readQueues({ queues, records }, NOW);
  await queues.close();

  expect(report.queues.find(({ queue }) => queue === 'actions')).toMatchObject({
    ...{ waiting: 0, active: 0, paused: false, oldest_waiting_since: null },
    ...{ wait: { median: null, p95: null }, last_hour: { completed: 0, failed: 0 } },
  });
  expect(besideQueues(report)).toEqual([
    '2 targets of 1 run are followed at the service, without an entry in a queue.',
    '1 target of 1 run is waiting for a next step or attempt, without an entry in a queue.',
  ]);
});
