import { AccountRefusedError, UnavailableError } from '../../client/errors.ts';
import { AccountMovedError, serviceAddress } from '../../contract/service-address.ts';
import { type BudgetReport, budgetReport } from '../../control/budget-report.ts';
import { type BudgetDeps, listBudgets } from '../../control/commands/list-budgets.ts';
import { forecast, statesIn } from '../../control/forecast.ts';
import { estimateRunCost, knownRunCost } from '../../control/run-cost.ts';
import { pastCost } from '../../engine/plan/cost.ts';
import { CaretakerError } from '../../errors.ts';
import type { Policy } from '../../policy/policy.ts';
import { isOnServer, type Reader, withReader } from '../client.ts';
import { type GlobalOptions, policiesOf, printFindings, settingsOf, withCaretaker } from '../context.ts';
import { exit, explain } from '../exit.ts';
import { showBudgets } from '../output/show-budget.ts';
import type { Terminal } from '../output/terminal.ts';

/**
 * Shows the current window of each account, who uses it, and the requests that the schedules of the next 24
 * hours need. Costs one request if none was sent in this window, and one for each policy that has not run
 * yet.
 */
export async function budget(terminal: Terminal, options: GlobalOptions): Promise<number> {
  // A server sends no request for it.
  if (isOnServer(terminal, options))
    return withReader('records', terminal, options, async ({ read }) => {
      const { accounts } = await (read as Reader<BudgetDeps>['read'])(listBudgets, {}, { accounts: [] });
      await showBudgets(accounts, terminal, options);
      return exit.ok;
    });
  const settings = settingsOf(terminal, options);
  const { policies, findings } = await policiesOf(settings);
  if (findings.length > 0) printFindings(findings, terminal);
  const complete = Object.values(settings.accounts).filter(({ baseUrl, token }) => baseUrl && token);
  if (complete.length === 0)
    terminal.message('No account has both a base URL and a token. "caretaker doctor" shows what is missing.');
  let code: number = exit.ok;
  const shown = await withCaretaker(terminal, options, settings, async (caretaker) => {
    const all: BudgetReport[] = [];
    for (const { name, baseUrl = '' } of complete) {
      const address = serviceAddress(baseUrl);
      const bound = await caretaker.records.accounts.addressOf(name);
      // What was spent at another service says nothing about this one.
      if (bound !== undefined && bound !== address) {
        code = explain(new AccountMovedError(name, address, bound), terminal);
        continue;
      }
      const { client, budget: own } = caretaker.link(name);
      let unasked: string | undefined;
      /** Without an answer the rest of what is shown is still useful; the service is not asked again. */
      const unlessUnasked = async (asking: () => Promise<unknown>): Promise<void> => {
        if (unasked !== undefined) return;
        await asking().catch((error: unknown) => {
          if (error instanceof UnavailableError || error instanceof AccountRefusedError)
            unasked = error.message;
          else if (!(error instanceof CaretakerError)) throw error;
        });
      };
      if (!(await own.usage()).window)
        await unlessUnasked(() => client.call('listTags', { perPage: 1 }, { requestClass: 'person' }));
      const deps = {
        clock: caretaker.clock,
        states: statesIn(caretaker.records),
        async costOf(policy: Policy) {
          const past = await pastCost(caretaker, policy);
          // Of another account only the time matters, so nothing is asked there.
          if (!past && policy.account === name) await unlessUnasked(() => estimateRunCost(caretaker, policy));
          return knownRunCost(caretaker.records, policy, past);
        },
      };
      const next = await forecast(deps, name, policies, await own.usage());
      const [usage, lastHour] = await Promise.all([own.usage(), own.history('hour')]);
      all.push(budgetReport({ account: name, usage, lastHour, next, unasked }));
    }
    return all;
  });
  await showBudgets(shown, terminal, options);
  return code;
}
