import { isPermitted } from '../../access/principal.ts';
import type { Policy } from '../../policy/policy.ts';
import { shownStatus } from '../../run/found.ts';
import { BULK_POLICY_PATHS } from '../actions/bulk-policies.tsx';
import { principalOf } from '../auth/caller.ts';
import { Badge } from '../components/badge.tsx';
import { useMay } from '../components/contexts.tsx';
import { Empty } from '../components/empty.tsx';
import { accountFilter, FilterBar, pathWith } from '../components/filter-bar.tsx';
import { Icon } from '../components/icon.tsx';
import { showPage } from '../components/layout.tsx';
import { policyPath, runPath } from '../components/paths.ts';
import { PolicyBadges, scheduleLine } from '../components/policy-schedule.tsx';
import { number } from '../components/progress.tsx';
import { RunStrip, STRIP_RUNS } from '../components/run-strip.tsx';
import { type Column, Cut, DataTable } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import {
  groupOf,
  POLICIES_A_PAGE,
  type PolicyGroup,
  type PolicyQuery,
  type PolicyRow,
  policyGroups,
  policySorts,
  policyStates,
  readPolicies,
} from '../queries/policy-list.ts';

const SUCCESS = `Of its last ${STRIP_RUNS} runs, the percentage without a failure. Skipped, cancelled and empty runs do not count.`;
const PATH = '/policies';

/** All active policies: what each does and how often, how it did, when it runs next. */
export async function showPolicies(c: Exchange, context: DashboardContext): Promise<Response> {
  const { reader, clock } = context;
  const now = clock.now();
  const policies = context.policies();
  const query = queryOf(c);
  const { rows, found, groups } = await readPolicies(reader, policies, query, { now, latest: STRIP_RUNS });
  const filters = [
    { name: 'q', label: 'Text', value: query.search, placeholder: 'name, job, file' },
    { name: 'job', label: 'Job', value: query.job, options: jobsOf(policies) },
    { name: 'state', label: 'State', value: query.state, options: policyStates },
    { name: 'group', label: 'Group by', value: query.group, options: policyGroups, placeholder: 'nothing' },
    accountFilter(query.account),
  ];
  const hasOwner = policies.some(({ owner }) => owner !== undefined);
  const may = (account: string, policy: string) =>
    isPermitted(principalOf(c), 'operator', { policy, account });
  const maySelect = rows.some(({ policy: { name, account } }) => may(account, name));
  return showPage(
    c,
    context,
    { title: 'Policies', here: PATH, live: '*', byAccount: { pagedBy: 'page' } },
    <section>
      <div class="page-head">
        <h1>Policies</h1>
        {maySelect && <BulkActions />}
      </div>
      <FilterBar path={PATH} filters={filters} keep={{ sort: c.req.query('sort'), dir: c.req.query('dir') }}>
        {found === policies.length
          ? `${number(found)} ${found === 1 ? 'policy' : 'policies'}`
          : `${number(found)} of ${number(policies.length)} policies`}
      </FilterBar>
      <form id="selection" method="get" action={PATH}>
        {maySelect && <input type="hidden" name="back" value={pathOf(query)} />}
        <div id="policies" data-live>
          {rows.length === 0 ? (
            <NoPolicies total={policies.length} />
          ) : (
            <PolicyTable rows={rows} groups={groups} query={query} hasOwner={hasOwner} now={now} />
          )}
          <Pager query={query} found={found} />
        </div>
      </form>
    </section>,
  );
}

/** What can be done with the selected policies; `client/selection.ts` says how many these are. */
const BulkActions = () => (
  <span class="actions" id="bulk" data-one="policy" data-many="policies">
    <label class="inline" hidden>
      <input type="checkbox" id="select-all" autocomplete="off" /> Select all
    </label>
    {(['run', 'pause', 'resume'] as const).map((kind) => (
      <button
        class="plain"
        type="submit"
        form="selection"
        formaction={BULK_POLICY_PATHS[kind]}
        data-asks
        data-verb={bulkVerbs[kind]}
      >
        {bulkVerbs[kind]} selected
      </button>
    ))}
  </span>
);
const bulkVerbs = { run: 'Run', pause: 'Pause', resume: 'Resume' } as const;

