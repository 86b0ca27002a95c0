/** What people who look at the queues read about ended entries. */
import { expect, test } from 'vitest';
import { aPolicy } from '../../support/builders.ts';
import { until, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { worldOfTest } from '../../support/world-of-test.ts';

async function endedEntries({ caretaker }: World, queue: string) {
  const board = caretaker.queues.boards().find(({ name }) => name === queue);
  if (!board) throw new Error(`There is no queue ${queue}.`);
  return (await board.getCompleted()).map(({ name, returnvalue: { log, ...result } }) => ({
    name,
    result,
    log,
  }));
}

test('an ended entry shows the policy, the site, what was requested, what was answered and what came of it, or why nothing was done', async () => {
  const world = await worldOfTest({ before: quickSyncs, sites: 1 });
  const run = await world.fire(aPolicy());
  await world.ended(run);
  const [target] = await world.targets(run);

  await until(world, async () => (await endedEntries(world, 'actions')).length === 1);
  const [entry] = await endedEntries(world, 'actions');
  const plans = await endedEntries(world, 'plans');

  expect(entry?.name).toBe(`nightly-sync: ${target?.id}`);
  expect(entry?.result).toMatchObject({
    target: target?.label,
    account: run.account,
    state: 'following',
    task: target?.taskId,
    requests: 1,
  });
  expect(entry?.log[0]).toBe(`Planned: ${target?.label} (${target?.id}), account ${run.account}.`);
  expect(entry?.log).toContain('Requests: syncSite.');
  expect(entry?.log.at(-1)).toMatch(/^Outcome: open, follows /);
  // The supervisor may have asked for the plan again meanwhile.
  expect(plans.at(-1)).toMatchObject({ name: 'nightly-sync: plan', result: { plan: 'started' } });

  const again = { id: target?.id ?? '', fence: 1 };
  await world.caretaker.queues.put([{ kind: 'act', run: run.id, targets: [again] }]);

  await until(world, async () => (await endedEntries(world, 'actions')).length === 2);
  const [latest] = await endedEntries(world, 'actions');
  expect(latest?.result).toEqual({ state: 'not claimed' });
  expect(latest?.log[0]).toMatch(/^Nothing was done: the target had been claimed/);
});
