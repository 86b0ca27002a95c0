import type { BudgetReport } from '../../control/budget-report.ts';
import { exit } from '../exit.ts';
import type { OutputOption } from '../output/show.ts';
import { showBudgets } from '../output/show-budget.ts';
import type { Terminal } from '../output/terminal.ts';
import type { Server } from './server.ts';

/** Shows the budgets of the server. Costs no request of the service. */
export async function budget(
  terminal: Terminal,
  server: Server,
  _args: string[],
  options: OutputOption,
): Promise<number> {
  const { accounts } = await server.get<{ accounts: BudgetReport[] }>('/budget');
  await showBudgets(accounts, terminal, options);
  return exit.ok;
}
