import { useContext } from 'hono/jsx';
import { MAX_READ, type TargetPage, type TargetQuery } from '../../control/targets.ts';
import type { Excluded, ReasonCount } from '../../records/target-types.ts';
import { isFinal, shownOutcome, shownStatus } from '../../run/moves.ts';
import { formatRecordings, kindNames } from '../../run/recordings.ts';
import { formatLate, targetColumns, toTargetReport } from '../../run/report.ts';
import { outcomes, type Run } from '../../run/run.ts';
import { stepNamesOf } from '../../run/steps.ts';
import { NO_RUN } from '../auth/guard.tsx';
import { Action } from '../components/action.tsx';
import { Badge } from '../components/badge.tsx';
import { ReasonsContext, useMay, useNow, Why } from '../components/contexts.tsx';
import { FindingChanges } from '../components/finding-changes.tsx';
import { showPage } from '../components/layout.tsx';
import { policyPath, runPath, targetPath } from '../components/paths.ts';
import { Bar, countsLine, Fact, number, progressOf } from '../components/progress.tsx';
import { RolloutSection } from '../components/rollout.tsx';
import { EndsChart, PaceLine } from '../components/run-pace.tsx';
import { RunTook, WhyLine, whyOf } from '../components/run-table.tsx';
import { TargetList } from '../components/target-line.tsx';
import { Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { type End, paceOf, readEnds } from '../queries/pace.ts';
import type { Titles } from '../queries/reader.ts';
import { isAttended } from '../queries/system-status.ts';
import { CsvLink, sendCsv } from './export.tsx';
import { sendProblem } from './problem.tsx';

const PAGE = 100;
const MAX_EXCLUDED = 100;
const filters = [...outcomes, 'open'] as const;
type Filter = (typeof filters)[number];

/** Which targets the page shows. */
interface TargetView {
  filter: Filter | undefined;
  search: string;
  from: number;
}

/** One run: its status and progress, what blocks it, and its targets by the page. */
export async function showRun(c: Exchange, context: DashboardContext): Promise<Response> {
  const { reader } = context;
  const run = await reader.run(c.req.param('id') ?? '');
  if (!run) return sendProblem(c, context, 404, NO_RUN);
  const view: TargetView = {
    filter: filters.find((one) => one === c.req.query('outcome')),
    search: (c.req.query('search') ?? '').trim().slice(0, 200),
    from: Math.max(0, Math.trunc(Number(c.req.query('from') ?? 0)) || 0),
  };
  const query: TargetQuery = {
    from: view.from,
    limit: PAGE,
    ...(view.filter ? { outcome: view.filter } : {}),
    ...(view.search ? { search: view.search } : {}),
  };
  const [page, ends, leftOut, leftOutCount, reasons, attended, gates] = await Promise.all([
    reader.targets(run.id, query),
    readEnds(reader, run),
    reader.excluded(run.id, MAX_EXCLUDED),
    reader.countExcluded(run.id),
    reader.reasons([run.id]),
    isAttended(context, run.account),
    run.rollout ? reader.gates(run.id) : new Map(),
  ]);
  const titles = await reader.titles(page.targets.map(({ id }) => ({ account: run.account, target: id })));
  return showPage(
    c,
    context,
    { title: run.id, here: '/runs', ...(isFinal(run.status) ? {} : { live: run.id }) },
    <>
      <Summary run={run} reasons={reasons.get(run.id) ?? []} ends={ends} attended={attended} />
      <RolloutSection run={run} gates={gates} />
      <Targets run={run} view={view} page={page} titles={titles} />
      <NotInPlan leftOut={leftOut} total={leftOutCount} />
    </>,
  );
}

interface SummaryProps {
  run: Run;
  reasons: readonly ReasonCount[];
  /** When each target ended; undefined for a run with too many of them. */
  ends: readonly End[] | undefined;
  /** Whether any process works on it. */
  attended: boolean;
}

const Summary = ({ run, reasons, ends, attended }: SummaryProps) => (
  <section id="summary" data-live>
    <p class="dim">
      <a href="/runs">Runs</a> / <a href={policyPath(run.policy)}>{run.policy}</a>
    </p>
    <div class="page-head">
      <h1>
        {run.policy} <Badge word={shownStatus(run)} />
      </h1>
      <RunActions run={run} reasons={reasons} attended={attended} />
    </div>
    <p class="dim id">{run.id}</p>
    <div class="beside">
      <div class="card">
        {whyOf(run) && (
          <div class={`note is-${run.status}`}>
            <WhyLine run={run} />
          </div>
        )}
        <Reasons run={run} reasons={reasons} />
        <Bar counts={run.counts} />
        <p>{isFinal(run.status) ? countsLine(run.counts) : progressOf(run)}</p>
        <PaceLine run={run} pace={paceOf(run, ends, useNow())} />
        <EndsChart run={run} ends={ends} />
      </div>
      <Facts run={run} />
    </div>
    {run.findings && <FindingChanges run={run} findings={run.findings} />}
    {run.recordings?.first && (
      <ul>
        {run.recordings.first.map(({ site, kind, why }) => (
          <li>
            Not recorded on <a href={targetPath(run.account, site)}>{site}</a> ({kindNames[kind]}): {why}
          </li>
        ))}
      </ul>
    )}
  </section>
);

/** What did not succeed, by reason, with its sentence; the count leads to these targets. */
const Reasons = ({ run, reasons }: { run: Run; reasons: readonly ReasonCount[] }) => {
  const known = useContext(ReasonsContext);
  return (
    <>
      {reasons
        .filter(({ outcome }) => outcome !== 'succeeded')
        .sort((a, b) => rank(a) - rank(b) || b.count - a.count)
        .map(({ outcome, reason, count }) => {
          const shown = shownOutcome(known, outcome, reason);
          return (
            <p class={`is-${shown} reason`}>
              <a href={viewPath(run, { filter: outcome, search: reason, from: 0 })}>
                {number(count)} {shown}
              </a>
              : <Why reason={reason} />
            </p>
          );
        })}
    </>
  );
};

const Facts = ({ run }: { run: Run }) => (
  <aside class="card" aria-label="Facts">
    <dl>
      <Fact name="Job">{run.job}</Fact>
      <Fact name="Account">{run.account}</Fact>
      <Fact name="Trigger">
        {run.trigger} {run.retryOf && <a href={runPath(run.retryOf)}>of {run.retryOf}</a>}
        {run.afterRun && <a href={runPath(run.afterRun)}>{run.afterRun}</a>}
      </Fact>
      <Fact name="Scheduled for">
        <Time at={run.scheduledFor} />
      </Fact>
      {run.dueBy !== undefined && (
        <Fact name="Deadline">
          <Time at={run.dueBy} />
          {run.late && <span class="failed"> It {formatLate(run)}.</span>}
        </Fact>
      )}
      {run.windowEndsAt !== undefined && (
        <Fact name="Begins nothing after">
          <Time at={run.windowEndsAt} />
        </Fact>
      )}
      {run.spread && (
        <Fact name="Starts targets until">
          <Time at={run.spread.from + run.spread.ms} />
        </Fact>
      )}
      <Fact name="Started">
        <Time at={run.startedAt} />
      </Fact>
      <Fact name="Finished">
        <Time at={run.finishedAt} />
      </Fact>
      <Fact name="Took">
        <RunTook run={run} />
      </Fact>
      <Fact name="Requests">{requestsOf(run)}</Fact>
      {run.findings && (
        <Fact name="Findings">
          {number(run.findings.open)} open, {number(run.findings.new)} new, {number(run.findings.resolved)}{' '}
          resolved
        </Fact>
      )}
      {run.recordings && <Fact name="Recordings">{formatRecordings(run.recordings)}</Fact>}
    </dl>
  </aside>
);

/** Failed before skipped, skipped before cancelled. */
const rank = ({ outcome }: ReasonCount): number => ['failed', 'skipped', 'cancelled'].indexOf(outcome);

const RunActions = ({ run, reasons, attended }: Omit<SummaryProps, 'now' | 'ends'>) => {
  const known = useContext(ReasonsContext);
  if (!useMay()('operator', run)) return null;
  if (!isFinal(run.status)) {
    return (
      <p class="actions">
        {run.held && !run.ending && <Action to={runPath(run.id, '/resume')}>Release this run</Action>}
        {!run.ending && <Action to={runPath(run.id, '/cancel')}>Cancel this run</Action>}
        {(run.ending || !attended) && <Action to={runPath(run.id, '/end')}>Force-end this run</Action>}
      </p>
    );
  }
  if (run.counts.failed === 0) return null;
  const helps = reasons.some(
    ({ outcome, reason }) => outcome === 'failed' && known.get(reason)?.retryable === true,
  );
  return (
    <p class="actions">
      <Action to={runPath(run.id, '/retry')}>
        {helps ? 'Retry what failed' : 'Retry when the cause is fixed'}
      </Action>
    </p>
  );
};

const requestsOf = ({ requests, counts }: Run): string =>
  counts.planned === 0
    ? number(requests)
    : `${number(requests)} (${(requests / counts.planned).toFixed(1)} a target)`;

const Targets = ({
  run,
  view,
  page,
  titles,
}: {
  run: Run;
  view: TargetView;
  page: TargetPage;
  titles: Titles;
}) => (
  <section>
    <div class="page-head">
      <h2>Targets</h2>
      <p class="actions">
        {isFinal(run.status) && (
          <a class="action" href={runPath(run.id, '/compare')}>
            Compare with the run before
          </a>
        )}
        <CsvLink path={runPath(run.id, '/targets.csv')} />
      </p>
    </div>
    <nav class="filters" id="filters" data-live aria-label="Targets by outcome">
      <FilterLink run={run} view={view} filter={undefined} count={run.counts.planned} />
      {filters.map((filter) => (
        <FilterLink run={run} view={view} filter={filter} count={countOf(run, filter)} />
      ))}
    </nav>
    <form class="search" method="get" action={runPath(run.id)} autocomplete="off">
      {view.filter && <input type="hidden" name="outcome" value={view.filter} />}
      <label class="unseen" for="search">
        Find targets by id, name, reason or detail
      </label>
      <input
        id="search"
        type="search"
        name="search"
        value={view.search}
        placeholder="Find by id, name, reason, detail"
      />
      <button type="submit">Find</button>
    </form>
    <div id="targets" data-live>
      {page.targets.length === 0 ? (
        <p class="dim">{nothingFound(run, view, page)}</p>
      ) : (
        <TargetList run={run} targets={page.targets} titles={titles} stepNames={stepNamesOf(run)} />
      )}
      <Pager run={run} view={view} page={page} />
    </div>
  </section>
);

function nothingFound(run: Run, { filter, search, from }: TargetView, { next }: TargetPage): string {
  if (next !== undefined) {
    return `No match among the ${number(MAX_READ)} targets from number ${number(from + 1)} on; “Next” continues the search.`;
  }
  if (filter || search) return 'No target of this run matches.';
  return isFinal(run.status) ? 'This run had no targets.' : 'Its targets are not known yet.';
}

const FilterLink = ({
  run,
  view,
  filter,
  count,
}: {
  run: Run;
  view: TargetView;
  filter: Filter | undefined;
  count: number;
}) => (
  <a
    href={viewPath(run, { filter, search: view.search, from: 0 })}
    {...(view.filter === filter ? { 'aria-current': 'page' } : {})}
  >
    {filter === 'failed' && run.counts.found ? 'failed or found' : (filter ?? 'all')} <b>{number(count)}</b>
  </a>
);

const Pager = ({ run, view, page }: { run: Run; view: TargetView; page: TargetPage }) => {
  // The last page of a plan may be full, so the number of targets decides whether there is a next one.
  const next = page.next !== undefined && page.next < run.counts.planned ? page.next : undefined;
  if (view.from === 0 && next === undefined) return null;
  const filtered = view.filter !== undefined || view.search !== '';
  return (
    <nav class="pager" aria-label="Pages of targets">
      {view.from > 0 && <a href={viewPath(run, { ...view, from: 0 })}>First</a>}
      {view.from > 0 && !filtered && (
        <a href={viewPath(run, { ...view, from: Math.max(0, view.from - PAGE) })}>Previous</a>
      )}
      <span>
        Targets {number(view.from + 1)} to {number(next ?? run.counts.planned)} of{' '}
        {number(run.counts.planned)}
      </span>
      {next !== undefined && <a href={viewPath(run, { ...view, from: next })}>Next</a>}
    </nav>
  );
};

const viewPath = (run: Run, { filter, search, from }: TargetView): string => {
  const query = new URLSearchParams({
    ...(filter === undefined ? {} : { outcome: filter }),
    ...(search === '' ? {} : { search }),
    ...(from === 0 ? {} : { from: String(from) }),
  });
  return runPath(run.id, query.size === 0 ? '' : `?${query}`);
};

function countOf({ counts }: Run, filter: Filter): number {
  if (filter !== 'open') return counts[filter];
  return counts.planned - outcomes.reduce((sum, outcome) => sum + counts[outcome], 0);
}

const NotInPlan = ({ leftOut, total }: { leftOut: Excluded[]; total: number }) =>
  leftOut.length === 0 ? null : (
    <section>
      <details>
        <summary>
          Excluded from the plan{' '}
          <b>
            {total > leftOut.length
              ? `(${number(total)}, the first ${leftOut.length} here)`
              : `(${number(total)})`}
          </b>
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

/** Every target of a run, with the columns of `runs export`. It is sent while the targets are read. */
export async function sendTargetsCsv(c: Exchange, context: DashboardContext): Promise<Response> {
  const { reader } = context;
  const run = await reader.run(c.req.param('id') ?? '');
  if (!run) return sendProblem(c, context, 404, NO_RUN);
  const { id, policy, account } = run;
  const subject = { run: id, policy, account };
  return sendCsv(c, context, { of: 'targets', name: id, columns: targetColumns, rows: rows(), subject });
  async function* rows() {
    for await (const target of reader.allTargets(id)) yield { run: id, ...toTargetReport(target, []) };
  }
}
