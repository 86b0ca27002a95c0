/**
 * What a principal with limits sees. Handlers receive a context whose policies, accounts and records are already
 * filtered, so that no page and no answer can show more.
 */
import { isPermitted, namedPolicies, type Principal } from '../../access/principal.ts';
import type { BudgetBucket } from '../../budget/history.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Totals } from '../../records/end-store.ts';
import type { RunQuery } from '../../records/run-query.ts';
import { isFinal } from '../../run/moves.ts';
import type { Run } from '../../run/run.ts';
import type { PageContext } from '../http/context.ts';
import type { Health } from '../options.ts';
import type { Reader } from './reader.ts';
import type { SearchReader } from './search-reader.ts';

/** How many of the newest runs whose ids match are looked at. */
const MAX_RUNS_MATCHED = 2_000;

/** Decides what is seen. */
interface Scope {
  run(run: Pick<Run, 'policy' | 'account'>): boolean;
  policy(name: string): boolean;
  account(name: string): boolean;
  /** Whether everything in the account is seen, whatever the policy. */
  wholeAccount(name: string): boolean;
  /** The policies whose runs can be seen, if there are only some: then their runs are found by policy. */
  names?: string[] | undefined;
}

type Scopable = Pick<PageContext, 'reader' | 'policies' | 'accounts' | 'budgetOf' | 'health' | 'clock'>;

/** The context for this principal: the same for one without limits. */
export function scopedTo<C extends Scopable>(principal: Principal | undefined, context: C): C {
  if (!principal || isPermitted(principal, 'viewer')) return context;
  const scope = scopeOf(principal, context.policies);
  return {
    ...context,
    reader: scopedReader(context.reader, scope, context.clock),
    policies: () => context.policies().filter(({ name }) => scope.policy(name)),
    accounts: async () => (await context.accounts()).filter(({ account }) => scope.account(account)),
    budgetOf: (account) => {
      const budget = scope.account(account) ? context.budgetOf(account) : undefined;
      return (
        budget && { ...budget, history: async (span) => (await budget.history(span)).map(spentIn(scope)) }
      );
    },
    health: async () => healthIn(await context.health(), scope),
  };
}

/**
 * The context with only what belongs to an account, for pages that read totals, active runs and findings; the same
 * without one. What the reader may not see is not in it, since the given context is filtered already.
 */
export function inAccount<C extends Scopable>(name: string | undefined, context: C): C {
  if (name === undefined) return context;
  const { reader } = context;
  const policies = () => context.policies().filter(({ account }) => account === name);
  const scope: Scope = {
    run: ({ account }) => account === name,
    policy: (policy) => policies().some((one) => one.name === policy),
    account: (account) => account === name,
    wholeAccount: (account) => account === name,
  };
  return {
    ...context,
    reader: {
      ...reader,
      findings: reader.findings.within(scope.run),
      totals: (from, now) => totalsIn(reader, scope, from, now),
    },
    policies,
    accounts: async () => (await context.accounts()).filter(({ account }) => account === name),
    health: async () => healthIn(await context.health(), scope),
  };
}

/** The names of other policies are left out: what they spent counts as of none. */
const spentIn =
  (scope: Scope) =>
  (bucket: BudgetBucket): BudgetBucket => ({
    ...bucket,
    spent: bucket.spent.map(({ policy, ...one }) =>
      policy !== undefined && scope.policy(policy) ? { ...one, policy } : one,
    ),
  });

function scopeOf(principal: Principal, policies: () => readonly Policy[]): Scope {
  const run = ({ policy, account }: Pick<Run, 'policy' | 'account'>) =>
    isPermitted(principal, 'viewer', { policy, account });
  // Without a file the account of a policy is unknown.
  const policy = (name: string) => {
    const active = policies().find((one) => one.name === name);
    return isPermitted(principal, 'viewer', { policy: name, account: active?.account });
  };
  const wholeAccount = (account: string) => isPermitted(principal, 'viewer', { account });
  const account = (name: string) =>
    wholeAccount(name) || policies().some((one) => one.account === name && policy(one.name));
  return { run, policy, account, wholeAccount, names: namedPolicies(principal) };
}

/** Names of others are left out: broken files with policies of others, other accounts, differences between daemons. */
const healthIn = (health: Health, scope: Scope): Health => ({
  ...health,
  brokenFiles: health.brokenFiles.filter(
    ({ active }) => active.length > 0 && active.every((name) => scope.policy(name)),
  ),
  differences: [],
  moved: health.moved.filter(({ account }) => scope.wholeAccount(account)),
});

