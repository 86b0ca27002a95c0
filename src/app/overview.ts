/** How the daemon is, for its dashboard: what it was started for, what of that works, what the accounts have left. */
import type { BudgetView, Health, MetricsSource } from '../dashboard/options.ts';
import type { Policy } from '../policy/policy.ts';
import type { Caretaker } from './caretaker.ts';
import type { PolicyBook } from './policy-book.ts';

export interface Overview {
  policies: () => readonly Policy[];
  health: () => Promise<Health>;
  metrics: MetricsSource;
}

/** Redis counts as down when it does not answer a ping within this time. */
const PING_MS = 1_000;

/** What the dashboard is told; `waiting` gives the roles that are not at work. */
export function overview(caretaker: Caretaker, book: PolicyBook, roles: readonly string[]): Overview {
  const { redis, drift, linked, link } = caretaker;
  return {
    policies: book.policies,
    async health() {
      const late = new Promise<'down'>((resolve) => setTimeout(resolve, PING_MS, 'down').unref());
      const answer = redis.store.ping().then(
        () => 'up' as const,
        () => 'down' as const,
      );
      const brokenFiles = [...new Set(book.findings().map(({ file }) => file))];
      return { redis: await Promise.race([answer, late]), roles, waiting: [], brokenFiles };
    },
    metrics: {
      budgets: () =>
        Promise.all(
          linked().map(async (account): Promise<BudgetView> => {
            const { limit, remaining, resetsAt } = await link(account).budget.state();
            // A window that is over was renewed, though nobody has asked since.
            return { account, limit, remaining: caretaker.clock.now() >= resetsAt ? limit : remaining };
          }),
        ),
      drift: () => [...drift.values()].reduce((sum, count) => sum + count, 0),
    },
  };
}
