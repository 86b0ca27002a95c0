/** The budgets of accounts for people and programs, the same with and without a server. */
import { requestClasses } from '../../budget/ticket.ts';
import { type BudgetReport, forecastCells, forecastSentence } from '../../control/budget-report.ts';
import { countOf } from '../../text.ts';
import { clockOf } from '../io.ts';
import { type List, listTable } from './list.ts';
import { type OutputOption, show } from './show.ts';
import { clockTime } from './show-run.ts';
import type { Terminal } from './terminal.ts';

export async function showBudgets(
  accounts: readonly BudgetReport[],
  terminal: Terminal,
  options: OutputOption,
): Promise<void> {
  const text = () => {
    for (const one of accounts) print(one, terminal);
  };
  await show(terminal, options, { value: { accounts }, rows: accounts, text });
}

function print(
  {
    account,
    limit,
    reserved,
    window,
    unasked,
    other_clients_per_minute: othersPerMinute,
    last_hour: lastHour,
    next_24_hours: next,
  }: BudgetReport,
  terminal: Terminal,
): void {
  const { data, paint } = terminal;
  data(
    `${paint('bold', account)}: ${limit} requests per minute, ${reserved} of them reserved for other clients`,
  );
  if (unasked !== null) data(`  The service could not be asked: ${unasked}`);
  if (window) {
    const ends = clockTime(Date.parse(window.resets_at) - clockOf(terminal.io).now());
    data(`  Current window: ${window.left} requests left, ends in ${ends}`);
    data(`  Used by Caretaker: ${classesOf(window.by_class) || 'none'}`);
    for (const [process, count] of Object.entries(window.by_process))
      data(`    ${count} by ${processName(process)}`);
  }
  const others = othersPerMinute === null ? 'unknown' : `${countOf(othersPerMinute, 'request')}/min`;
  data(`  Used by other clients: ${others}`);
  printLastHour(lastHour, data);
  if (next.policies.length === 0) {
    data('  No runs are scheduled in the next 24 hours.');
    return;
  }
  data(`\nNext 24 hours: ${forecastSentence(next)}`);
  const rows = next.policies.map((one) => ({ policy: one.policy, ...forecastCells(one) }));
  data(listTable(forecast, rows, terminal));
  for (const { policy, warning } of next.policies)
    if (warning !== null)
      data(`${paint('yellow', 'warning')}: The budget is too small for ${policy}. ${warning}`);
}

const forecast: List<{ policy: string } & ReturnType<typeof forecastCells>> = {
  table: {
    policy: ({ policy }) => policy,
    runs: ({ runs }) => runs,
    'requests a run': ({ requests }) => requests,
    'based on': ({ from }) => from,
    duration: ({ duration }) => duration,
    fits: ({ fits }) => fits,
  },
  shrink: ['based on: 0', 'runs: 0', 'duration: 0'],
};

const classesOf = (counts: Readonly<Record<string, number>>): string =>
  requestClasses
    .filter((name) => (counts[name] ?? 0) > 0)
    .map((name) => `${name} ${counts[name]}`)
    .join(', ');

/** How many policies are printed; JSON has all. */
const MAX_POLICIES = 10;

function printLastHour(
  { requests, by_class, by_policy, other_clients, known_minutes }: BudgetReport['last_hour'],
  data: Terminal['data'],
): void {
  data(`  Last hour: ${countOf(requests, 'request')}${requests === 0 ? '' : `: ${classesOf(by_class)}`}`);
  for (const { policy, requests: count } of by_policy.slice(0, MAX_POLICIES))
    data(`    ${count} by ${policy ?? 'no single policy'}`);
  if (by_policy.length > MAX_POLICIES) data(`    ${by_policy.length - MAX_POLICIES} more policies`);
  if (other_clients !== null)
    data(`    at least ${other_clients} by other clients, known for ${known_minutes} of 60 minutes`);
}

/** Formats `host.123.ab` as `host (pid 123)`. */
const processName = (name: string): string => name.replace(/^(.+)\.(\d+)\.[^.]+$/, '$1 (pid $2)');
