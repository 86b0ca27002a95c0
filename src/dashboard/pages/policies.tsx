import { isPermitted } from '../../access/principal.ts';
import { answer } from '../../control/carry-out.ts';
import { listPolicies } from '../../control/commands/list-policies.ts';
import { labelTexts } from '../../policy/labels.ts';
import type { Policy } from '../../policy/policy.ts';
import { shownStatus } from '../../run/moves.ts';
import { policyColumns } from '../../schedule/policy-report.ts';
import { BulkButtons } from '../actions/bulk.tsx';
import { bulkPolicyChanges } from '../actions/bulk-policies.tsx';
import { actorOf, principalOf } from '../auth/caller.ts';
import { Badge } from '../components/badge.tsx';
import { useMay } from '../components/contexts.tsx';
import { Dash, Empty } from '../components/empty.tsx';
import { accountFilter, FilterBar, pathWith } from '../components/filter-bar.tsx';
import { Icon } from '../components/icon.tsx';
import { showPage } from '../components/layout.tsx';
import { policyPath, runPath } from '../components/paths.ts';
import { PolicyBadges, scheduleLine } from '../components/policy-schedule.tsx';
import { number } from '../components/progress.tsx';
import { RunStrip, STRIP_RUNS } from '../components/run-strip.tsx';
import { type Column, Cut, Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import {
  findPolicies,
  groupOf,
  POLICIES_A_PAGE,
  type PolicyQuery,
  type PolicyRow,
  policyGroups,
  policySorts,
  policyStates,
  readPolicies,
} from '../queries/policy-list.ts';
import { CsvLink, sendCsv } from './export.tsx';

const SUCCESS = `Of its last ${STRIP_RUNS} runs, the percentage without a failure. Skipped, cancelled and empty runs do not count.`;
const PATH = '/policies';

/** All active policies: what each does and how often, how it did, when it runs next. */
export async function showPolicies(c: Exchange, context: DashboardContext): Promise<Response> {
  const { reader, clock } = context;
  const now = clock.now();
  const policies = context.policies();
  const query = queryOf(c);
  const { rows, found, groups } = await readPolicies(reader, policies, query, { now, latest: STRIP_RUNS });
  const labels = [...new Set(policies.flatMap((one) => labelTexts(one.labels)))].sort();
  const filters = [
    { name: 'q', label: 'Text', value: query.search, placeholder: 'name, job, file' },
    { name: 'job', label: 'Job', value: query.job, options: jobsOf(policies) },
    { name: 'state', label: 'State', value: query.state, options: policyStates },
    ...(labels.length === 0 ? [] : [{ name: 'label', label: 'Label', value: query.label, options: labels }]),
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
        {maySelect && <BulkButtons changes={bulkPolicyChanges} one="policy" many="policies" />}
        <CsvLink path={pathOf({ ...query, page: 1 }).replace(PATH, `${PATH}.csv`)} />
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
            <PolicyTable rows={rows} groups={groups} query={query} hasOwner={hasOwner} />
          )}
          <Pager query={query} found={found} />
        </div>
      </form>
    </section>,
  );
}

/** Every policy that matches, as CSV. */
export async function sendPoliciesCsv(c: Exchange, context: DashboardContext): Promise<Response> {
  const { reader, control, clock } = context;
  const found = await findPolicies(reader, context.policies(), queryOf(c), clock.now());
  const { policies } = await answer(listPolicies, control, {}, actorOf(c));
  const reports = new Map(policies.map((one) => [one.name, one]));
  const rows = found.flatMap(({ policy }) => reports.get(policy.name) ?? []);
  return sendCsv(c, context, { of: 'policies', columns: policyColumns, rows });
}

const jobsOf = (policies: readonly Policy[]): string[] => [...new Set(policies.map(({ job }) => job))].sort();

function queryOf(c: Exchange): PolicyQuery {
  const text = (name: string) => c.req.query(name)?.trim().slice(0, 200) || undefined;
  return {
    search: text('q') ?? '',
    job: text('job'),
    label: text('label'),
    account: text('account'),
    state: policyStates.find((one) => one === text('state')),
    group: policyGroups.find((one) => one === text('group')),
    sort: policySorts.find((one) => one === text('sort')) ?? 'name',
    descending: text('dir') === 'down',
    page: Math.max(1, Math.trunc(Number(text('page') ?? 1)) || 1),
  };
}

