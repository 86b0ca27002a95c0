/** What runs when, and whether it collides: a week, and a day of it on a time axis. */
import { holds } from '../../access/principal.ts';
import { beginFreeze, endFreeze } from '../../control/commands/freeze.ts';
import { dayIn, daysAfter } from '../../dates.ts';
import { defined } from '../../defined.ts';
import { effectOf, formatFrozen } from '../../records/freeze-store.ts';
import { principalOf } from '../auth/caller.ts';
import { Action } from '../components/action.tsx';
import { BarChart, seriesTones } from '../components/chart.tsx';
import { useMay, useNow } from '../components/contexts.tsx';
import { Empty } from '../components/empty.tsx';
import { accountFilter, FilterBar, pathWith } from '../components/filter-bar.tsx';
import { Icon } from '../components/icon.tsx';
import { Lanes } from '../components/lanes.tsx';
import { showPage } from '../components/layout.tsx';
import { freezeEndPath } from '../components/paths.ts';
import { number } from '../components/progress.tsx';
import { DayLanes } from '../components/schedule-day.tsx';
import { DayList } from '../components/schedule-list.tsx';
import { collisionInWords, namesOf, RangeAnswer, RangeForm } from '../components/schedule-range.tsx';
import { clockIn, dayName, Sentence, Time, timeOnDay, zoneOf } from '../components/time.tsx';
import { WeekCalendar } from '../components/week.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { type AccountLoad, type Calendar, calendarOf, readWeek, type Week } from '../queries/schedule.ts';
import { entryColumns, entryReport, shownOn } from '../queries/schedule-entries.ts';
import { readRange, spanOf } from '../queries/schedule-range.ts';
import { CsvLink, sendCsv } from './export.tsx';

const PATH = '/schedule';
/** How many sentences about collisions. */
const MAX_COLLISIONS = 3;

interface Query {
  day: string | undefined;
  search: string;
  account: string | undefined;
  zone: string | undefined;
  from: string | undefined;
  to: string | undefined;
}

/** Every time of the week that matches, as CSV. */
export async function sendScheduleCsv(c: Exchange, context: DashboardContext): Promise<Response> {
  const { week, calendar } = await readSchedule(c, context, true);
  const entries = week.lanes.flatMap((lane) => lane.entries).sort((a, b) => a.at - b.at);
  const name = `schedule-${calendar.days[0]?.day}`;
  return sendCsv(c, context, { of: 'schedule', name, columns: entryColumns, rows: entries.map(entryReport) });
}

async function readSchedule(c: Exchange, context: DashboardContext, isFile = false) {
  const { reader, clock } = context;
  const now = clock.now();
  const query = queryOf(c);
  const zone = zoneOf(query.zone);
  const span = spanOf(query.from, query.to, zone);
  const day = query.day ?? (typeof span === 'object' ? dayIn(zone, span.from) : undefined);
  const calendar = calendarOf(day, zone, now);
  const policies = context.policies();
  const accounts = (await context.accounts()).filter(
    ({ account }) => query.account === undefined || account === query.account,
  );
  const matching = policies.filter(
    ({ name, job, account }) =>
      `${name}\n${job}`.toLowerCase().includes(query.search.toLowerCase()) &&
      (query.account === undefined || account === query.account),
  );
  const given = { policies: matching, accounts, now };
  const week = await readWeek(reader, { ...given, calendar, isFile });
  const range = typeof span !== 'object' ? span : isFile ? undefined : await readRange(reader, given, span);
  return { now, query, calendar, policies, week, range };
}

