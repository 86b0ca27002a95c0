import { isoMinute } from '../../clock.ts';
import type { Policy } from '../../policy/policy.ts';
import type { ScheduledTime } from '../../records/ledger-store.ts';
import { pauseAt } from '../../records/policy-store.ts';
import { firingsAhead } from '../../schedule/policy-report.ts';
import { formatSkipCause } from '../../schedule/skip-cause.ts';
import { shortFile } from '../../yaml/diagnostic.ts';
import { number, RunTable, runPath, Sentence, Time, timeIn } from '../components/components.tsx';
import { showPage } from '../components/layout.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { NextFiring, PolicyActions, PolicyBadges, ScheduleLines } from './overview.tsx';
import { sendProblem } from './problem.tsx';

const LATEST = 20;
const UPCOMING = 5;

/** The latest scheduled times, with their runs or why there was none. */
const ScheduleHistory = ({ records, now }: { records: readonly ScheduledTime[]; now: number }) => (
  <section id="schedule-history" data-live>
    <details>
      <summary>Schedule history</summary>
      <ul>
        {records.map((record) => (
          <li>
            <Time at={record.scheduledFor} now={now} /> <Result record={record} />
          </li>
        ))}
      </ul>
    </details>
  </section>
);

function whySkipped({ why, note, into }: ScheduledTime): string {
  if (into !== undefined) return `: caught up by the run of ${isoMinute(into)}`;
  if (why === undefined) return '';
  return why === 'overlap'
    ? `: ${note ?? why}`
    : `: ${formatSkipCause({ why, ...(note === undefined ? {} : { note }) })}`;
}

const Result = ({ record }: { record: ScheduledTime }) => (
  <>
    {record.run === undefined ? record.is : <a href={runPath(record.run)}>{record.is}</a>}
    <Sentence text={whySkipped(record)} />
    {record.after && (
      <>
        {' '}
        after <a href={runPath(record.after)}>{record.after}</a>
      </>
    )}
    {record.backfill && (
      <>
        {'; '}
        <a href={runPath(record.backfill)}>backfilled</a>
      </>
    )}
  </>
);

/** The active policy that the address names. */
export const policyIn = (c: Exchange, { policies }: DashboardContext): Policy | undefined =>
  policies().find(({ name }) => name === c.req.param('name'));

/** One policy: its job, its schedule and its latest runs. */
export async function showPolicy(c: Exchange, context: DashboardContext): Promise<Response> {
  const policy = policyIn(c, context);
  if (!policy) return sendProblem(c, context, 404, 'No active policy has this name.');
  const { name } = policy;
  const now = context.clock.now();
  const [states, runs, history] = await Promise.all([
    context.reader.policyStates([policy]),
    context.reader.runs({ policy: name, limit: LATEST }),
    context.reader.ledger(name, LATEST),
  ]);
  const state = states.get(name);
  const pause = pauseAt(state, now);
  const firings = firingsAhead(policy, state, now, UPCOMING);
  const nextAt = firings[0]?.at;
  return showPage(
    c,
    context,
    { title: name, here: '/', live: '*' },
    <>
      <section id="policy" data-live>
        <p class="dim">
          <a href="/">Overview</a> / policy
        </p>
        <h1>
          {name} <PolicyBadges policy={policy} pause={pause} />
        </h1>
        {policy.description && <p>{policy.description}</p>}
        <PolicyActions name={name} paused={pause !== undefined} />
        <dl>
          <div>
            <dt>Job</dt>
            <dd>{policy.job}</dd>
          </div>
          <div>
            <dt>Account</dt>
            <dd>{policy.account}</dd>
          </div>
          <div>
            <dt>File</dt>
            <dd>{shortFile(policy.file)}</dd>
          </div>
          <div>
            <dt>Schedule</dt>
            <dd>
              <ScheduleLines policy={policy} />
            </dd>
          </div>
          <div>
            <dt>Next run</dt>
            <dd>
              <NextFiring policy={policy} pause={pause} nextAt={nextAt} now={now} />
            </dd>
          </div>
          <div>
            <dt>Limits</dt>
            <dd>
              {number(policy.limits.concurrency)} at a time, {number(policy.limits.maxTargets)} targets at
              most
            </dd>
          </div>
          {state !== undefined && state.failures > 0 && (
            <div>
              <dt>Failed in a row</dt>
              <dd>{number(state.failures)}</dd>
            </div>
          )}
        </dl>
        {policy.schedule && firings.length > 1 && (
          <details>
            <summary>The next {firings.length} runs</summary>
            <ul>
              {firings.map(({ at }) => (
                <li>
                  <Time at={at} now={now} />{' '}
                  <span class="dim">{timeIn(at, policy.schedule?.timezone ?? 'UTC')}</span>
                </li>
              ))}
            </ul>
          </details>
        )}
      </section>
      {history.length > 0 && <ScheduleHistory records={history} now={now} />}
      <section id="runs" data-live>
        <h2>Latest runs</h2>
        {runs.length === 0 ? (
          <p class="dim">No stored runs.</p>
        ) : (
          <>
            <RunTable name={`Runs of ${name}`} runs={runs} now={now} withPolicy={false} />
            <p>
              <a href={`/runs?policy=${encodeURIComponent(name)}`}>All runs of this policy</a>
            </p>
          </>
        )}
      </section>
    </>,
  );
}
