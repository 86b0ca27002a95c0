/** Who used the requests of an account, what is left, and what the next 24 hours need. */
import { type BudgetBucket, type HistorySpan, historySpans } from '../../budget/history.ts';
import { type RequestClass, requestClasses } from '../../budget/ticket.ts';
import type { BudgetUsage } from '../../budget/usage.ts';
import { type ForecastReport, forecastReport } from '../../control/budget-report.ts';
import { forecast } from '../../control/forecast.ts';
import { knownRunCost } from '../../control/run-cost.ts';
import { MINUTE_MS } from '../../dates.ts';
import type { Policy } from '../../policy/policy.ts';
import type { DashboardContext } from '../http/context.ts';

/** Something that spent requests, with its requests in each bucket. */
export interface Spender {
  /** The class, or the policy; undefined for requests of no single policy. */
  name: string | undefined;
  counts: number[];
  total: number;
}

export interface AccountBudget {
  account: string;
  usage: BudgetUsage;
  buckets: BudgetBucket[];
  /** The largest first. */
  classes: (Spender & { name: RequestClass })[];
  policies: Spender[];
  total: number;
  /** What other clients spent, as far as it is known, and in how many buckets it is. */
  others: { total: number; known: number };
  /** The requests that one bucket can have. */
  limit: number;
}

type Context = Pick<DashboardContext, 'accounts' | 'budgetOf'>;

/** The budgets of the accounts that are seen. Reads 24 to 168 buckets of each in one round trip. */
export async function readBudgets(
  context: Context,
  span: HistorySpan,
  account?: string,
): Promise<AccountBudget[]> {
  const views = (await context.accounts()).filter((one) => account === undefined || one.account === account);
  const found = await Promise.all(views.map((view) => readBudget(context, span, view.account)));
  return found.flatMap((one) => one ?? []);
}

async function readBudget(
  { budgetOf }: Context,
  span: HistorySpan,
  account: string,
): Promise<AccountBudget | undefined> {
  const budget = budgetOf(account);
  if (!budget) return undefined;
  const [usage, buckets] = await Promise.all([budget.usage(), budget.history(span)]);
  return { account, usage, ...spentIn(buckets), limit: limitOf(usage, span) };
}

/** The account that was granted the most requests, with its last hour, and how many others there are. */
export interface Busiest {
  first: AccountBudget | undefined;
  others: number;
}

/** Reads one history, however many accounts there are. */
export async function readBusiest(context: Context): Promise<Busiest> {
  const granted = (await context.accounts()).map(({ account, requests }) => ({
    account,
    requests: sum(Object.values(requests)),
  }));
  const [busiest, ...others] = granted.sort((a, b) => b.requests - a.requests);
  return { first: busiest && (await readBudget(context, 'hour', busiest.account)), others: others.length };
}

const limitOf = ({ limit }: BudgetUsage, span: HistorySpan): number =>
  (limit * historySpans[span].size.ms) / MINUTE_MS;

export function spentIn(
  buckets: BudgetBucket[],
): Pick<AccountBudget, 'buckets' | 'classes' | 'policies' | 'total' | 'others'> {
  const byClass = new Map<RequestClass, number[]>();
  const byPolicy = new Map<string | undefined, number[]>();
  const add = <N>(to: Map<N, number[]>, name: N, index: number, requests: number) => {
    const counts = to.get(name) ?? new Array<number>(buckets.length).fill(0);
    counts[index] = (counts[index] ?? 0) + requests;
    to.set(name, counts);
  };
  for (const [index, { spent }] of buckets.entries()) {
    for (const one of spent) {
      add(byClass, one.class, index, one.requests);
      add(byPolicy, one.policy, index, one.requests);
    }
  }
  const classes = requestClasses
    .map((name) => spenderOf(name, byClass.get(name) ?? []))
    .filter(({ total }) => total > 0);
  const policies = [...byPolicy]
    .map(([name, counts]) => spenderOf(name, counts))
    .sort((a, b) => b.total - a.total);
  const known = buckets.filter(({ others }) => others !== undefined);
  return {
    buckets,
    classes,
    policies,
    total: sum(classes.map(({ total }) => total)),
    others: { total: sum(known.map(({ others = 0 }) => others)), known: known.length },
  };
}

const spenderOf = <N>(name: N, counts: number[]) => ({ name, counts, total: sum(counts) });

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

/** What the schedules of the next 24 hours need. A page sends no request. */
export async function readForecast(
  { reader, clock }: Pick<DashboardContext, 'reader' | 'clock'>,
  account: string,
  policies: readonly Policy[],
  usage: BudgetUsage,
): Promise<ForecastReport> {
  const previews = { estimateOf: (policy: Policy) => reader.estimatedCost(policy) };
  const costOf = async (policy: Policy) => knownRunCost({ previews }, policy, await reader.usualCost(policy));
  const states = (all: readonly Policy[]) => reader.policyStates(all);
  return forecastReport(await forecast({ clock, states, costOf }, account, policies, usage));
}
