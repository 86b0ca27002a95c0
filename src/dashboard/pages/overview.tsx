import { formatAfter } from '../../policy/chains.ts';
import type { Policy } from '../../policy/policy.ts';
import { type Pause, type PolicyState, pauseAt } from '../../records/policy-store.ts';
import { formatLate } from '../../run/report.ts';
import type { Run } from '../../run/run.ts';
import { nextFiringAt } from '../../schedule/policy-report.ts';
import {
  Action,
  Badge,
  Bar,
  lengthOf,
  number,
  policyPath,
  progressOf,
  RunTable,
  runPath,
  Table,
  Time,
  timeIn,
  WhyLine,
} from '../components/components.tsx';
import { showPage } from '../components/layout.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { readLastDay } from '../queries/last-day.ts';
import { LastDay } from './last-day.tsx';

const LATEST = 10;
const POLICIES_A_PAGE = 50;
const MAX_ACTIVE = 50;
const MAX_PAUSED = 10;

/** What the row of a policy shows. */
interface PolicyRow {
  policy: Policy;
  pause: Pause | undefined;
  nextAt: number | undefined;
  lastRun: Run | undefined;
}

/** The first page: what failed in the last day and why, what was skipped, what is active, and what runs next. */
export async function showOverview(c: Exchange, context: DashboardContext): Promise<Response> {
  const { reader, clock } = context;
  const now = clock.now();
  const page = Math.max(1, Math.trunc(Number(c.req.query('page') ?? 1)) || 1);
  const policies = context.policies();
  const [day, latest, states] = await Promise.all([
    readLastDay(reader, now),
    reader.runs({ limit: LATEST }),
    reader.policyStates(policies),
  ]);
  const onPage = policies.slice((page - 1) * POLICIES_A_PAGE, page * POLICIES_A_PAGE);
  const rows = await rowsOf(context, onPage, states);
  const paused = policies.flatMap(({ name }) => {
    const pause = pauseAt(states.get(name), now);
    return pause ? { name, pause } : [];
  });
  return showPage(
    c,
    context,
    { title: 'Overview', here: '/', live: '*' },
    <>
      <h1 class="unseen">Overview</h1>
      <LastDay day={day} now={now} />
      <Paused paused={paused} now={now} />
      <ActiveRuns runs={day.active} now={now} />
      <Policies rows={rows} page={page} total={policies.length} now={now} />
      <Latest runs={latest} now={now} />
    </>,
  );
}

async function rowsOf(
  { reader, clock }: DashboardContext,
  policies: readonly Policy[],
  states: ReadonlyMap<string, PolicyState>,
): Promise<PolicyRow[]> {
  const now = clock.now();
  const lastRuns = await Promise.all(policies.map(({ name }) => reader.runs({ policy: name, limit: 1 })));
  return policies.map((policy, index) => {
    const state = states.get(policy.name);
    const nextAt = nextFiringAt(policy, state, now);
    return { policy, pause: pauseAt(state, now), nextAt, lastRun: lastRuns[index]?.[0] };
  });
}

/** The paused policies, whatever page of the list they are on. */
const Paused = ({ paused, now }: { paused: readonly { name: string; pause: Pause }[]; now: number }) => (
  <section id="paused" data-live>
    {paused.length > 0 && (
      <>
        <h2>Paused</h2>
        <ul>
          {paused.slice(0, MAX_PAUSED).map(({ name, pause }) => (
            <li data-key={name}>
              <a href={policyPath(name)}>{name}</a> is <PausedBy pause={pause} now={now} />{' '}
              <Action to={policyPath(name, '/resume')} of={name}>
                Resume
              </Action>
            </li>
          ))}
        </ul>
        {paused.length > MAX_PAUSED && (
          <p class="dim">And {number(paused.length - MAX_PAUSED)} more: see the list of policies.</p>
        )}
      </>
    )}
  </section>
);

const PausedBy = ({ pause, now }: { pause: Pause; now: number }) => (
  <>
    paused by {pause.by}
    {pause.reason && `: ${pause.reason}`}, since <Time at={pause.at} now={now} />
    {pause.until !== undefined && (
      <>
        , until <Time at={pause.until} now={now} />
      </>
    )}
  </>
);

const ActiveRuns = ({ runs, now }: { runs: Run[]; now: number }) => (
  <section id="active" data-live>
    <h2>Active runs</h2>
    {runs.length === 0 && <p class="dim">None.</p>}
    <div class="cards">
      {runs.slice(0, MAX_ACTIVE).map((run) => (
        <a class="card" href={runPath(run.id)} data-key={run.id}>
          <h3>
            {run.policy} <Badge word={run.status} />
          </h3>
          <WhyLine run={run} />
          <Bar counts={run.counts} />
          <p>{progressOf(run)}</p>
          {run.late && <p class="failed">It {formatLate(run)}.</p>}
          <p class="dim">
            {lengthOf(run, now)}, {number(run.requests)} requests
          </p>
        </a>
      ))}
    </div>
    {runs.length > MAX_ACTIVE && <p class="dim">And {number(runs.length - MAX_ACTIVE)} more.</p>}
  </section>
);

