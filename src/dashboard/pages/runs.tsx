import { holds } from '../../access/principal.ts';
import { listRunsCommand } from '../../control/commands/list-runs.ts';
import { type RunPage, statusFilters } from '../../control/runs.ts';
import { runColumns } from '../../run/report.ts';
import { triggers } from '../../run/run.ts';
import { BulkButtons } from '../actions/bulk.tsx';
import { bulkRunChanges, MAX_SELECTED } from '../actions/run.tsx';
import { ask, principalOf } from '../auth/caller.ts';
import { Empty } from '../components/empty.tsx';
import {
  accountFilter,
  type Filter,
  FilterBar,
  NothingFound,
  Pages,
  pathWith,
  policyNames,
} from '../components/filter-bar.tsx';
import { showPage } from '../components/layout.tsx';
import { RunList } from '../components/run-list.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { type RunQuery, readRunQuery } from '../queries/list-query.ts';
import { CsvLink, sendList } from './export.tsx';
import { sendProblem } from './problem.tsx';

const PAGE = MAX_SELECTED;
const PATH = '/runs';

/** The stored runs, newest first. The address holds the filters and the page. */
export async function showRuns(c: Exchange, context: DashboardContext): Promise<Response> {
  const now = context.clock.now();
  const query = readRunQuery((name) => c.req.query(name), now);
  const after = c.req.query('after');
  const page: RunPage =
    query.faults.length > 0
      ? { runs: [] }
      : await ask(c, context, listRunsCommand, { ...query.filter, limit: PAGE, after });
  const reasons = await context.reader.reasons(page.runs.map(({ id }) => id));
  const { next, looked } = page;
  const list = { of: 'runs', path: PATH, given: query.given, at: after, next, looked, isByTime: true };
  const here = pathWith(PATH, { ...query.given, after });
  const maySelect = page.runs.length > 0 && holds(principalOf(c), 'operator');
  return showPage(
    c,
    context,
    { title: 'Runs', here: PATH, live: '*', byAccount: { pagedBy: 'after' } },
    <section>
      <div class="page-head">
        <h1>Runs</h1>
        {maySelect && <BulkButtons changes={bulkRunChanges} one="run" many="runs" />}
        <CsvLink path="/runs.csv" given={query.given} />
      </div>
      <FilterBar path={PATH} filters={filtersOf(query, context)} />
      <form id="selection" method="get" action={PATH}>
        {maySelect && <input type="hidden" name="back" value={here} />}
        <div id="runs" data-live>
          {query.faults.length > 0 ? (
            <Empty icon="triangle-alert" title={query.faults.join(' ')} />
          ) : page.runs.length === 0 ? (
            <NothingFound {...list}>
              <Empty title="No run is stored yet.">
                A scheduled time starts one, and so does “Run now” of a <a href="/">policy</a>.
              </Empty>
            </NothingFound>
          ) : (
            <RunList name="Runs" runs={page.runs} reasons={reasons} />
          )}
          <Pages {...list} />
        </div>
      </form>
    </section>,
  );
}

const filtersOf = ({ given }: RunQuery, context: DashboardContext): readonly Filter[] => [
  { name: 'status', label: 'Status', value: given.status, options: statusFilters },
  {
    name: 'policy',
    label: 'Policy',
    value: given.policy,
    suggestions: policyNames(context.policies(), given.account),
  },
  { name: 'trigger', label: 'Trigger', value: given.trigger, options: triggers },
  { name: 'reason', label: 'Reason', value: given.reason, suggestions: [...context.reasons.keys()].sort() },
  { name: 'from', label: 'From', value: given.from, placeholder: '7d or a date' },
  { name: 'to', label: 'To', value: given.to, placeholder: 'now' },
  accountFilter(given.account),
];

/** Every run that matches, as CSV. */
export async function sendRunsCsv(c: Exchange, context: DashboardContext): Promise<Response> {
  const { filter, faults } = readRunQuery((name) => c.req.query(name), context.clock.now());
  if (faults.length > 0) return sendProblem(c, context, 400, faults.join(' '));
  const file = { of: 'runs', columns: runColumns };
  return sendList(c, context, file, listRunsCommand, filter, ({ runs }) =>
    runs.map(({ counts, ...run }) => ({ ...run, ...counts })),
  );
}
