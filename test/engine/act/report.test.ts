/** What people who look at the queues read about ended entries. */
import { afterEach, expect, test } from 'vitest';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, until, type World } from '../../support/caretaker.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

let world: World;
afterEach(() => world.stop());

async function endedEntries(queue: string) {
  const board = world.caretaker.queues.boards().find(({ name }) => name === queue);
  if (!board) throw new Error(`There is no queue ${queue}.`);
  return (await board.getCompleted()).map(({ name, returnvalue: { log, ...result } }) => ({
    name,
    result,
    log,
  }));
}

test('an ended entry shows the policy, the site, what was requested, what was answered and what came of it', async () => {
  world = await startWorld({ before: quickSyncs, sites: 1 });
  const run = await world.fire(aPolicy());
  await world.ended(run);
  const [target] = await world.targets(run);

  await until(world, async () => (await endedEntries('actions')).length === 1);
  const [entry] = await endedEntries('actions');
  const plans = await endedEntries('plans');

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
});

test('an entry that found nothing to do says why it may be so', async () => {
  world = await startWorld({ before: quickSyncs, sites: 1 });
  const run = await world.fire(aPolicy());
  await world.ended(run);
  const [{ id = '' } = {}] = await world.targets(run);

  await world.caretaker.queues.put([{ kind: 'act', run: run.id, targets: [{ id, fence: 1 }] }]);

  await until(world, async () => (await endedEntries('actions')).length === 2);
  const [latest] = await endedEntries('actions');
  expect(latest?.result).toEqual({ state: 'not claimed' });
  expect(latest?.log[0]).toMatch(/^Nothing was done: the target had been claimed/);
});
