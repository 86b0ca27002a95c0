/** Who uses the requests of each account: over time, what is left now, and what the next 24 hours need. */
import { type HistorySpan, historySpans } from '../../budget/history.ts';
import { type ForecastReport, forecastCells, forecastSentence } from '../../control/budget-report.ts';
import { accountIn } from '../components/account-menu.tsx';
import { BudgetChart, NO_POLICY } from '../components/budget-chart.tsx';
import { Empty } from '../components/empty.tsx';
import { pathWith } from '../components/filter-bar.tsx';
import { Icon } from '../components/icon.tsx';
import { showPage } from '../components/layout.tsx';
import { policyPath } from '../components/paths.ts';
import { number, Stat, Stats } from '../components/progress.tsx';
import { Cut, Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { type AccountBudget, readBudgets, readForecast, type Spender } from '../queries/budget.ts';

const PATH = '/budget';
/** How many accounts are shown with a chart; more can be chosen. */
const MAX_ACCOUNTS = 6;
const MAX_ROWS = 20;
const spans = Object.keys(historySpans) as HistorySpan[];
const words: Record<HistorySpan, string> = { hour: 'Last hour', day: 'Last 24 hours', week: 'Last 7 days' };

type By = 'class' | 'policy';

export async function showBudget(c: Exchange, context: DashboardContext): Promise<Response> {
  const span = spans.find((one) => one === c.req.query('span')) ?? 'hour';
  const by: By = c.req.query('by') === 'policy' ? 'policy' : 'class';
  const account = accountIn((name) => c.req.query(name));
  const budgets = await readBudgets(context, span, account);
  const shown = [...budgets].sort((a, b) => b.total - a.total).slice(0, MAX_ACCOUNTS);
  const policies = context.policies();
  const forecasts = await Promise.all(
    shown.map((one) => readForecast(context, one.account, policies, one.usage)),
  );
  const pathOf = (changes: { span?: string; by?: string }) =>
    pathWith(PATH, { span, by, account, ...changes });
  return showPage(
    c,
    context,
    { title: 'Budget', here: PATH, live: '*', byAccount: {} },
    <section class="budget">
      <div class="page-head">
        <h1>Budget</h1>
        <nav class="actions" aria-label="What is shown by">
          {(['class', 'policy'] as const).map((one) => (
            <a
              class={one === by ? 'chip set' : 'chip'}
              href={pathOf({ by: one })}
              {...(one === by ? { 'aria-current': 'true' } : {})}
            >
              By {one}
            </a>
          ))}
        </nav>
      </div>
      <nav class="tabs" aria-label="Time">
        {spans.map((one) => (
          <a href={pathOf({ span: one })} {...(one === span ? { 'aria-current': 'page' } : {})}>
            {words[one]}
          </a>
        ))}
      </nav>
      <div id="budgets" data-live>
        {shown.length === 0 && account !== undefined && (
          <Empty title={`There is no account ${account}.`} icon="gauge">
            <a href={pathWith(PATH, { span, by })}>Show all accounts</a>
          </Empty>
        )}
        {shown.length === 0 && account === undefined && (
          <Empty title="No account is in the settings." icon="gauge">
            An account under <code>accounts</code> in <code>caretaker.yaml</code> has a budget of requests.
          </Empty>
        )}
        {shown.map((one, index) => (
          <Account budget={one} next={forecasts[index]} span={span} by={by} />
        ))}
        {budgets.length > shown.length && (
          <p class="dim">{number(budgets.length - shown.length)} more accounts can be chosen above.</p>
        )}
      </div>
    </section>,
  );
}

interface AccountProps {
  budget: AccountBudget;
  next: ForecastReport | undefined;
  span: HistorySpan;
  by: By;
}

const Account = ({ budget, next, span, by }: AccountProps) => {
  const { account, total } = budget;
  const tooSmall = next?.policies.filter(({ warning }) => warning !== null) ?? [];
  return (
    <section class="account" data-key={account} aria-label={account}>
      <h2>{account}</h2>
      {tooSmall.map(({ policy, warning }) => (
        <p class="note is-warn">
          <Icon name="triangle-alert" /> The budget is too small for <a href={policyPath(policy)}>{policy}</a>
          . {warning}
        </p>
      ))}
      <Now budget={budget} span={span} />
      <div class="columns wide-first">
        <div class="card">
          <BudgetChart budget={budget} by={by} />
          {total === 0 && <p class="dim small">No request was counted in this time.</p>}
        </div>
        <Spenders budget={budget} by={by} />
      </div>
      {next && <Next next={next} />}
    </section>
  );
};

const Now = ({ budget: { usage, total, others, buckets }, span }: Pick<AccountProps, 'budget' | 'span'>) => {
  const { limit, reserved, window, othersPerMinute } = usage;
  return (
    <Stats>
      <Stat
        name="Left now"
        hint={
          window ? (
            <>
              of {number(limit)}, until <Time at={window.resetsAt} show="exact" />
            </>
          ) : (
            `of ${number(limit)}: no request was sent in this minute`
          )
        }
      >
        {window ? number(window.remaining) : number(limit)}
      </Stat>
      <Stat name="Reserved" hint="a minute, for other clients">
        {number(reserved)}
      </Stat>
      <Stat name={`Used by Caretaker, ${words[span].toLowerCase()}`}>{number(total)}</Stat>
      <Stat
        name={`Used by others, ${words[span].toLowerCase()}`}
        hint={
          others.known === 0
            ? 'no answer of the service has shown it'
            : others.known < buckets.length
              ? `at least; known for ${others.known} of ${buckets.length} ${span === 'hour' ? 'minutes' : 'hours'}`
              : 'at least'
        }
      >
        {others.known === 0 ? 'not known' : number(others.total)}
      </Stat>
      <Stat name="Others, at present" hint="a minute">
        {othersPerMinute === undefined ? 'not known' : number(othersPerMinute)}
      </Stat>
    </Stats>
  );
};

const Spenders = ({ budget, by }: { budget: AccountBudget; by: By }) => {
  const rows: readonly Spender[] = by === 'class' ? budget.classes : budget.policies;
  if (rows.length === 0) return null;
  return (
    <div>
      <Table
        name={`Requests by ${by}`}
        columns={(column) => [
          column(by === 'class' ? 'Class' : 'Policy', '', ({ name }) => (
            <Cut
              whole={name ?? NO_POLICY}
              to={name !== undefined && by === 'policy' ? policyPath(name) : undefined}
            >
              {name ?? <span class="dim">{NO_POLICY}</span>}
            </Cut>
          )),
          column('Requests', 'w-spent end', ({ total }) => number(total)),
          column(
            'Part',
            'w-part end',
            ({ total }) => `${Math.round((total / Math.max(1, budget.total)) * 100)}%`,
          ),
        ]}
        rows={[...rows].sort((a, b) => b.total - a.total).slice(0, MAX_ROWS)}
        keyOf={({ name }) => name ?? NO_POLICY}
      />
      {rows.length > MAX_ROWS && <p class="dim">{number(rows.length - MAX_ROWS)} more</p>}
    </div>
  );
};

/** The forecast; those that do not fit first. */
const Next = ({ next }: { next: ForecastReport }) => {
  const { policies } = next;
  if (policies.length === 0) return <p class="dim">No runs are scheduled in the next 24 hours.</p>;
  const sorted = [...policies].sort((a, b) => costOf(b) - costOf(a));
  return (
    <>
      <h3>Next 24 hours</h3>
      <p>
        {forecastSentence(next, number)} <a href="/schedule">Schedule</a>
      </p>
      <Table
        name="Forecast by policy"
        columns={(column) => [
          column('Policy', '', ({ policy }) => (
            <Cut whole={policy}>
              <a class="strong" href={policyPath(policy)}>
                {policy}
              </a>
            </Cut>
          )),
          column('Runs', 'w-short end', ({ runs }) => runs),
          column({ head: 'Requests a run', label: 'Requests' }, 'w-badge end', ({ requests }) => requests),
          column('Based on', 'w-badge', ({ from }) => from),
          column('Duration', 'w-word end', ({ duration }) => duration),
          column('Fits', 'w-badge', ({ fits, warning }) =>
            warning === null ? (
              fits
            ) : (
              <Cut whole={warning}>
                <span class="tone is-warn">{fits}</span>
              </Cut>
            ),
          ),
        ]}
        rows={sorted.slice(0, MAX_ROWS).map((one) => ({ ...one, ...forecastCells(one, number) }))}
        keyOf={({ policy }) => policy}
      />
      {sorted.length > MAX_ROWS && <p class="dim">{number(sorted.length - MAX_ROWS)} more</p>}
    </>
  );
};

type PolicyForecast = ForecastReport['policies'][number];

/** Those that do not fit come first. */
const costOf = ({ requests_a_run: requests, firings, warning }: PolicyForecast): number =>
  (warning === null ? 0 : 1e12) + (requests ?? 0) * firings;
