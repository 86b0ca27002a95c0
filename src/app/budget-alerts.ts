/**
 * Notices about budgets that are too small for the schedules of the next 24 hours: one when that is found, and one when
 * they fit again, once for all processes with a scheduler.
 */
import { type Budget, openBudget } from '../budget/budget.ts';
import type { Clock } from '../clock.ts';
import { type Forecast, forecast, statesIn } from '../control/forecast.ts';
import { knownRunCost } from '../control/run-cost.ts';
import { pastCost } from '../engine/plan/cost.ts';
import type { Policy } from '../policy/policy.ts';
import type { Records } from '../records/records.ts';
import type { Caretaker } from './caretaker.ts';

/** How often. Costs no request to the service. */
export const BUDGET_LOOK_INTERVAL_MS = 10 * 60_000;
/** A budget fits again when no process has found it too small for so long: other clients use it now and then. */
export const FITS_AFTER_MS = 60 * 60_000;
const PREFIX = 'budget ';
/** How many policies a message names. */
const MAX_NAMED = 5;

export interface BudgetLookDeps {
  records: Records;
  clock: Pick<Clock, 'now'>;
  policies: () => readonly Policy[];
  /** By account. */
  budgets: ReadonlyMap<string, Pick<Budget, 'usage'>>;
}

/** The budgets of the accounts of the settings. */
export const budgetsOf = ({ settings, redis, clock }: Caretaker): BudgetLookDeps['budgets'] =>
  new Map(
    Object.values(settings.accounts).map(({ name, baseUrl, budget }) => [
      name,
      openBudget(redis.store, clock, name, { ...budget, address: baseUrl }),
    ]),
  );

/** Looks at all budgets when it is time. A budget that is too small is reported when two looks in a row find that. */
export function openBudgetLooks(deps: BudgetLookDeps): { look(): Promise<void> } {
  const { records, clock, policies, budgets } = deps;
  const costOf = async (policy: Policy) => knownRunCost(records, policy, await pastCost(deps, policy));
  let lookedAt = Number.NEGATIVE_INFINITY;
  let before = new Set<string>();

  const lookAt = async (account: string, budget: Pick<Budget, 'usage'>): Promise<string | undefined> => {
    const usage = await budget.usage();
    return whyTooSmall(
      account,
      await forecast({ clock, states: statesIn(records), costOf }, account, policies(), usage),
    );
  };

  return {
    async look() {
      const at = clock.now();
      if (at < lookedAt + BUDGET_LOOK_INTERVAL_MS) return;
      lookedAt = at;
      const found = new Set<string>();
      for (const [account, budget] of budgets) {
        const why = await lookAt(account, budget);
        if (why === undefined) continue;
        found.add(account);
        if (!before.has(account)) continue;
        const notice = { type: 'system', event: 'budget-cannot-fit', at, account, detail: why } as const;
        await records.alerts.raise(PREFIX + account, notice);
      }
      before = found;
      for (const alert of await records.alerts.names(PREFIX)) {
        const account = alert.slice(PREFIX.length);
        if (found.has(account)) continue;
        const detail = `The budget of the account "${account}" is large enough again for the schedules of the next 24 hours.`;
        const notice = { type: 'system', event: 'budget-fits', at, account, detail } as const;
        await records.alerts.clear(alert, at - FITS_AFTER_MS, notice);
      }
    },
  };
}

/** In sentences; undefined when everything fits. */
export function whyTooSmall(
  account: string,
  { requests, capacity, policies }: Pick<Forecast, 'requests' | 'capacity' | 'policies'>,
): string | undefined {
  const late = policies.flatMap(({ policy, warning }) =>
    warning === undefined ? [] : [`${policy}: ${warning}`],
  );
  if (requests <= capacity && late.length === 0) return undefined;
  const more = late.length - MAX_NAMED;
  return [
    `The budget of the account "${account}" is too small for the schedules of the next 24 hours: they need about ${Math.round(requests)} requests, and ${capacity} are available.`,
    ...late.slice(0, MAX_NAMED),
    ...(more > 0 ? [`And ${more} more policies.`] : []),
    'The page Budget and "caretaker budget" show the forecast.',
  ].join('\n');
}