const Policies = ({
  rows,
  page,
  total,
  now,
}: {
  rows: PolicyRow[];
  page: number;
  total: number;
  now: number;
}) => (
  <section id="policies" data-live>
    <h2>Policies</h2>
    {rows.length === 0 ? (
      <p class="dim">
        {total === 0 ? (
          <>
            No policy is active. Write one into the policies folder: it is loaded automatically, and{' '}
            <code>caretaker validate</code> checks it.
          </>
        ) : (
          'None on this page.'
        )}
      </p>
    ) : (
      <Table
        name="Policies"
        heads={['Policy', 'Schedule', 'Next run', 'Last run', 'Actions']}
        widths={['', 'w-name', 'w-run', 'w-run', 'w-do']}
      >
        {rows.map((row) => (
          <PolicyLine row={row} now={now} />
        ))}
      </Table>
    )}
    {total > POLICIES_A_PAGE && (
      <nav class="pager" aria-label="Pages of policies">
        {page > 1 && <a href={`/?page=${page - 1}`}>Previous</a>}
        <span>
          Page {page} of {Math.ceil(total / POLICIES_A_PAGE)}
        </span>
        {page * POLICIES_A_PAGE < total && <a href={`/?page=${page + 1}`}>Next</a>}
      </nav>
    )}
  </section>
);

const PolicyLine = ({ row: { policy, pause, nextAt, lastRun }, now }: { row: PolicyRow; now: number }) => (
  <tr data-key={policy.name}>
    <td data-label="Policy">
      <a href={policyPath(policy.name)}>
        <b>{policy.name}</b>
      </a>{' '}
      <PolicyBadges policy={policy} pause={pause} />
      <p class="dim">{policy.description ?? policy.job}</p>
    </td>
    <td data-label="Schedule">
      <ScheduleLines policy={policy} />
    </td>
    <td data-label="Next run">
      <NextFiring policy={policy} pause={pause} nextAt={nextAt} now={now} />
    </td>
    <td data-label="Last run">
      {lastRun ? (
        <a href={runPath(lastRun.id)} class="plain">
          <Badge word={lastRun.status} /> <Time at={lastRun.startedAt ?? lastRun.createdAt} now={now} />
        </a>
      ) : (
        <span class="dim">none yet</span>
      )}
    </td>
    <td data-label="Actions">
      <PolicyActions name={policy.name} paused={pause !== undefined} />
    </td>
  </tr>
);

/** Why a policy does not run on schedule: it is paused, or its file disables the schedule. */
export const PolicyBadges = ({ policy, pause }: { policy: Policy; pause: Pause | undefined }) => (
  <>
    {pause && <Badge word="paused" />}
    {policy.schedule?.disabled && <Badge word="disabled" />}
  </>
);

export const ScheduleLines = ({ policy: { schedule } }: { policy: Policy }) =>
  schedule?.after ? (
    <span>{formatAfter(schedule.after)}</span>
  ) : schedule ? (
    <>
      {schedule.cron.map((cron) => (
        <p>
          <code>{cron}</code>
        </p>
      ))}
      <p class="dim">{schedule.timezone}</p>
    </>
  ) : (
    <span class="dim">manual</span>
  );

/** The next scheduled time, in the reader's time zone and in the policy's own; or why there is none. */
export const NextFiring = ({
  policy: { schedule },
  pause,
  nextAt,
  now,
}: {
  policy: Policy;
  pause: Pause | undefined;
  nextAt: number | undefined;
  now: number;
}) => {
  const paused = pause && (
    <p>
      <PausedBy pause={pause} now={now} />
    </p>
  );
  if (schedule?.disabled) {
    return (
      <>
        {paused}
        <p>
          never: its file disables the schedule (<code>schedule.enabled: false</code>)
        </p>
      </>
    );
  }
  if (paused && nextAt === undefined) return paused;
  if (!schedule) return <span class="dim">manual only</span>;
  if (schedule.after) return <span class="dim">when a run of {schedule.after.policy} has ended</span>;
  if (nextAt === undefined) return <span>never: its schedule has no more scheduled times</span>;
  return (
    <>
      {paused}
      <Time at={nextAt} now={now} />
      <p class="dim">{timeIn(nextAt, schedule.timezone)}</p>
    </>
  );
};

export const PolicyActions = ({ name, paused }: { name: string; paused: boolean }) => (
  <span class="actions">
    <Action to={policyPath(name, '/run')} of={name}>
      Run now
    </Action>
    {paused ? (
      <Action to={policyPath(name, '/resume')} of={name}>
        Resume
      </Action>
    ) : (
      <Action to={policyPath(name, '/pause')} of={name}>
        Pause
      </Action>
    )}
  </span>
);

const Latest = ({ runs, now }: { runs: Run[]; now: number }) => (
  <section id="latest" data-live>
    <h2>Latest runs</h2>
    {runs.length === 0 ? (
      <p class="dim">None yet. “Run now” beside a policy starts one.</p>
    ) : (
      <>
        <RunTable name="Latest runs" runs={runs} now={now} />
        <p>
          <a href="/runs">All runs</a>
        </p>
      </>
    )}
  </section>
);
