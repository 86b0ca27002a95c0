import { isoMinute } from '../../clock.ts';
import { DAY_MS } from '../../dates.ts';
import { shownOutcomes, shownStatus } from '../../run/moves.ts';
import { formatLate } from '../../run/report.ts';
import type { Run } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { accountIn } from '../components/account-menu.tsx';
import { Badge } from '../components/badge.tsx';
import { BudgetChart } from '../components/budget-chart.tsx';
import { BarChart } from '../components/chart.tsx';
import { useRunEnd } from '../components/contexts.tsx';
import { Empty } from '../components/empty.tsx';
import { pathWith } from '../components/filter-bar.tsx';
import { Lanes } from '../components/lanes.tsx';
import { showPage } from '../components/layout.tsx';
import { policyPath, runPath } from '../components/paths.ts';
import { Bar, number, progressOf, Stat, Stats } from '../components/progress.tsx';
import { RunTook, WhyLine } from '../components/run-table.tsx';
import { Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { type Ahead, readAhead } from '../queries/ahead.ts';
import { readAttention } from '../queries/attention.ts';
import { type Busiest, readBusiest } from '../queries/budget.ts';
import { type Day, type Group, readLastDay } from '../queries/last-day.ts';
import { inAccount } from '../queries/scope.ts';
import { Attention } from './attention.tsx';

const MAX_ACTIVE = 6;
const MAX_GROUPS = 50;

/** The first page: what needs a person, what is running, what the last day brought and what the next one brings. */
export async function showOverview(c: Exchange, context: DashboardContext): Promise<Response> {
  const account = accountIn((name) => c.req.query(name));
  const shown = inAccount(account, context);
  const { reader } = shown;
  const now = context.clock.now();
  const policies = shown.policies();
  const [day, states, { brokenFiles, moved }] = await Promise.all([
    readLastDay(reader, shown.reasons, now),
    reader.policyStates(policies),
    shown.health(),
  ]);
  const [items, ahead, busiest] = await Promise.all([
    readAttention(reader, { day, policies, states, brokenFiles, moved, now }),
    readAhead(reader, policies, states, { now, ms: DAY_MS }),
    readBusiest(shown),
  ]);
  return showPage(
    c,
    context,
    { title: 'Overview', here: '/', live: '*', byAccount: {} },
    <>
      <section id="headline" data-live>
        <div class="page-head">
          <h1>Overview</h1>
        </div>
        <Headline day={day} attention={items.length} />
      </section>
      <div class="columns wide-first">
        <Attention items={items} />
        <RunningNow
          runs={day.active.filter(({ status }) => status !== 'awaiting-approval')}
          account={account}
        />
      </div>
      <div class="columns">
        <LastDay day={day} />
        <NextDay ahead={ahead} hasPolicies={policies.length > 0} />
      </div>
      <LastHour {...busiest} />
    </>,
  );
}

/** Three numbers of the last 24 hours, each with its parts. */
const Headline = ({ day: { statuses, counts }, attention }: { day: Day; attention: number }) => {
  const sum = (all: readonly number[]) => all.reduce((total, count) => total + count, 0);
  const outcomes = shownOutcomes.filter((one) => counts[one] > 0);
  return (
    <Stats>
      <Stat
        name="Runs of the last 24 hours"
        hint={
          statuses.map(({ status, count }) => `${number(count)} ${status.replaceAll('-', ' ')}`).join(', ') ||
          'none'
        }
      >
        {number(sum(statuses.map(({ count }) => count)))}
      </Stat>
      <Stat
        name="Targets that failed"
        hint={`of ${number(sum(Object.values(counts)))}: ${outcomes.map((one) => `${number(counts[one])} ${one}`).join(', ') || 'none has ended'}`}
        {...(counts.failed > 0 ? { tone: 'bad' } : {})}
      >
        {number(counts.failed)}
      </Stat>
      <Stat name="Need attention" hint="one line each" {...(attention > 0 ? { tone: 'warn' } : {})}>
        {number(attention)}
      </Stat>
    </Stats>
  );
};

interface RunningNowProps {
  runs: readonly Run[];
  account: string | undefined;
}

const RunningNow = ({ runs, account }: RunningNowProps) => (
  <section id="active" data-live>
    <h2>Running now</h2>
    {runs.length === 0 ? (
      <p class="calm">Nothing is running.</p>
    ) : (
      <div class="stack">
        {runs.slice(0, MAX_ACTIVE).map((run) => (
          <RunningRun run={run} />
        ))}
      </div>
    )}
    {runs.length > MAX_ACTIVE && (
      <p>
        <a href={pathWith('/runs', { status: 'active', account })}>{number(runs.length - MAX_ACTIVE)} more</a>
      </p>
    )}
  </section>
);

const RunningRun = ({ run }: { run: Run }) => {
  const end = useRunEnd(run);
  return (
    <a class="card tight" href={runPath(run.id)} data-key={run.id}>
      <h3>
        {run.policy} <Badge word={shownStatus(run)} />
      </h3>
      <WhyLine run={run} />
      <Bar counts={run.counts} />
      <p class="between">
        <span>{progressOf(run)}</span>
        <span class="dim">
          {end === undefined ? (
            <RunTook run={run} />
          ) : end === 'stopped' ? (
            'work has stopped'
          ) : (
            <>
              ends <Time at={end} show="relative" />
            </>
          )}
        </span>
      </p>
      {run.late && <p class="is-failed tone">It {formatLate(run)}.</p>}
    </a>
  );
};

const outcomes = shownOutcomes.map((word) => ({ tone: word, word }));

/** A bar for each hour, then what was skipped. */
const LastDay = ({ day }: { day: Day }) => {
  const first = day.hours[0]?.at ?? 0;
  const middle = day.hours[Math.floor(day.hours.length / 2)]?.at ?? 0;
  const last = day.hours.at(-1)?.at ?? 0;
  return (
    <section id="day" data-live>
      <h2>Last 24 hours</h2>
      <div class="card">
        <BarChart
          name="Targets of the last 24 hours, by the hour in which their run ended"
          series={outcomes}
          columns={day.hours.map(({ at, counts }) => ({
            label: isoMinute(at),
            counts: outcomes.map(({ word }) => counts[word]),
          }))}
          axis={[first, middle, last].map((at) => <Hour at={at} />)}
          unit="targets"
        />
        <p class="dim small">
          Targets by the hour in which their run ended; those of active runs count in this hour.
        </p>
        <Skipped groups={day.skipped} />
      </div>
    </section>
  );
};

/** The requests of the last hour of the account that used most. */
const LastHour = ({ first, others }: Busiest) =>
  first && (
    <section id="budget" data-live>
      <h2>Budget of the last hour</h2>
      <div class="card">
        <BudgetChart budget={first} by="class" />
        <p class="dim small">
          {number(first.total)} requests of{' '}
          <a href={pathWith('/budget', { account: first.account })}>{first.account}</a>, by the minute
          {first.others.known === 0
            ? '; what other clients used is not known.'
            : ` and class; other clients used at least ${number(first.others.total)}.`}
          {others > 0 && (
            <>
              {' '}
              See also <a href="/budget">{countOf(others, 'other account')}</a>.
            </>
          )}
        </p>
      </div>
    </section>
  );

/** An hour of the day; `client/local-times.ts` writes it in the reader's time zone. */
const Hour = ({ at }: { at: number }) => (
  <time class="clock" datetime={new Date(at).toISOString()}>
    {new Date(at).toISOString().slice(11, 16)} UTC
  </time>
);

const Skipped = ({ groups }: { groups: readonly Group[] }) =>
  groups.length === 0 ? null : (
    <details>
      <summary>Skipped and cancelled, by reason</summary>
      <ul>
        {groups.slice(0, MAX_GROUPS).map(({ outcome, reason, count, policies: [first, ...others] }) => (
          <li>
            {number(count)} {outcome}, <code>{reason}</code>:{' '}
            {first && (
              <a href={runPath(first.latest, `?outcome=${outcome}&search=${reason}`)}>{first.policy}</a>
            )}
            {others.length > 0 && ` and ${number(others.length)} more`}
          </li>
        ))}
      </ul>
    </details>
  );

const NextDay = ({ ahead, hasPolicies }: { ahead: Ahead; hasPolicies: boolean }) => (
  <section id="ahead" data-live>
    <h2>Next 24 hours</h2>
    {ahead.policies.length === 0 ? (
      <Empty title={hasPolicies ? 'Nothing is scheduled.' : 'No policy is active.'} icon="calendar-days">
        {hasPolicies ? (
          <>
            The runs that start by a schedule would be here. <a href="/policies">Policies</a> can be run at
            any time.
          </>
        ) : (
          <>
            Write one into the policies folder: it is loaded automatically, and{' '}
            <code>caretaker validate</code> checks it.
          </>
        )}
      </Empty>
    ) : (
      <div class="card">
        <Lanes
          from={ahead.from}
          to={ahead.to}
          lanes={ahead.policies.map(({ policy: { name }, blocks }) => ({
            key: name,
            name: <a href={policyPath(name)}>{name}</a>,
            whole: name,
            blocks: blocks.map(({ from, ms, isMany }) => ({
              from,
              ms,
              text: `${name} ${isMany ? `many times from ${isoMinute(from)} to ${isoMinute(from + ms)}` : `at ${isoMinute(from)}`}`,
            })),
          }))}
          axis={[0, 1, 2, 3, 4].map((quarter) => <Hour at={ahead.from + (quarter * DAY_MS) / 4} />)}
        />
        {ahead.more > 0 && (
          <p>
            <a href="/policies?sort=next">{number(ahead.more)} more policies run by then</a>
          </p>
        )}
      </div>
    )}
  </section>
);