const jobsOf = (policies: readonly Policy[]): string[] => [...new Set(policies.map(({ job }) => job))].sort();

function queryOf(c: Exchange): PolicyQuery {
  const text = (name: string) => c.req.query(name)?.trim().slice(0, 200) || undefined;
  return {
    search: text('q') ?? '',
    job: text('job'),
    account: text('account'),
    state: policyStates.find((one) => one === text('state')),
    group: policyGroups.find((one) => one === text('group')),
    sort: policySorts.find((one) => one === text('sort')) ?? 'name',
    descending: text('dir') === 'down',
    page: Math.max(1, Math.trunc(Number(text('page') ?? 1)) || 1),
  };
}

const pathOf = ({ search, job, account, state, group, sort, descending, page }: PolicyQuery): string =>
  pathWith(PATH, {
    q: search,
    job,
    account,
    state,
    group,
    sort: sort === 'name' ? undefined : sort,
    dir: descending ? 'down' : undefined,
    page: page === 1 ? undefined : String(page),
  });

const NoPolicies = ({ total }: { total: number }) =>
  total === 0 ? (
    <Empty title="No policy is active." icon="repeat">
      A policy says which work is done on which sites, and when. Write one into the policies folder: it is
      loaded automatically, and <code>caretaker validate</code> checks it.
    </Empty>
  ) : (
    <Empty title="No policy matches." icon="repeat">
      <a href={PATH}>Show all {number(total)}</a>
    </Empty>
  );

interface TableProps {
  rows: readonly PolicyRow[];
  groups: ReadonlyMap<string, number>;
  query: PolicyQuery;
  hasOwner: boolean;
  now: number;
}

const PolicyTable = ({ rows, groups, query, hasOwner, now }: TableProps) => {
  const may = useMay();
  const acts = rows.some(({ policy: { name, account } }) => may('operator', { policy: name, account }));
  const sortBy = (sort: PolicyQuery['sort']): NonNullable<Column['sort']> => {
    const isSorted = query.sort === sort;
    const descending = isSorted && !query.descending;
    const is = query.descending ? 'descending' : 'ascending';
    return { path: pathOf({ ...query, sort, descending, page: 1 }), ...(isSorted ? { is } : {}) };
  };
  const columns: Column[] = [
    { head: 'Policy', sort: sortBy('name') },
    { head: 'Schedule', width: 'w-in' },
    { head: `Last ${STRIP_RUNS} runs`, width: 'w-strip', middleOnly: true },
    { head: 'Success', width: 'w-short', end: true, wideOnly: true },
    { head: 'Last run', width: 'w-last' },
    { head: 'Next run', width: 'w-next', end: true, sort: sortBy('next') },
    ...(hasOwner ? [{ head: 'Owner', width: 'w-word widest-only' }] : []),
    ...(acts ? [{ head: 'Actions', width: 'w-do', end: true }] : []),
  ];
  const { group } = query;
  return (
    <DataTable name="Policies" columns={columns}>
      {rows.map((row, index) => {
        const name = group && groupOf(row.policy, group);
        const before = rows[index - 1];
        const isFirst =
          name !== undefined && (!before || groupOf(before.policy, group as PolicyGroup) !== name);
        return (
          <>
            {isFirst && <GroupHead name={name} count={groups.get(name) ?? 0} columns={columns} />}
            <PolicyLine row={row} acts={acts} hasOwner={hasOwner} now={now} />
          </>
        );
      })}
    </DataTable>
  );
};

/** Over the two columns that are shown at any width: a head over hidden columns would take room from the others. */
const GroupHead = ({ name, count, columns }: { name: string; count: number; columns: readonly Column[] }) => (
  <tr class="group" data-key={`group ${name}`}>
    <th scope="rowgroup" colspan={2}>
      {name} <span class="count">{number(count)}</span>
    </th>
    {columns.slice(2).map(({ width = '', wideOnly, middleOnly }) => (
      <td
        class={[width, wideOnly && 'wide-only', middleOnly && 'middle-only'].filter(Boolean).join(' ')}
      ></td>
    ))}
  </tr>
);