function scopedReader(reader: Reader, scope: Scope, clock: PageContext['clock']): Reader {
  const run = async (id: string) => {
    const found = await reader.run(id);
    return found && scope.run(found) ? found : undefined;
  };
  const isSeen = async (id: string) => (await run(id)) !== undefined;
  const runsOf = async (ids: readonly string[]) => (await reader.runsOf(ids)).filter(scope.run);
  const runs = ({ policy = scope.names, ...query }: RunQuery) =>
    reader.runs({ ...query, policy, sees: (one) => scope.run(one) && (query.sees?.(one) ?? true) });
  return {
    ...scopedSearch(reader, scope),
    findings: reader.findings.within(scope.run),
    run,
    runs,
    runsOf,
    showsRecovery: reader.showsRecovery,
    totals: (from, now) => totalsIn(reader, scope, from, now),
    async runsByStatus() {
      throw new Error('The number of all runs is for principals without limits.');
    },
    async queueDepths() {
      throw new Error('The depth of the queues is for principals without limits.');
    },
    async reasons(ids) {
      const seen = await runsOf(ids);
      return reader.reasons(seen.map(({ id }) => id));
    },
    targets: async (id, query) => ((await isSeen(id)) ? reader.targets(id, query) : { targets: [] }),
    // Of targets that a page shows.
    titles: reader.titles,
    async *allTargets(id) {
      if (await isSeen(id)) yield* reader.allTargets(id);
    },
    excluded: async (id, limit) => ((await isSeen(id)) ? reader.excluded(id, limit) : []),
    gates: async (id) => ((await isSeen(id)) ? reader.gates(id) : new Map()),
    countExcluded: async (id) => ((await isSeen(id)) ? reader.countExcluded(id) : 0),
    async runsOfTarget(account, target, also) {
      return (await reader.runsOfTarget(account, target, also)).filter((one) => scope.run(one.run));
    },
    policyStates: (policies) => reader.policyStates(policies),
    preview: async (policy) => (scope.policy(policy) ? reader.preview(policy) : undefined),
    versions: async (policy) => (scope.policy(policy) ? reader.versions(policy) : []),
    ledger: async (policy, limit, before) =>
      scope.policy(policy) ? reader.ledger(policy, limit, before) : [],
    ledgerBetween: async (policy, from, to, limit) =>
      scope.policy(policy) ? reader.ledgerBetween(policy, from, to, limit) : [],
    usualCost: async (policy) => (scope.policy(policy.name) ? reader.usualCost(policy) : undefined),
    estimatedCost: async (policy) => (scope.policy(policy.name) ? reader.estimatedCost(policy) : undefined),
    async accounts(names) {
      const all = await reader.accounts(names);
      const { active } = await reader.totals(clock.now(), clock.now());
      const seen = await runsOf([...active, ...all.flatMap(({ heldRuns }) => heldRuns)]);
      return all.map((facts, index) => {
        const name = names[index] ?? '';
        if (scope.wholeAccount(name)) return facts;
        const own = new Map(seen.filter(({ account }) => account === name).map((one) => [one.id, one]));
        return {
          ...facts,
          activeRuns: [...own.values()].filter(({ status }) => !isFinal(status)).length,
          heldRuns: facts.heldRuns.filter((id) => own.has(id)),
          outbox: { waiting: 0 },
        };
      });
    },
    async freezes(now, span) {
      return (await reader.freezes(now, span)).filter(
        ({ scope: { account } = {} }) => account === undefined || scope.account(account),
      );
    },
    async presence(now) {
      return (await reader.presence(now)).map(({ keeps = [], ...process }) => ({
        ...process,
        keeps: keeps.filter(({ name }) => scope.policy(name)),
      }));
    },
  };
}

/** Of this many matches the runs are read, to see whether one of them is seen. */
const MAX_MATCHES = 40;

const scopedSearch = (reader: Reader, scope: Scope): SearchReader => ({
  async targetsWith(words, limit) {
    const matches = (await reader.targetsWith(words, Number.POSITIVE_INFINITY))
      .filter(({ account }) => scope.account(account))
      .slice(0, MAX_MATCHES);
    const areSeen = await Promise.all(
      matches.map(async ({ account, target }) => {
        if (scope.wholeAccount(account)) return true;
        return (await reader.runsOfTarget(account, target)).some(({ run }) => scope.run(run));
      }),
    );
    return matches.filter((_, index) => areSeen[index]).slice(0, limit);
  },
  // The newest may be of others, so all of them are read.
  async runsWith(part, limit) {
    return (await reader.runsWith(part, MAX_RUNS_MATCHED)).filter(scope.run).slice(0, limit);
  },
  async madeAs(accounts, id) {
    return (await reader.madeAs(accounts, id)).filter(({ run }) => scope.run(run));
  },
});

/** The totals of the seen runs, complete for any number of runs. */
async function totalsIn(reader: Reader, scope: Scope, from: number, now: number): Promise<Totals> {
  const all = await reader.totals(from, now);
  const isSeen = <T extends { policy?: string; account?: string }>(
    one: T,
  ): one is T & { policy: string; account: string } =>
    one.policy !== undefined &&
    one.account !== undefined &&
    scope.run({ policy: one.policy, account: one.account });
  const active = await reader.runsOf(all.active);
  return {
    since: all.since,
    hours: all.hours.filter(isSeen),
    active: active.filter(scope.run).map(({ id }) => id),
    runs: all.runs.filter(isSeen),
    targets: all.targets.filter(isSeen),
  };
}