export async function showSchedule(c: Exchange, context: DashboardContext): Promise<Response> {
  const { now, query, calendar, policies, week, range } = await readSchedule(c, context);
  const pathOf = (day: string | undefined) =>
    pathWith(PATH, { day, q: query.search, account: query.account, zone: query.zone });
  const chosen = calendar.days.find(({ day }) => day === calendar.day) ?? { from: now, to: now };
  const shown = shownOn(week.lanes, chosen);
  const keep = { q: query.search, account: query.account, zone: query.zone };
  const filters = [
    { name: 'q', label: 'Text', value: query.search, placeholder: 'name, job' },
    accountFilter(query.account),
  ];
  return showPage(
    c,
    context,
    { title: 'Schedule', here: PATH, live: '*', byAccount: {} },
    <section class="schedule" data-zone={calendar.zone}>
      <div class="page-head">
        <h1>Schedule</h1>
        <nav class="actions" aria-label="Weeks">
          <a class="action" href={pathOf(daysAfter(calendar.day, -7))}>
            <Icon name="chevron-left" />
            Week before
          </a>
          <a class="action" href={pathOf(undefined)}>
            Today
          </a>
          <a class="action" href={pathOf(daysAfter(calendar.day, 7))}>
            Week after
            <Icon name="chevron-right" />
          </a>
          {holds(principalOf(c), beginFreeze.role) && <Action to="/freezes/add">Add a freeze</Action>}
          <CsvLink path={pathOf(query.day).replace(PATH, `${PATH}.csv`)} />
        </nav>
      </div>
      <FilterBar path={PATH} filters={filters} keep={{ day: query.day, zone: query.zone }}>
        Times are in {calendar.zone}
      </FilterBar>
      <div id="collisions" data-live>
        <Notes week={week} />
      </div>
      {policies.length > 0 && week.lanes.length === 0 && (
        <Empty title="Nothing is on the schedule of this week." icon="calendar-days">
          {query.search || query.account ? (
            <a href={pathWith(PATH, { day: query.day, zone: query.zone })}>Show all policies</a>
          ) : (
            <>
              A policy with <code>schedule.cron</code> is shown here. <a href="/policies">Policies</a> can be
              run at any time.
            </>
          )}
        </Empty>
      )}
      {policies.length === 0 && (
        <Empty title="No policy is active." icon="calendar-days">
          Write one with a <code>schedule</code> into the policies folder, and its times are shown here.
        </Empty>
      )}
      <section id="week" data-live aria-label="Week">
        <ClosedTimes closed={week.closed} calendar={calendar} />
        <WeekCalendar
          calendar={calendar}
          days={calendar.days.map((day) => shownOn(week.lanes, day))}
          pathOf={pathOf}
        />
      </section>
      <RangeForm
        path={PATH}
        zone={calendar.zone}
        span={typeof range === 'object' ? range : chosen}
        keep={keep}
      />
      <section id="range" data-live aria-label="What runs in a time">
        {typeof range === 'string' && <Empty icon="triangle-alert" title={range} />}
        {typeof range === 'object' && <RangeAnswer range={range} zone={calendar.zone} />}
      </section>
      <section id="day" data-live>
        <h2>{dayName(calendar.day)}</h2>
        <DayLanes shown={shown} freezes={week.freezes} span={chosen} zone={calendar.zone} />
        <LoadCharts week={week} zone={calendar.zone} />
        <DayList shown={shown} zone={calendar.zone} />
      </section>
    </section>,
  );
}

function queryOf(c: Exchange): Query {
  const text = (name: string) => c.req.query(name)?.trim().slice(0, 200) || undefined;
  return {
    ...{ day: text('day'), search: text('q') ?? '', account: text('account'), zone: text('zone') },
    ...{ from: text('from'), to: text('to') },
  };
}

/** So many causes have a lane. */
const MAX_CLOSED = 8;

