import type { Policy } from '../../policy/policy.ts';
import { type Pause, pauseAt } from '../../records/policy-store.ts';
import type { Run } from '../../run/run.ts';
import { nextFiringAt } from '../../schedule/policy-report.ts';
import type { Exchange, Parts } from '../http/parts.ts';
import { type Day, type Group, readDay } from '../reading/day.ts';
import { showPage } from './layout.tsx';
import {
  Action,
  Badge,
  Bar,
  lengthOf,
  Moment,
  momentIn,
  number,
  policyPath,
  progressOf,
  RunTable,
  runPath,
  Table,
  Why,
  whyOf,
} from './words.tsx';

const LATEST = 10;
const POLICIES_A_PAGE = 50;
const MOST_ACTIVE = 50;
const MOST_TROUBLED = 10;
const RUNS_A_GROUP = 3;

/** A policy as its row shows it. */
interface PolicyRow {
  policy: Policy;
  pause: Pause | undefined;
  nextAt: number | undefined;
  lastRun: Run | undefined;
}

/** The first page answers the morning question: what failed, why, what was left undone; then what comes. */
export async function showOverview(c: Exchange, parts: Parts): Promise<Response> {
  const { reader, clock } = parts;
  const now = clock.now();
  const page = Math.max(1, Math.trunc(Number(c.req.query('page') ?? 1)) || 1);
  const policies = parts.policies();
  const [day, active, latest, rows] = await Promise.all([
    readDay(reader, now),
    reader.activeRuns(),
    reader.runs({ limit: LATEST }),
    rowsOf(parts, policies.slice((page - 1) * POLICIES_A_PAGE, page * POLICIES_A_PAGE)),
  ]);
  return showPage(
    c,
    parts,
    { title: 'Overview', here: '/', live: '*' },
    <>
      <h1 class="unseen">Overview</h1>
      <LastDay day={day} now={now} />
      <UnderWay runs={active} now={now} />
      <Policies rows={rows} page={page} total={policies.length} now={now} />
      <Latest runs={latest} now={now} />
    </>,
  );
}

async function rowsOf({ reader, clock }: Parts, policies: readonly Policy[]): Promise<PolicyRow[]> {
  const now = clock.now();
  const [states, lastRuns] = await Promise.all([
    reader.policyStates(policies.map(({ name }) => name)),
    Promise.all(policies.map(({ name }) => reader.runs({ policy: name, limit: 1 }))),
  ]);
  return policies.map((policy, index) => {
    const state = states.get(policy.name);
    const nextAt = nextFiringAt(policy, state, now);
    return { policy, pause: pauseAt(state, now), nextAt, lastRun: lastRuns[index]?.[0] };
  });
}

const LastDay = ({ day, now }: { day: Day; now: number }) => (
  <section id="day" data-live>
    <h2>The last 24 hours</h2>
    {day.runs.length === 0 ? (
      <p class="dim">Nothing ran. A policy fires by its schedule, or now by “Run now” beside it.</p>
    ) : (
      <p class="lead">{headline(day)}</p>
    )}
    {day.troubled.length > 0 && (
      <>
        <h3>Runs that did not go through</h3>
        <RunTable name="Runs that did not go through" runs={day.troubled.slice(0, MOST_TROUBLED)} now={now} />
        {day.troubled.length > MOST_TROUBLED && (
          <p class="dim">
            And {number(day.troubled.length - MOST_TROUBLED)} more: <a href="/runs">all runs</a>.
          </p>
        )}
      </>
    )}
    <Groups name="Failed" groups={day.failed} />
    <Groups name="Left undone" groups={day.leftUndone} />
  </section>
);

/** `7 runs: 5 succeeded, 2 partial. 3 targets failed, 4 were left undone, 12 are under way.` */
function headline({ runs, cut, failed, leftUndone }: Day): string {
  const statuses = [...new Set(runs.map(({ status }) => status))];
  const parts = statuses.map(
    (word) => `${number(runs.filter(({ status }) => status === word).length)} ${word}`,
  );
  const sum = (groups: readonly Group[]) => groups.reduce((total, { count }) => total + count, 0);
  const succeeded = runs.reduce((total, { counts }) => total + counts.succeeded, 0);
  const many = `${cut ? 'The newest ' : ''}${number(runs.length)} ${runs.length === 1 ? 'run' : 'runs'}`;
  const targets = (count: number) => `${number(count)} ${count === 1 ? 'target' : 'targets'}`;
  return `${many}: ${parts.join(', ')}. ${targets(succeeded)} succeeded, ${number(sum(failed))} failed, ${number(sum(leftUndone))} left undone.`;
}

