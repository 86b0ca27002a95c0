/**
 * `undoable` and `undo_of`, interrupted at each step of the change and of its reversal by a worker that is lost
 * there. What the policy changed is reversed, once; nothing else is touched.
 */
import { expect } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { ConflictError } from '../../../src/client/errors.ts';
import type { Input, OperationId } from '../../../src/contract/operations.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { type dieAt, endDying, steps } from '../../support/dying.ts';

let world: World;
/** Ends the processes and the world of a pair. */
export async function clear(): Promise<void> {
  endDying();
  await world.stop();
}

const person = { requestClass: 'person' } as const;
/** As a person would send it, as soon as the service has finished the change before. */
async function send<Id extends OperationId>(operation: Id, input: Input<Id>) {
  for (;;) {
    try {
      return await world.caretaker.link('default').client.call(operation, input, person);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      await world.clock.sleep(5_000);
    }
  }
}

/** A setting of some items, and two policies: one changes it, the other reverses that. */
export interface Pair {
  change: OperationId;
  reversal: OperationId;
  from: NonNullable<Policy['select']['from']>;
  with?: (world: World) => object;
  /** Makes the items, of which the last two are as the policy wants them already; gives their ids. */
  prepare(): Promise<string[]>;
  /** Whether the item is as the policy wants it. */
  isChanged(id: string): Promise<boolean>;
}

let tagId = '';
const sites = () => world.sandbox.siteIds();
export const pairs: Record<string, Pair> = {
  'activity logs': {
    change: 'disableSiteActivityLogs',
    reversal: 'enableSiteActivityLogs',
    from: 'listSites',
    async prepare() {
      for (const [i, site_id] of sites().entries())
        await send(i < steps.length ? 'enableSiteActivityLogs' : 'disableSiteActivityLogs', { site_id });
      return sites();
    },
    isChanged: async (site_id) => (await send('showSite', { site_id })).site.activity_logs?.enabled === false,
  },
  tags: {
    change: 'assignTag',
    reversal: 'removeTag',
    from: 'listSites',
    with: () => ({ params: { tag_id: tagId }, body: { site_ids: [{ cel: 'site.id' }] } }),
    async prepare() {
      tagId = (await send('createTag', { body: { tag: { name: 'Migration' } } })).tag.id;
      await send('assignTag', { tag_id: tagId, body: { site_ids: sites().slice(steps.length) } });
      return sites();
    },
    async isChanged(site_id) {
      const { tags = [] } = (await send('showSite', { site_id })).site;
      return tags.some(({ id }) => id === tagId);
    },
  },
  'update schedules': {
    change: 'disableAutoUpdateSchedule',
    reversal: 'enableAutoUpdateSchedule',
    from: 'listAutoUpdateSchedules',
    async prepare() {
      return sites().map((site, i) =>
        world.sandbox.schedules.make(site, i < steps.length ? 'active' : 'paused'),
      );
    },
    async isChanged(auto_update_schedule_id) {
      const shown = await send('showAutoUpdateSchedule', { auto_update_schedule_id });
      return shown.auto_update_schedule.status === 'paused';
    },
  },
};

/** However long a process takes to start, while the clock runs, no target ends for that. */
const timeout = { targetMs: 365 * 86_400_000, runMs: 365 * 86_400_000 };

/** Has a worker be lost at each step of the change of a pair, and of its reversal; another one takes over. */
export async function cutAtEachStep(
  { change, reversal, from, with: more = () => ({}), prepare, isChanged }: Pair,
  lose: typeof dieAt,
): Promise<void> {
  world = await startWorld({ sites: steps.length + 2, work: false });
  const ids = await prepare();
  const changed = ids.slice(0, steps.length);
  const calling = (name: string, operation: OperationId, undo: object) =>
    aPolicy({
      name,
      job: 'api-call',
      select: { from, filters: {} },
      options: apiCall.options.parse({ operation, confirm: operation, ...more(world), ...undo }),
      timeout,
    });
  const interrupted = async (policy: Policy, operation: OperationId) => {
    const run = await world.fire(policy, ids);
    for (const step of steps) await lose(world, step, operation);
    const working = world.caretaker.engine.work(20);
    const { counts } = await world.ended(run);
    await working.stop();
    const failed = (await world.targets(run)).filter(({ outcome }) => outcome === 'failed');
    expect(failed.map(({ id, reason, detail }) => `${id} ${reason} ${detail}`)).toEqual([]);
    return counts;
  };
  const stateOf = async () =>
    Object.fromEntries(await Promise.all(ids.map(async (id) => [id, await isChanged(id)])));
  const before = await stateOf();
  const requested = world.sandbox.journal.countOf(reversal);

  const first = await interrupted(calling('quiet', change, { undoable: true }), change);
  expect(Object.values(await stateOf())).toEqual(ids.map(() => true));
  const second = await interrupted(calling('back', reversal, { undo_of: 'quiet' }), reversal);

  expect(first).toMatchObject({ succeeded: ids.length });
  expect(second).toMatchObject({ succeeded: changed.length, skipped: 2 });
  expect(await stateOf()).toEqual(before);
  // A lost request is repeated: one more for each of the three steps at which its answer is lost.
  expect(world.sandbox.journal.countOf(reversal) - requested).toBeLessThanOrEqual(changed.length + 3);
  const working = world.caretaker.engine.work(20);
  const third = await world.ended(await world.fire(calling('back', reversal, { undo_of: 'quiet' }), ids));
  await working.stop();
  expect(third.counts).toMatchObject({ succeeded: 0, skipped: ids.length });
}