const pathOf = ({ search, job, label, account, state, group, sort, descending, page }: PolicyQuery): string =>
  pathWith(PATH, {
    q: search,
    job,
    label,
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
}

const PolicyTable = ({ rows, groups, query, hasOwner }: TableProps) => {
  const may = useMay();
  const mayRun = ({ policy: { name, account } }: PolicyRow) => may('operator', { policy: name, account });
  const sortBy = (sort: PolicyQuery['sort']): NonNullable<Column<PolicyRow>['sort']> => {
    const isSorted = query.sort === sort;
    const descending = isSorted && !query.descending;
    const is = query.descending ? 'descending' : 'ascending';
    return { path: pathOf({ ...query, sort, descending, page: 1 }), ...(isSorted ? { is } : {}) };
  };
  const { group } = query;
  const groupName = (row: PolicyRow | undefined) => row && group && groupOf(row.policy, group);
  return (
    <Table
      name="Policies"
      columns={(column) => [
        column({ head: 'Policy', sort: sortBy('name') }, '', (row) => (
          <NameCell row={row} maySelect={mayRun(row)} />
        )),
        column('Schedule', 'w-in', ({ policy }) => (
          <Cut whole={`${scheduleLine(policy)} (${policy.schedule?.cron.join('; ') ?? 'no schedule'})`}>
            {scheduleLine(policy)}
          </Cut>
        )),
        column({ head: `Last ${STRIP_RUNS} runs`, label: 'Last runs' }, 'w-strip middle-only', ({ runs }) => (
          <RunStrip runs={runs} />
        )),
        column('Success', 'w-short end wide-only', ({ successRate: rate }) =>
          rate === undefined ? <Dash /> : <span title={SUCCESS}>{Math.floor(rate * 100)}%</span>,
        ),
        column('Last run', 'w-last', LastRun),
        column({ head: 'Next run', sort: sortBy('next') }, 'w-next end', (row) => <Next {...row} />),
        ...(hasOwner
          ? [
              column('Owner', 'w-word widest-only', ({ policy: { owner } }) =>
                owner ? <Cut whole={owner} /> : <Dash />,
              ),
            ]
          : []),
        ...(rows.some(mayRun)
          ? [
              column(
                'Actions',
                'w-do end',
                (row) =>
                  mayRun(row) && <RowActions name={row.policy.name} paused={row.pause !== undefined} />,
              ),
            ]
          : []),
      ]}
      rows={rows}
      keyOf={({ policy }) => policy.name}
      before={(row, previous, columns) => {
        const name = groupName(row);
        if (name === undefined || name === groupName(previous)) return null;
        return <GroupHead name={name} count={groups.get(name) ?? 0} columns={columns} />;
      }}
    />
  );
};

/** Over the two columns that are shown at any width: a head over hidden columns would take room from the others. */
const GroupHead = ({
  name,
  count,
  columns,
}: {
  name: string;
  count: number;
  columns: readonly Pick<Column<PolicyRow>, 'layout'>[];
}) => (
  <tr class="group" data-key={`group ${name}`}>
    <th scope="rowgroup" colspan={2}>
      {name} <span class="count">{number(count)}</span>
    </th>
    {columns.slice(2).map(({ layout }) => (
      <td class={layout}></td>
    ))}
  </tr>
);

const NameCell = ({ row: { policy }, maySelect }: { row: PolicyRow; maySelect: boolean }) => {
  const { name, description, job } = policy;
  return (
    <span class="pick">
      {maySelect && (
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
  );
};

function LastRun({ runs: [last] }: PolicyRow) {
  if (!last) return <span class="dim">none yet</span>;
  return (
    <Cut whole={`${last.status}: ${last.id}`}>
      <a class="plain" href={runPath(last.id)}>
        <Badge word={shownStatus(last)} />{' '}
        <span class="roomy-only">
          <Time at={last.startedAt ?? last.createdAt} show="relative" />
        </span>
      </a>
    </Cut>
  );
}

const Next = ({ policy, pause, nextAt }: PolicyRow) => {
  if (pause || policy.schedule?.disabled) return <PolicyBadges policy={policy} pause={pause} />;
  if (!policy.schedule) return <span class="dim">manual</span>;
  if (policy.schedule.after) return <span class="dim">follows</span>;
  return <Time at={nextAt} show="relative" />;
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
