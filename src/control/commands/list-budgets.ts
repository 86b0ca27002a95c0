import { z } from 'zod';
import { isPermitted, type Principal } from '../../access/principal.ts';
import type { Budget } from '../../budget/budget.ts';
import { pastCost } from '../../engine/plan/cost.ts';
import { BudgetReport, budgetReport } from '../budget-report.ts';
import { defineCommand } from '../command.ts';
import { NotFoundError } from '../errors.ts';
import { forecast, statesIn } from '../forecast.ts';
import { type AllPolicies, seenPolicies } from '../policies.ts';
import { knownRunCost } from '../run-cost.ts';

export interface BudgetDeps extends AllPolicies {
  settings: { accounts: Readonly<Record<string, unknown>> };
  /** The budget of an account of the settings; undefined for others. */
  budgetOf(account: string): Pick<Budget, 'usage' | 'history'> | undefined;
}

export const listBudgets = defineCommand<BudgetDeps>()({
  name: 'budgets.list',
  summary:
    'Shows the request budget of each account, who used it in the last hour, and a forecast of 24 hours.',
  role: 'viewer',
  reads: true,
  path: '/budget',
  input: z.strictObject({ account: z.string().min(1).optional().describe('Only this account.') }),
  subject: () => undefined,
  /** Sends no request to the service: what runs cost is known from past runs and from estimates that `caretaker budget` made. */
  async carryOut({ account }, deps, { by: { principal } }) {
    const { records, clock } = deps;
    const seen = seenPolicies(deps, principal);
    const accounts = Object.keys(deps.settings.accounts).filter(
      (name) =>
        isPermitted(principal, 'viewer', { account: name }) || seen.some((policy) => policy.account === name),
    );
    if (account !== undefined && !accounts.includes(account))
      throw new NotFoundError(`No account has the name "${account}".`);
    const shown = accounts.filter((name) => account === undefined || name === account);
    const costOf = async (policy: (typeof seen)[number]) =>
      knownRunCost(records, policy, await pastCost({ records }, policy));
    const found: BudgetReport[] = [];
    for (const name of shown) {
      const budget = deps.budgetOf(name);
      if (!budget) continue;
      const usage = await budget.usage();
      const next = await forecast({ clock, states: statesIn(records), costOf }, name, seen, usage);
      const report = budgetReport({ account: name, usage, lastHour: await budget.history('hour'), next });
      found.push(isPermitted(principal, 'viewer') ? report : limitedTo(principal, name, report));
    }
    return found;
  },
  answer: z.object({ accounts: z.array(BudgetReport) }),
  toAnswer: (accounts) => ({ accounts }),
});

/** Without the names of processes, and of policies that the principal may not see: they count as of none. */
function limitedTo(principal: Principal, account: string, report: BudgetReport): BudgetReport {
  const { window, last_hour: lastHour } = report;
  const isSeen = (policy: string | null) =>
    policy !== null && isPermitted(principal, 'viewer', { policy, account });
  const named = lastHour.by_policy.filter(({ policy }) => isSeen(policy));
  const rest = lastHour.by_policy
    .filter(({ policy }) => !isSeen(policy))
    .reduce((sum, { requests }) => sum + requests, 0);
  return {
    ...report,
    window: window && { ...window, by_process: {} },
    last_hour: {
      ...lastHour,
      by_policy: [...named, ...(rest > 0 ? [{ policy: null, requests: rest }] : [])],
    },
  };
}