/** Freezes, pauses and blackouts of the week as bands, and below them who and why. */
const ClosedTimes = ({
  closed,
  calendar: { days, zone },
}: {
  closed: Week['closed'];
  calendar: Calendar;
}) => {
  const may = useMay();
  const [from, to] = [days[0]?.from ?? 0, days.at(-1)?.to ?? 0];
  if (closed.length === 0) return null;
  return (
    <div class="card closed">
      <Lanes
        from={from}
        to={to}
        axis={[...days.map(({ day }) => dayName(day).slice(0, 3)), '']}
        lanes={closed.slice(0, MAX_CLOSED).map(({ key, what, text, spans }) => ({
          ...{ key, name: what, whole: text },
          blocks: spans.map((span) => ({
            ...{ from: Math.max(from, span.from), ms: Math.min(to, span.to) - Math.max(from, span.from) },
            ...({ tone: 'busy', shape: 'band', text } as const),
          })),
        }))}
      />
      <details>
        <summary>Freezes, pauses and blackouts: who and why ({closed.length})</summary>
        <ul>
          {closed.map(({ text, spans: [first], freeze }) => (
            <li>
              {first && `${timeOnDay(zone, first.from)} to ${timeOnDay(zone, first.to)}: `}
              <Sentence text={text} />{' '}
              {freeze && may(endFreeze.role, defined({ account: freeze.account })) && (
                <Action to={freezeEndPath(freeze.id)} of={freeze.id}>
                  End
                </Action>
              )}
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
};

/** What has to be known before looking at times: collisions, freezes, and what is not known. */
const Notes = ({ week }: { week: Week }) => {
  const { collisions, freezes, unknown, cut, calendar } = week;
  const now = useNow();
  const isOver = (calendar.days.at(-1)?.to ?? 0) <= now;
  return (
    <>
      {freezes
        .filter(({ at, until }) => at <= now && now < until)
        .map((freeze) => (
          <p class="note is-busy">
            <Icon name="snowflake" /> Frozen by {freeze.by} until <Time at={freeze.until} show="exact" />:{' '}
            {formatFrozen(freeze)}, {effectOf(freeze)}
            {freeze.reason && ` (${freeze.reason})`}.
          </p>
        ))}
      {collisions.slice(0, MAX_COLLISIONS).map((one) => (
        <p class="note is-warn">
          <Icon name="triangle-alert" /> {collisionInWords(one, calendar.zone)}
        </p>
      ))}
      {collisions.length > MAX_COLLISIONS && (
        <details>
          <summary>{collisions.length - MAX_COLLISIONS} more collisions</summary>
          <ul>
            {collisions.slice(MAX_COLLISIONS).map((one) => (
              <li>{collisionInWords(one, calendar.zone)}</li>
            ))}
          </ul>
        </details>
      )}
      <p class="dim small">
        {isOver
          ? 'This week is over: it shows the result of each scheduled time.'
          : collisions.length === 0 &&
            (cut.length === 0
              ? 'No collisions are predicted in this week. '
              : 'No collisions are predicted among the times that are shown. ')}
        {!isOver &&
          unknown.length > 0 &&
          `How long runs of ${namesOf(unknown)} take is not known, because none has ended: their load counts as 0.`}
        {cut.length > 0 && ` Not all times of ${namesOf(cut)} are shown.`}
      </p>
    </>
  );
};

/** How many policies have a colour of their own. */
const MAX_SERIES = 5;
/** How many accounts have a chart: those with the most requests. */
const MAX_ACCOUNTS = 6;

const LoadCharts = ({ week: { load, hours, unknownOnDay }, zone }: { week: Week; zone: string }) => {
  const drawn = load.filter(({ policies }) => policies.length > 0);
  if (hours.length === 0) return null;
  if (drawn.length === 0)
    return (
      <p class="dim">
        {unknownOnDay.length > 0
          ? 'The load is not known: no run of these policies has ended.'
          : 'No requests are predicted for the rest of the day.'}
      </p>
    );
  return (
    <div class="cards">
      {[...drawn]
        .sort((a, b) => totalOf(b) - totalOf(a))
        .slice(0, MAX_ACCOUNTS)
        .map((one) => (
          <div class="card">
            <h3>Load of {one.account}</h3>
            <Load load={one} hours={hours} zone={zone} />
          </div>
        ))}
    </div>
  );
};

const totalOf = ({ policies }: AccountLoad): number =>
  policies.reduce((all, { requests }) => all + requests.reduce((sum, count) => sum + count, 0), 0);

const Load = ({
  load: { account, perHour, policies },
  hours,
  zone,
}: {
  load: AccountLoad;
  hours: Week['hours'];
  zone: string;
}) => {
  const named = policies.slice(0, policies.length > MAX_SERIES + 1 ? MAX_SERIES : MAX_SERIES + 1);
  const others = policies.slice(named.length);
  const series = [
    ...named.map(({ policy }, index) => ({ tone: seriesTones[index] ?? 'none', word: policy })),
    ...(others.length > 0 ? [{ tone: 'none', word: `${others.length} other policies` }] : []),
  ];
  const columns = hours.map(({ from }, index) => ({
    label: clockIn(zone, from),
    counts: [
      ...named.map(({ requests }) => requests[index] ?? 0),
      ...(others.length > 0 ? [others.reduce((all, { requests }) => all + (requests[index] ?? 0), 0)] : []),
    ],
  }));
  const full = hours.filter(
    (_, index) => (columns[index]?.counts ?? []).reduce((a, b) => a + b, 0) > perHour,
  );
  const ends = [hours[0], hours[Math.floor(hours.length / 2)], hours.at(-1)];
  return (
    <>
      <BarChart
        name={`Predicted requests of ${account} by the hour`}
        series={series}
        columns={columns}
        axis={ends.map((hour) => hour && clockIn(zone, hour.from))}
        unit="requests"
        limit={{ value: perHour, word: 'can be spent' }}
      />
      <p class="dim small">
        {full.length === 0
          ? `At most ${number(perHour)} requests an hour can be spent; no hour needs more.`
          : `More than the ${number(perHour)} requests an hour that can be spent: ${full.map(({ from }) => clockIn(zone, from)).join(', ')}.`}
      </p>
    </>
  );
};
