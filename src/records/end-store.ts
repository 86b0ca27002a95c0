/**
 * The ends of runs, by policy: the scheduler finds here which runs the policies after it are to get.
 *
 * The script that ends a run writes its end, each at a time of its own that is later than any before. So a
 * policy that follows can remember with one number which ends it has processed, and no end is lost when a
 * process dies. An end is removed with its run.
 */
import type { Store } from '../redis/store.ts';
import { keys } from './keys.ts';

export interface RunEnd {
  run: string;
  /** When it ended, in milliseconds since 1970; no two ends of one policy have the same time. */
  at: number;
}

export class EndStore {
  constructor(private readonly store: Store) {}

  /** When the latest run of each of these policies ended; in one round trip. */
  async latest(policies: readonly string[]): Promise<Map<string, number>> {
    if (policies.length === 0) return new Map();
    const reads = this.store.pipeline();
    for (const policy of policies) reads.zrevrange(keys.ends(policy), 0, 0, 'WITHSCORES');
    const answers = (await reads.exec()) ?? [];
    return new Map(
      policies.flatMap((policy, index) => {
        const [error, found] = answers[index] ?? [];
        if (error) throw error;
        const [end] = endsIn(found as string[]);
        return end ? [[policy, end.at] as const] : [];
      }),
    );
  }

  /** The ends after `after` and not after `until`, oldest first; at most `limit`, from the oldest on. */
  async between(policy: string, after: number, until: number, limit: number): Promise<RunEnd[]> {
    const found = await this.store.zrange(
      keys.ends(policy),
      `(${after}`,
      until === Number.POSITIVE_INFINITY ? '+inf' : String(until),
      'BYSCORE',
      'LIMIT',
      0,
      limit,
      'WITHSCORES',
    );
    return endsIn(found);
  }
}

/** Members and scores in turn. */
const endsIn = (found: readonly string[]): RunEnd[] =>
  Array.from({ length: Math.floor(found.length / 2) }, (_, index) => ({
    run: found[2 * index] ?? '',
    at: Number(found[2 * index + 1]),
  }));
