import type { Child } from 'hono/jsx';
import type { Policy } from '../../policy/policy.ts';
import type { Blocked } from '../../records/account-store.ts';
import type { PolicyState } from '../../records/policy-store.ts';
import type { Run } from '../../run/run.ts';
import { blackoutOn, dueAt, nextMoments } from '../../schedule/calendar.ts';
import type { Exchange, Parts } from '../http/parts.ts';
import type { Health } from '../options.ts';
import { asPage, Layout } from './layout.tsx';
import { Badge, Bar, countsLine, lengthOf, Moment, number, progressOf } from './words.tsx';

const LATEST = 20;
const POLICIES_A_PAGE = 50;
const MOST_ACTIVE = 50;

/** A policy as its row shows it. */
interface PolicyRow {
  policy: Policy;
  state: PolicyState | undefined;
  nextAt: number | undefined;
  lastRun: Run | undefined;
}

/** The first page: what is wrong, what is under way, what comes next, what was. */
export async function showOverview(c: Exchange, parts: Parts): Promise<Response> {
  const { reader, clock } = parts;
  const now = clock.now();
  const page = Math.max(1, Math.trunc(Number(c.req.query('page') ?? 1)) || 1);
  const policies = parts.policies();
  const accounts = [...new Set(policies.map(({ account }) => account))];
  const [health, active, latest, rows, blocked, workers] = await Promise.all([
    parts.health(),
    reader.activeRuns(),
    reader.runs({ limit: LATEST }),
    rowsOf(parts, policies.slice((page - 1) * POLICIES_A_PAGE, page * POLICIES_A_PAGE)),
    reader.blocked(accounts),
    reader.presence(now),
  ]);
  const nobodyWorks = !workers.some(({ roles }) => roles.includes('worker'));
  return asPage(
    c,
    <Layout title="Overview" live="*">
      <Warnings health={health} blocked={blocked} nobodyWorks={nobodyWorks} />
      <UnderWay runs={active} now={now} />
      <Policies rows={rows} page={page} total={policies.length} />
      <Latest runs={latest} now={now} />
    </Layout>,
  );
}

async function rowsOf({ reader, clock }: Parts, policies: readonly Policy[]): Promise<PolicyRow[]> {
  const now = clock.now();
  const [states, lastRuns] = await Promise.all([
    reader.policyStates(policies.map(({ name }) => name)),
    Promise.all(policies.map(({ name }) => reader.runs({ policy: name, limit: 1 }))),
  ]);
  return policies.map((policy, index) => ({
    policy,
    state: states.get(policy.name),
    nextAt: nextFiring(policy, now),
    lastRun: lastRuns[index]?.[0],
  }));
}

/** When a policy fires next; nothing when it has no schedule, or is in a blackout then. */
function nextFiring({ name, schedule }: Policy, now: number): number | undefined {
  if (!schedule) return undefined;
  const [next, following] = nextMoments(schedule, now, 2);
  if (next === undefined || blackoutOn(schedule, next)) return undefined;
  return dueAt(name, schedule, next, following);
}

const Warnings = ({
  health,
  blocked,
  nobodyWorks,
}: {
  health: Health;
  blocked: Map<string, Blocked>;
  nobodyWorks: boolean;
}) => (
  <div id="warnings" data-live>
    {health.redis === 'down' && (
      <p class="note is-failed">Redis does not answer: nothing moves until it does.</p>
    )}
    {nobodyWorks && (
      <p class="note is-failed">No process with the worker role is here: runs wait until one starts.</p>
    )}
    {health.waiting.map((role) => (
      <p class="note is-blocked">The {role} of this process is not at work.</p>
    ))}
    {[...blocked].map(([account, { since, why }]) => (
      <p class="note is-blocked">
        The account {account} refuses us since <Moment at={since} />: {why}
      </p>
    ))}
    {health.brokenFiles.map((file) => (
      <p class="note is-partial">
        {file} has mistakes; what it held before stays in force. <code>caretaker validate</code> shows them.
      </p>
    ))}
  </div>
);

