/**
 * Stores the plan of a run while it is made. Each attempt at planning has a number, the plan's fence: once another
 * attempt has begun, it can add nothing more.
 *
 * With what it adds, an attempt stores how far it has come. So the next attempt continues from there, and requests
 * nothing again that was processed.
 */
import { z } from 'zod';
import { type Store, toJson } from '../redis/store.ts';
import type { Spent, Spread, Target } from '../run/run.ts';
import type { Group } from './group-places.ts';
import { keys, keysOfRun } from './keys.ts';
import { parseRecord } from './parse-record.ts';
import {
  addToPlan,
  beginPlan,
  continuePlan,
  countPlanFailure,
  notePlan,
  spreadTargets,
} from './plan-scripts.ts';
import type { Excluded } from './target-types.ts';

/** How far a plan is made. */
export const Progress = z.object({
  /** Where to read the list on: see `client/pages.ts`. */
  position: z.object({ round: z.number(), page: z.number(), totals: z.array(z.number()).readonly() }),
  /** The time by which candidates are evaluated: that of the first attempt. */
  now: z.number(),
  /** How many targets the candidates became; the rest of the plan already has its outcome. */
  targets: z.number(),
  seen: z.object({ candidates: z.number(), parents: z.number(), unseen: z.array(z.string()).readonly() }),
  viewsLeft: z.number(),
});
export type Progress = z.output<typeof Progress>;

/** What is added to a plan with its targets. */
export interface Addition {
  /** The groups of targets, by their ids, where there are limits for them. */
  groups?: ReadonlyMap<string, readonly Group[]>;
  excluded?: readonly Excluded[];
  /** How many candidates this and earlier attempts have excluded before. */
  excludedBefore?: number;
  /** Given when the part ends between two items of the list. */
  processed?: Processed | undefined;
}

export interface Processed {
  progress: Progress;
  /** The names of the items since the last progress. */
  listed: readonly string[];
  /** The numbers of targets that have changed since then, by group. */
  counts: readonly (readonly [group: string, count: number])[];
}

/** What the attempt before has made. */
export interface Continued {
  fence: number;
  progress: Progress;
  listed: readonly string[];
  counts: readonly (readonly [group: string, count: number])[];
  excluded: number;
}

const GROUP = 'group ';
const PAGE = 500;

export class PlanStore {
  constructor(private readonly store: Store) {}

  /**
   * Starts a plan from the beginning and gives its fence. Gives 0, and changes nothing, when the run already has
   * its plan or has ended.
   */
  async begin(run: string): Promise<number> {
    const of = keysOfRun(run);
    const filled = [
      of.order,
      of.targets,
      of.pending,
      of.excluded,
      of.reasons,
      of.groups,
      of.planned,
      of.listed,
    ];
    return Number(await beginPlan(this.store, { keys: { run: of.run }, keyList: filled }));
  }

  /** Continues the plan of an earlier attempt. Gives nothing when there is none, or the plan cannot begin either. */
  async continue(run: string): Promise<Continued | undefined> {
    const fence = Number(await continuePlan(this.store, { keys: keysOfRun(run) }));
    if (fence === 0) return undefined;
    const key = keys.progress(run);
    const { progress = '', ...fields } = await this.store.hgetall(key);
    return {
      fence,
      progress: parseRecord(Progress, progress, key),
      listed: await this.listed(run),
      counts: Object.entries(fields)
        .filter(([field]) => field.startsWith(GROUP))
        .map(([field, count]) => [field.slice(GROUP.length), Number(count)]),
      excluded: Number(fields['excluded']),
    };
  }

  private async listed(run: string): Promise<string[]> {
    const names: string[] = [];
    let cursor = '0';
    do {
      const [next, page] = await this.store.sscan(keys.listed(run), cursor, 'COUNT', PAGE);
      names.push(...page);
      cursor = next;
    } while (cursor !== '0');
    return names;
  }

  /**
   * Adds targets to a plan in their order, each id once; ended ones count at once. False when another attempt
   * at planning has begun.
   */
  async add(
    run: string,
    planFence: number,
    targets: readonly Target[],
    { groups, excluded = [], excludedBefore = 0, processed }: Addition = {},
  ): Promise<boolean> {
    const { progress, listed = [], counts = [] } = processed ?? {};
    const added = await addToPlan(this.store, {
      keys: keysOfRun(run),
      args: {
        plan_fence: planFence,
        excluded_before: excludedBefore,
        excluded: JSON.stringify(excluded.map((one) => JSON.stringify(one))),
        progress: progress ? JSON.stringify(progress) : '',
        listed: toJson(listed),
        counts: toJson(counts.map(([group, count]) => [GROUP + group, count])),
      },
      argList: targets.flatMap((target) => {
        const own = groups?.get(target.id);
        return [target.id, toJson(target), target.outcome ?? '', own ? JSON.stringify(own) : ''];
      }),
    });
    return added === 1;
  }

  /**
   * Makes the pending targets start evenly over a window, in an order that depends on their ids alone. Called
   * once the plan is complete; does nothing when another attempt at planning has begun. Blocks Redis for
   * about 5 ms per 1,000 targets.
   */
  async spread(run: string, planFence: number, { from, ms }: Pick<Spread, 'from' | 'ms'>): Promise<void> {
    await spreadTargets(this.store, {
      keys: keysOfRun(run),
      args: { plan_fence: planFence, from, window_ms: ms },
    });
  }

  /**
   * Counts requests that planning sent, and records how many targets the plan of the latest attempt has. The cost
   * of later plans is estimated from them.
   */
  async note(
    run: string,
    planFence: number,
    { spent, targets }: { spent: Spent; targets: number },
  ): Promise<void> {
    await notePlan(this.store, {
      keys: { run: keys.run(run) },
      args: { plan_fence: planFence, spent: JSON.stringify(spent), targets },
    });
  }

  /**
   * Counts an attempt at planning that failed for another reason than an outage; gives how many there were, 0
   * for a run that no longer exists.
   */
  async countFailure(run: string): Promise<number> {
    return Number(await countPlanFailure(this.store, { keys: keysOfRun(run) }));
  }
}