const Groups = ({ name, groups }: { name: string; groups: readonly Group[] }) =>
  groups.length === 0 ? null : (
    <>
      <h3>{name}, by reason</h3>
      <Table name={`${name}, by reason`} heads={['Targets', 'Why', 'In']} widths={['w-count', '', 'w-in']}>
        {groups.map(({ outcome, reason, count, runs }) => (
          <tr data-key={`${outcome} ${reason}`}>
            <td data-label="Targets">
              {number(count)} <Badge word={outcome} />
            </td>
            <td data-label="Why">
              <Why reason={reason} />
            </td>
            <td data-label="In">
              {runs.slice(0, RUNS_A_GROUP).map(({ run, count: here }) => (
                <p>
                  <a href={runPath(run.id, `?outcome=${outcome}&search=${reason}`)}>
                    {run.policy}: {number(here)}
                  </a>
                </p>
              ))}
              {runs.length > RUNS_A_GROUP && (
                <p class="dim">and {number(runs.length - RUNS_A_GROUP)} more runs</p>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );

const UnderWay = ({ runs, now }: { runs: Run[]; now: number }) => (
  <section id="under-way" data-live>
    <h2>Under way</h2>
    {runs.length === 0 && <p class="dim">Nothing is running.</p>}
    <div class="cards">
      {runs.slice(0, MOST_ACTIVE).map((run) => (
        <a class="card" href={runPath(run.id)} data-key={run.id}>
          <h3>
            {run.policy} <Badge word={run.status} />
          </h3>
          {whyOf(run) && <p>{whyOf(run)}</p>}
          <Bar counts={run.counts} />
          <p>{progressOf(run)}</p>
          <p class="dim">
            {lengthOf(run, now)}, {number(run.requests)} requests
          </p>
        </a>
      ))}
    </div>
    {runs.length > MOST_ACTIVE && <p class="dim">And {number(runs.length - MOST_ACTIVE)} more.</p>}
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
            No policy is in force. Write one into the policies folder: it is taken over by itself, and{' '}
            <code>caretaker validate</code> checks it.
          </>
        ) : (
          'None on this page.'
        )}
      </p>
    ) : (
      <Table
        name="Policies"
        heads={['Policy', 'Schedule', 'Next firing', 'Last run', 'Do']}
        widths={['', 'w-name', 'w-run', 'w-run', 'w-do']}
      >
        {rows.map((row) => (
          <PolicyLine row={row} now={now} />
        ))}
      </Table>
    )}
    {total > POLICIES_A_PAGE && (
      <nav class="pager" aria-label="Pages of policies">
        {page > 1 && <a href={`/?page=${page - 1}`}>Before</a>}
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
    <td data-label="Next firing">
      <NextFiring policy={policy} pause={pause} nextAt={nextAt} now={now} />
    </td>
    <td data-label="Last run">
      {lastRun ? (
        <a href={runPath(lastRun.id)} class="plain">
          <Badge word={lastRun.status} /> <Moment at={lastRun.startedAt ?? lastRun.createdAt} now={now} />
        </a>
      ) : (
        <span class="dim">none yet</span>
      )}
    </td>
    <td data-label="Do">
      <PolicyActions name={policy.name} paused={pause !== undefined} />
    </td>
  </tr>
);

/** What keeps a policy from firing until somebody changes it. */
export const PolicyBadges = ({ policy, pause }: { policy: Policy; pause: Pause | undefined }) => (
  <>
    {pause && <Badge word="paused" />}
    {policy.schedule?.disabled && <Badge word="disabled" />}
  </>
);

export const ScheduleLines = ({ policy: { schedule } }: { policy: Policy }) =>
  schedule ? (
    <>
      {schedule.cron.map((cron) => (
        <p>
          <code>{cron}</code>
        </p>
      ))}
      <p class="dim">{schedule.timezone}</p>
    </>
  ) : (
    <span class="dim">by hand</span>
  );

/** When it fires next, in the zone of whoever looks and in the policy's own; or why it does not. */
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
      paused by {pause.by}
      {pause.reason && `: ${pause.reason}`}, since <Moment at={pause.at} now={now} />
      {pause.until !== undefined && (
        <>
          , until <Moment at={pause.until} now={now} />
        </>
      )}
    </p>
  );
  if (schedule?.disabled) {
    return (
      <>
        {paused}
        <p>
          never: its file disables it (<code>schedule.enabled: false</code>)
        </p>
      </>
    );
  }
  if (paused && nextAt === undefined) return paused;
  if (!schedule) return <span class="dim">by hand alone</span>;
  if (nextAt === undefined) return <span>never: its schedule names no moment to come</span>;
  return (
    <>
      {paused}
      <Moment at={nextAt} now={now} />
      <p class="dim">{momentIn(nextAt, schedule.timezone)}</p>
    </>
  );
};

export const PolicyActions = ({ name, paused }: { name: string; paused: boolean }) => (
  <span class="actions">
    <Action to={policyPath(name, '/run')} label={`Run ${name} now`}>
      Run now
    </Action>
    {paused ? (
      <Action to={policyPath(name, '/resume')} label={`Resume ${name}`}>
        Resume
      </Action>
    ) : (
      <Action to={policyPath(name, '/pause')} label={`Pause ${name}`}>
        Pause
      </Action>
    )}
  </span>
);

const Latest = ({ runs, now }: { runs: Run[]; now: number }) => (
  <section id="latest" data-live>
    <h2>Latest runs</h2>
    {runs.length === 0 ? (
      <p class="dim">None yet. “Run now” beside a policy makes the first.</p>
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