const UnderWay = ({ runs, now }: { runs: Run[]; now: number }) => (
  <section id="under-way" data-live>
    <h2>Under way</h2>
    {runs.length === 0 && <p class="dim">Nothing is running.</p>}
    <div class="cards">
      {runs.slice(0, MOST_ACTIVE).map((run) => (
        <a class="card" href={`/runs/${encodeURIComponent(run.id)}`}>
          <h3>
            {run.policy} <Badge word={run.status} />
          </h3>
          <Bar counts={run.counts} />
          <p>
            {progressOf(run)}: {countsLine(run.counts)}
          </p>
          <p class="dim">
            {lengthOf(run, now)}, {number(run.requests)} requests
          </p>
          {run.detail && <p>{run.detail}</p>}
        </a>
      ))}
    </div>
    {runs.length > MOST_ACTIVE && <p class="dim">And {number(runs.length - MOST_ACTIVE)} more.</p>}
  </section>
);

const Policies = ({ rows, page, total }: { rows: PolicyRow[]; page: number; total: number }) => (
  <section id="policies" data-live>
    <h2>Policies</h2>
    {rows.length === 0 ? (
      <p class="dim">None on this page.</p>
    ) : (
      <Table heads={['Policy', 'Schedule', 'Next', 'Last run']}>
        {rows.map((row) => (
          <PolicyLine row={row} />
        ))}
      </Table>
    )}
    {total > POLICIES_A_PAGE && (
      <nav class="pager">
        {page > 1 && <a href={`/?page=${page - 1}`}>Before</a>}
        <span>
          Page {page} of {Math.ceil(total / POLICIES_A_PAGE)}
        </span>
        {page * POLICIES_A_PAGE < total && <a href={`/?page=${page + 1}`}>Next</a>}
      </nav>
    )}
  </section>
);

const PolicyLine = ({ row: { policy, state, nextAt, lastRun } }: { row: PolicyRow }) => (
  <tr>
    <td data-label="Policy">
      <b>{policy.name}</b> {state?.pause && <Badge word="paused" />}
      <p class="dim">{policy.description ?? policy.job}</p>
    </td>
    <td data-label="Schedule">
      {policy.schedule ? (
        <>
          {policy.schedule.cron.map((cron) => (
            <p>
              <code>{cron}</code>
            </p>
          ))}
          <p class="dim">{policy.schedule.timezone}</p>
        </>
      ) : (
        <span class="dim">by hand</span>
      )}
    </td>
    <td data-label="Next">
      {state?.pause ? (
        <span class="dim">
          paused by {state.pause.by}
          {state.pause.reason && `: ${state.pause.reason}`}
        </span>
      ) : (
        <Moment at={nextAt} />
      )}
    </td>
    <td data-label="Last run">{lastRun ? <RunLink run={lastRun} /> : <span class="dim">–</span>}</td>
  </tr>
);

const RunLink = ({ run }: { run: Run }) => (
  <a href={`/runs/${encodeURIComponent(run.id)}`}>
    <Badge word={run.status} /> <Moment at={run.startedAt ?? run.createdAt} />
  </a>
);

const Latest = ({ runs, now }: { runs: Run[]; now: number }) => (
  <section id="latest" data-live>
    <h2>Latest runs</h2>
    {runs.length === 0 ? (
      <p class="dim">None yet.</p>
    ) : (
      <Table heads={['Run', 'Policy', 'Trigger', 'Targets', 'Took']}>
        {runs.map((run) => (
          <tr>
            <td data-label="Run">
              <RunLink run={run} />
            </td>
            <td data-label="Policy">{run.policy}</td>
            <td data-label="Trigger">{run.trigger}</td>
            <td data-label="Targets">{countsLine(run.counts)}</td>
            <td data-label="Took" class="short">
              {lengthOf(run, now)}
            </td>
          </tr>
        ))}
      </Table>
    )}
  </section>
);

const Table = ({ heads, children }: { heads: string[]; children: Child }) => (
  <table>
    <thead>
      <tr>
        {heads.map((head) => (
          <th>{head}</th>
        ))}
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
);