interface LineProps {
  row: PolicyRow;
  acts: boolean;
  hasOwner: boolean;
  now: number;
}

const PolicyLine = ({ row, acts, hasOwner, now }: LineProps) => {
  const { policy, pause, nextAt, runs, successRate } = row;
  const { name, description, job, account } = policy;
  const [last] = runs;
  const may = useMay()('operator', { policy: name, account });
  return (
    <tr data-key={name}>
      <td data-label="Policy">
        <span class="pick">
          {may && (
            <label>
              <input type="checkbox" name="policy" value={name} autocomplete="off" />
              <span class="unseen">Select {name}</span>
            </label>
          )}
          <Cut whole={`${name}: ${description ?? job}`}>
            <a class="strong" href={policyPath(name)}>
              {name}
            </a>{' '}
            <span class="dim">{description ?? job}</span>
          </Cut>
        </span>
      </td>
      <td data-label="Schedule">
        <Cut whole={`${scheduleLine(policy)} (${policy.schedule?.cron.join('; ') ?? 'no schedule'})`}>
          {scheduleLine(policy)}
        </Cut>
      </td>
      <td data-label="Last runs" class="middle-only">
        <RunStrip runs={runs} now={now} />
      </td>
      <td data-label="Success" class="end wide-only">
        {successRate === undefined ? (
          <span class="dim">–</span>
        ) : (
          <span title={SUCCESS}>{Math.floor(successRate * 100)}%</span>
        )}
      </td>
      <td data-label="Last run">
        {last ? (
          <Cut whole={`${last.status}: ${last.id}`}>
            <a class="plain" href={runPath(last.id)}>
              <Badge word={shownStatus(last)} />{' '}
              <span class="roomy-only">
                <Time at={last.startedAt ?? last.createdAt} now={now} show="relative" />
              </span>
            </a>
          </Cut>
        ) : (
          <span class="dim">none yet</span>
        )}
      </td>
      <td data-label="Next run" class="end">
        <Next policy={policy} pause={pause} nextAt={nextAt} now={now} />
      </td>
      {hasOwner && (
        <td data-label="Owner" class="widest-only">
          {policy.owner ? <Cut whole={policy.owner} /> : <span class="dim">–</span>}
        </td>
      )}
      {acts && (
        <td data-label="Actions" class="end">
          {may && <RowActions name={name} paused={pause !== undefined} />}
        </td>
      )}
    </tr>
  );
};

const Next = ({ policy, pause, nextAt, now }: Omit<PolicyRow, 'runs' | 'successRate'> & { now: number }) => {
  if (pause || policy.schedule?.disabled) return <PolicyBadges policy={policy} pause={pause} />;
  if (!policy.schedule) return <span class="dim">manual</span>;
  if (policy.schedule.after) return <span class="dim">follows</span>;
  return <Time at={nextAt} now={now} show="relative" />;
};

const RowActions = ({ name, paused }: { name: string; paused: boolean }) => {
  const [path, word, icon] = paused
    ? (['/resume', 'Resume', 'rotate-ccw'] as const)
    : (['/pause', 'Pause', 'pause'] as const);
  return (
    <span class="actions icons">
      <a class="action" href={policyPath(name, '/run')} data-asks title="Run now">
        <Icon name="play" />
        <span class="unseen">Run {name} now</span>
      </a>
      <a class="action" href={policyPath(name, path)} data-asks title={word}>
        <Icon name={icon} />
        <span class="unseen">
          {word} {name}
        </span>
      </a>
    </span>
  );
};

const Pager = ({ query, found }: { query: PolicyQuery; found: number }) => {
  const pages = Math.ceil(found / POLICIES_A_PAGE);
  if (pages <= 1) return null;
  return (
    <nav class="pager" aria-label="Pages of policies">
      {query.page > 1 && <a href={pathOf({ ...query, page: query.page - 1 })}>Previous</a>}
      <span>
        Page {query.page} of {pages}
      </span>
      {query.page < pages && <a href={pathOf({ ...query, page: query.page + 1 })}>Next</a>}
    </nav>
  );
};
