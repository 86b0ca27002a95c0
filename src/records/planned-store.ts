/**
 * What was planned for each target, and the facts that it rests on: for runs that look again before they act, and
 * for plans that were saved in a file and are being applied.
 */
import { z } from 'zod';
import { defineScript } from '../redis/script.ts';
import { type Store, toJson } from '../redis/store.ts';
import type { Remark } from '../run/remarks.ts';
import type { Run } from '../run/run.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';
import { setFields } from './run-scripts.ts';

/** A change, as it is sent: the parameters of its path and query, and its body. */
export const PlannedRequest = z.object({
  operation: z.string(),
  params: z.record(z.string(), z.unknown()),
  body: z.exactOptional(z.unknown()),
});
export type PlannedRequest = z.output<typeof PlannedRequest>;

/** A target as it was planned. */
export const PlannedTarget = z.object({
  label: z.string(),
  /** The state that the plan left for the job, as JSON. */
  jobState: z.exactOptional(z.string()),
  /** The fields that the decision rests on, with their values: see `engine/plan/facts.ts`. */
  facts: z.record(z.string(), z.unknown()),
  /** The changes that the target may request, and no others; missing when they are not restricted. */
  requests: z.exactOptional(z.array(PlannedRequest)),
});
export type PlannedTarget = z.output<typeof PlannedTarget>;

/** How long the targets of a saved plan are kept after it was applied: longer than its run may take. */
const SAVED_MS = 40 * 86_400_000;
const PAGE = 200;

const addPlanned = defineScript(
  { keys: ['run', 'planned'], args: ['plan_fence'], argList: 'targets' },
  `
if redis.call('HGET', keys.run, 'planFence') ~= args.plan_fence then return 0 end
redis.call('HSET', keys.planned, unpack(targets))
return 1`,
);

export class PlannedStore {
  constructor(private readonly store: Store) {}

  /** Adds targets of a run's plan; does nothing when another attempt at planning has begun. */
  async add(run: string, planFence: number, targets: ReadonlyMap<string, PlannedTarget>): Promise<void> {
    for (const page of pagesOf(targets))
      await addPlanned(this.store, {
        keys: { run: keys.run(run), planned: keys.planned(run) },
        args: { plan_fence: planFence },
        argList: page,
      });
  }

  /** Records when the plan of a run was made, so that it can be made again as of that time. */
  async noteDecided(run: string, decidedAt: NonNullable<Run['decidedAt']>): Promise<void> {
    const fields = ['decidedAt', JSON.stringify(decidedAt)];
    await setFields(this.store, { keys: { run: keys.run(run) }, argList: fields });
  }

  /** Records what planning found wrong with a run as a whole. */
  async noteRemarks(run: string, remarks: readonly Remark[]): Promise<void> {
    const fields = ['remarks', JSON.stringify(remarks)];
    await setFields(this.store, { keys: { run: keys.run(run) }, argList: fields });
  }

  /** What was planned for these targets of a run, by their ids. */
  ofRun(run: string, ids: readonly string[]): Promise<Map<string, PlannedTarget>> {
    return this.read(keys.planned(run), ids);
  }

  /** Keeps the targets of a saved plan, by its hash, for the run that applies it. May be repeated. */
  async save(hash: string, targets: ReadonlyMap<string, PlannedTarget>): Promise<void> {
    const key = keys.savedPlan(hash);
    for (const page of pagesOf(targets)) {
      await this.store.hset(key, ...page);
      await this.store.pexpire(key, SAVED_MS);
    }
  }

  /** Those of the targets of a saved plan that are kept, by their ids. */
  saved(hash: string, ids: readonly string[]): Promise<Map<string, PlannedTarget>> {
    return this.read(keys.savedPlan(hash), ids);
  }

  private async read(key: string, ids: readonly string[]): Promise<Map<string, PlannedTarget>> {
    if (ids.length === 0) return new Map();
    const found = await this.store.hmget(key, ...ids);
    return new Map(
      found.flatMap((json, at) => {
        const id = ids[at];
        return json && id !== undefined ? [[id, parseRecord(PlannedTarget, json, key)] as const] : [];
      }),
    );
  }
}

function* pagesOf(targets: ReadonlyMap<string, PlannedTarget>): Generator<string[]> {
  const all = [...targets].map(([id, target]) => [id, toJson(target)]);
  for (let at = 0; at < all.length; at += PAGE) yield all.slice(at, at + PAGE).flat();
}
