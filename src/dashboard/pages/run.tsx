import type { Child } from 'hono/jsx';
import type { LeftOut } from '../../records/target-store.ts';
import { isFinal } from '../../run/moves.ts';
import { reasons } from '../../run/reasons.ts';
import { outcomes, type Run, type Target } from '../../run/run.ts';
import type { Exchange, Parts } from '../http/parts.ts';
import type { TargetQuery } from '../reading/reader.ts';
import { asPage, Layout } from './layout.tsx';
import { sendProblem } from './problem.tsx';
import { Badge, Bar, countsLine, lengthOf, Moment, number, progressOf, span } from './words.tsx';

const PAGE = 100;
const MOST_LEFT_OUT = 100;
const filters = [...outcomes, 'open'] as const;
type Filter = (typeof filters)[number];

interface Look {
  filter: Filter | undefined;
  page: number;
}

/** One run: what it is, how far it is, why it stands still, and its targets by the page. */
export async function showRun(c: Exchange, { reader, clock }: Parts): Promise<Response> {
  const run = await reader.run(c.req.param('id') ?? '');
  if (!run) return sendProblem(c, 404, 'There is no such run, or it is older than what is kept.');
  const look: Look = {
    filter: filters.find((one) => one === c.req.query('outcome')),
    page: Math.max(1, Math.trunc(Number(c.req.query('page') ?? 1)) || 1),
  };
  const query: TargetQuery = {
    offset: (look.page - 1) * PAGE,
    limit: PAGE,
    ...(look.filter ? { outcome: look.filter } : {}),
  };
  const [targets, leftOut] = await Promise.all([
    reader.targets(run.id, query),
    reader.leftOut(run.id, MOST_LEFT_OUT),
  ]);
  return asPage(
    c,
    <Layout title={run.id} {...(isFinal(run.status) ? {} : { live: run.id })}>
      <Summary run={run} now={clock.now()} />
      <Targets run={run} look={look} targets={targets} now={clock.now()} />
      <NotInPlan leftOut={leftOut} />
    </Layout>,
  );
}

const Summary = ({ run, now }: { run: Run; now: number }) => (
  <section id="summary" data-live>
    <p class="dim">
      <a href="/">Overview</a> / run
    </p>
    <h1>
      {run.policy} <Badge word={run.status} />
    </h1>
    <p class="dim id">{run.id}</p>
    {run.detail && <p class={`note is-${run.status}`}>{run.detail}</p>}
    <Bar counts={run.counts} />
    <p>{isFinal(run.status) ? countsLine(run.counts) : `${progressOf(run)}: ${countsLine(run.counts)}`}</p>
    <dl>
      <Fact name="Job">{run.job}</Fact>
      <Fact name="Account">{run.account}</Fact>
      <Fact name="Trigger">
        {run.trigger} {run.retryOf && <a href={`/runs/${run.retryOf}`}>of {run.retryOf}</a>}
      </Fact>
      <Fact name="For">
        <Moment at={run.scheduledFor} />
      </Fact>
      <Fact name="Started">
        <Moment at={run.startedAt} />
      </Fact>
      <Fact name="Finished">
        <Moment at={run.finishedAt} />
      </Fact>
      <Fact name="Took">{lengthOf(run, now)}</Fact>
      <Fact name="Requests">{requestsOf(run)}</Fact>
    </dl>
  </section>
);

const Fact = ({ name, children }: { name: string; children: Child }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const requestsOf = ({ requests, counts }: Run): string =>
  counts.planned === 0
    ? number(requests)
    : `${number(requests)} (${(requests / counts.planned).toFixed(1)} a target)`;

const Targets = ({ run, look, targets, now }: { run: Run; look: Look; targets: Target[]; now: number }) => (
  <section id="targets" data-live>
    <h2>Targets</h2>
    <nav class="filters">
      <FilterLink run={run} look={look} filter={undefined} count={run.counts.planned} />
      {filters.map((filter) => (
        <FilterLink run={run} look={look} filter={filter} count={countOf(run, filter)} />
      ))}
    </nav>
    {targets.length === 0 ? (
      <p class="dim">None.</p>
    ) : (
      <table>
        <thead>
          <tr>
            <th>Target</th>
            <th>Outcome</th>
            <th>Why</th>
            <th>Failed tries</th>
            <th>Took</th>
          </tr>
        </thead>
        <tbody>
          {targets.map((target) => (
            <TargetRow target={target} now={now} />
          ))}
        </tbody>
      </table>
    )}
    <Pager run={run} look={look} />
  </section>
);

const TargetRow = ({ target, now }: { target: Target; now: number }) => (
  <tr>
    <td data-label="Target">
      {target.label} <span class="dim id">{target.id}</span>
    </td>
    <td data-label="Outcome">
      <Badge word={target.outcome ?? target.state} />
    </td>
    <td data-label="Why">
      {target.reason && (
        <>
          <code>{target.reason}</code> <span class="dim">{reasons[target.reason]}</span>
        </>
      )}
      {target.detail && <p>{target.detail}</p>}
      {target.taskId && <p class="dim id">task {target.taskId}</p>}
    </td>
    <td data-label="Failed tries">{target.attempts}</td>
    <td data-label="Took" class="short">
      {target.startedAt === undefined ? '–' : span((target.finishedAt ?? now) - target.startedAt)}
    </td>
  </tr>
);

const FilterLink = ({
  run,
  look,
  filter,
  count,
}: {
  run: Run;
  look: Look;
  filter: Filter | undefined;
  count: number;
}) => (
  <a href={pathOf(run, filter, 1)} {...(look.filter === filter ? { 'aria-current': 'page' } : {})}>
    {filter ?? 'all'} <b>{number(count)}</b>
  </a>
);

const Pager = ({ run, look: { filter, page } }: { run: Run; look: Look }) => {
  const pages = Math.ceil((filter === undefined ? run.counts.planned : countOf(run, filter)) / PAGE);
  if (pages < 2) return null;
  return (
    <nav class="pager">
      {page > 1 && <a href={pathOf(run, filter, page - 1)}>Before</a>}
      <span>
        Page {page} of {pages}
      </span>
      {page < pages && <a href={pathOf(run, filter, page + 1)}>Next</a>}
    </nav>
  );
};

const pathOf = (run: Run, filter: Filter | undefined, page: number): string => {
  const query = new URLSearchParams({
    ...(filter === undefined ? {} : { outcome: filter }),
    ...(page === 1 ? {} : { page: String(page) }),
  });
  return `/runs/${encodeURIComponent(run.id)}${query.size === 0 ? '' : `?${query}`}`;
};

function countOf({ counts }: Run, filter: Filter): number {
  if (filter !== 'open') return counts[filter];
  return counts.planned - outcomes.reduce((sum, outcome) => sum + counts[outcome], 0);
}

const NotInPlan = ({ leftOut }: { leftOut: LeftOut[] }) =>
  leftOut.length === 0 ? null : (
    <section>
      <details>
        <summary>
          Looked at and left out of the plan{' '}
          <b>{leftOut.length === MOST_LEFT_OUT ? `(the first ${MOST_LEFT_OUT})` : `(${leftOut.length})`}</b>
        </summary>
        <ul>
          {leftOut.map(({ id, label, why }) => (
            <li>
              {label} <span class="dim id">{id}</span>: {why}
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
