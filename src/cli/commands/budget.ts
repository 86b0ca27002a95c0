import { AccountMovedError, serviceAddress } from '../../contract/service-address.ts';
import { type BudgetReport, budgetReport } from '../../control/budget-report.ts';
import { forecast, statesIn } from '../../control/forecast.ts';
import { estimateRunCost, fromPastRuns } from '../../control/run-cost.ts';
import { pastCost } from '../../engine/plan/cost.ts';
import { CaretakerError } from '../../errors.ts';
import type { Policy } from '../../policy/policy.ts';
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
      const unasked = (await own.usage()).window
        ? undefined
        : await client.call('listTags', { perPage: 1 }, { requestClass: 'person' }).then(
            () => undefined,
            (error: unknown) => {
              if (error instanceof CaretakerError) return error.message;
              throw error;
            },
          );
      const deps = {
        clock: caretaker.clock,
        states: statesIn(caretaker.records),
        // Of another account only the time matters, so nothing is asked there.
        costOf: (policy: Policy) =>
          policy.account === name
            ? estimateRunCost(caretaker, policy)
            : pastCost(caretaker, policy).then(fromPastRuns),
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
