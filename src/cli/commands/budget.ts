import { requestClasses } from '../../budget/request-class.ts';
import type { BudgetUsage } from '../../budget/usage.ts';
import { isoTime } from '../../clock.ts';
import { CaretakerError } from '../../errors.ts';
import { countOf } from '../../text.ts';
import { type GlobalOptions, policiesOf, printFindings, settingsOf, withCaretaker } from '../context.ts';
import { exit } from '../exit.ts';
import { type Forecast, forecast } from '../forecast.ts';
import { show } from '../output/show.ts';
import { clockTime } from '../output/show-run.ts';
import { type Terminal, table } from '../output/terminal.ts';

interface AccountBudget {
  account: string;
  usage: BudgetUsage;
  next: Forecast;
  /** Why the remaining requests are unknown. */
  unasked?: string;
}

/**
 * Shows the current window of each account, who uses it, and the requests that the schedules of the next 24
 * hours need. Costs one request if none was sent in this window, and one for each policy that has not run
 * yet.
 */
export async function budget(terminal: Terminal, options: GlobalOptions): Promise<number> {
  const settings = settingsOf(options);
  const { policies, findings } = await policiesOf(settings);
  if (findings.length > 0) printFindings(findings, terminal);
  const complete = Object.values(settings.accounts).filter(({ baseUrl, token }) => baseUrl && token);
  if (complete.length === 0)
    terminal.message('No account has both a base URL and a token. "caretaker doctor" shows what is missing.');
  const shown = await withCaretaker(options, settings, async (caretaker) => {
    const all: AccountBudget[] = [];
    for (const { name } of complete) {
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
      const next = await forecast(caretaker, name, policies, await own.usage());
      all.push({ account: name, usage: await own.usage(), next, ...(unasked ? { unasked } : {}) });
    }
    return all;
  });
  const accounts = shown.map(asJson);
  const text = () => {
    for (const one of shown) print(one, terminal);
  };
  await show(terminal, options, { value: { accounts }, rows: accounts, text });
  return exit.ok;
}

function asJson({
  account,
  usage: { limit, reserved, window, othersPerMinute },
  next,
  unasked,
}: AccountBudget) {
  return {
    account,
    limit,
    reserved,
    window: window
      ? {
          left: window.remaining,
          resets_at: isoTime(window.resetsAt),
          by_class: window.classes,
          by_process: window.processes,
          other_clients: window.others,
        }
      : null,
    other_clients_per_minute: othersPerMinute ?? null,
    unasked: unasked ?? null,
    next_24_hours: {
      requests: next.requests,
      capacity: next.capacity,
      policies: next.policies.map(({ policy, firings, requests, from, takesMs, warning }) => ({
        policy,
        firings,
        requests_a_run: requests ?? null,
        known_from: from,
        takes_seconds: Number.isFinite(takesMs) ? Math.round(takesMs / 1000) : null,
        warning: warning ?? null,
      })),
    },
  };
}

function print(
  { account, usage, next, unasked }: AccountBudget,
  { data, paint, ...terminal }: Terminal,
): void {
  const { limit, reserved, window, othersPerMinute } = usage;
  data(
    `${paint('bold', account)}: ${limit} requests per minute, ${reserved} of them reserved for other clients`,
  );
  if (unasked !== undefined) data(`  The remaining requests are unknown: ${unasked}`);
  if (window) {
    const ends = clockTime(window.resetsAt - Date.now());
    data(`  Current window: ${window.remaining} requests left, ends in ${ends}`);
    const classes = requestClasses.filter((name) => window.classes[name] > 0);
    const used = classes.map((name) => `${name} ${window.classes[name]}`).join(', ');
    data(`  Used by Caretaker: ${used || 'none'}`);
    for (const [process, count] of Object.entries(window.processes))
      data(`    ${count} by ${processName(process)}`);
  }
  const others = othersPerMinute === undefined ? 'unknown' : `${countOf(othersPerMinute, 'request')}/min`;
  data(`  Used by other clients: ${others}`);
  if (next.policies.length === 0) {
    data('  No runs are scheduled in the next 24 hours.');
    return;
  }
  const percent = Math.round((next.requests / next.capacity) * 100);
  const share = percent === 0 && next.requests > 0 ? 'less than 1' : percent;
  data(`\nNext 24 hours: about ${countOf(next.requests, 'request')}, ${share}% of those available`);
  const rows = next.policies.map(({ policy, firings, requests, from, takesMs }) => [
    policy,
    String(firings),
    requests === undefined ? '?' : String(requests),
    from,
    Number.isFinite(takesMs) ? clockTime(takesMs) : 'never ends',
  ]);
  data(
    table(['policy', 'runs', 'requests per run', 'based on', 'duration'], rows, paint, {
      columns: terminal.dataColumns,
      shrink: [
        { column: 3, min: 0 },
        { column: 1, min: 0 },
        { column: 4, min: 0 },
      ],
    }),
  );
  for (const { policy, warning } of next.policies)
    if (warning !== undefined)
      data(`${paint('yellow', 'warning')}: The budget is too small for ${policy}. ${warning}`);
}

/** Formats `host.123.ab` as `host (pid 123)`. */
const processName = (name: string): string => name.replace(/^(.+)\.(\d+)\.[^.]+$/, '$1 (pid $2)');
