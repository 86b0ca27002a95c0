import { isoMinute, isoTime } from '../../clock.ts';
import { findingColumns, toFindingReport } from '../../control/finding-report.ts';
import {
  type CountedGroup,
  type FindingFilter,
  type ListedFinding,
  newUnacknowledged,
  unacknowledged,
} from '../../control/findings.ts';
import { findingStates, severities } from '../../records/finding-words.ts';
import { Action } from '../components/action.tsx';
import { Badge } from '../components/badge.tsx';
import { useMay } from '../components/contexts.tsx';
import { Empty } from '../components/empty.tsx';
import { accountFilter, type Filter, FilterBar, pathWith, policyNames } from '../components/filter-bar.tsx';
import { FindingTrendStrip } from '../components/finding-trend.tsx';
import { Icon } from '../components/icon.tsx';
import { showPage } from '../components/layout.tsx';
import { acknowledgePath, policyPath, targetPath } from '../components/paths.ts';
import { number } from '../components/progress.tsx';
import { siteName } from '../components/site-name.ts';
import { Cut, DataTable } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import type { FindingHistory, FindingsReader } from '../queries/findings-reader.ts';
import { sendCsv } from './runs.tsx';

const PATH = '/findings';
const PAGE = 50;
/** More groups are found by the filters. */
const MAX_GROUPS = 12;

type Parameter = 'q' | 'severity' | 'state' | 'policy' | 'account';

interface FindingQuery {
  given: Readonly<Partial<Record<Parameter, string>>>;
  filter: FindingFilter;
  after: string | undefined;
}

/** What is wrong in the fleet: the findings by policy and severity, then each of them. */
export async function showFindings(c: Exchange, context: DashboardContext): Promise<Response> {
  const { clock, reader } = context;
  const now = clock.now();
  const query = queryOf(c);
  const [groups, page] = await Promise.all([
    withHistory(reader.findings, await reader.findings.groups(query.filter)),
    reader.findings.list(query.filter, { limit: PAGE, after: query.after }),
  ]);
  const active = new Set(context.policies().map(({ name }) => name));
  return showPage(
    c,
    context,
    { title: 'Findings', here: PATH, live: '*', byAccount: { pagedBy: 'after' } },
    <>
      <section>
        <div class="page-head">
          <h1>Findings</h1>
          <a class="action" href={pathWith('/findings.csv', query.given)} download>
            <Icon name="download" /> CSV
          </a>
        </div>
        <FilterBar path={PATH} filters={filtersOf(query, context)} />
        <div id="finding-groups" data-live>
          {groups.length > 0 && <Groups groups={groups} active={active} now={now} />}
        </div>
      </section>
      <section id="findings" data-live>
        {page.findings.length === 0 ? (
          <NoFindings query={query} looked={page.looked} />
        ) : (
          <FindingTable findings={page.findings} now={now} />
        )}
        {(query.after !== undefined || page.next !== undefined) && (
          <nav class="pager" aria-label="Pages of findings">
            {query.after !== undefined && <a href={pathWith(PATH, query.given)}>First page</a>}
            {page.next !== undefined && (
              <a href={pathWith(PATH, { ...query.given, after: page.next })}>Next</a>
            )}
            {page.looked !== undefined && (
              <span class="dim">These are what was found among {number(page.looked)} findings.</span>
            )}
          </nav>
        )}
      </section>
    </>,
  );
}

/** Every finding that matches, as CSV. It is sent while they are read, so their number does not matter. */
export function sendFindingsCsv(c: Exchange, { clock, reader }: DashboardContext): Response {
  const { filter } = queryOf(c);
  const name = `findings-${isoTime(clock.now()).slice(0, 10)}.csv`;
  return sendCsv(c, name, findingColumns, rows());
  async function* rows() {
    for await (const finding of reader.findings.all(filter)) yield toFindingReport(finding);
  }
}

function queryOf(c: Exchange): FindingQuery {
  const text = (name: string) => c.req.query(name)?.trim().slice(0, 200) || undefined;
  const severity = severities.find((one) => one === text('severity'));
  const state = findingStates.find((one) => one === text('state'));
  const [search, policy, account] = [text('q'), text('policy'), text('account')];
  const given = { q: search, severity, state, policy, account };
  return {
    given: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    filter: { severity, state, search, policy, account },
    after: c.req.query('after'),
  };
}

const filtersOf = ({ given }: FindingQuery, context: DashboardContext): readonly Filter[] => [
  { name: 'q', label: 'Text', value: given.q, placeholder: 'site, plugin, message' },
  { name: 'severity', label: 'Severity', value: given.severity, options: severities },
  { name: 'state', label: 'State', value: given.state, options: findingStates },
  {
    name: 'policy',
    label: 'Policy',
    value: given.policy,
    suggestions: policyNames(context.policies(), given.account),
  },
  accountFilter(given.account),
];

interface Group extends CountedGroup {
  history: FindingHistory | undefined;
}

/** All groups; the first ones with what is shown of each in addition to its numbers. */
async function withHistory(findings: FindingsReader, groups: readonly CountedGroup[]): Promise<Group[]> {
  // Groups of one policy share its history.
  const histories = new Map<string, Promise<FindingHistory>>();
  const historyOf = (group: CountedGroup) => {
    const key = `${group.account}\n${group.policy}`;
    const known = histories.get(key) ?? findings.history(group);
    histories.set(key, known);
    return known;
  };
  const history = await Promise.all(groups.slice(0, MAX_GROUPS).map(historyOf));
  return groups.map((group, index) => ({ ...group, history: history[index] }));
}

const Groups = ({
  groups,
  active,
  now,
}: {
  groups: readonly Group[];
  active: ReadonlySet<string>;
  now: number;
}) => (
  <>
    <h2>By policy and severity</h2>
    <DataTable
      name="Findings by policy and severity"
      columns={[
        { head: 'Severity', width: 'w-word' },
        { head: 'Policy' },
        { head: 'Open', width: 'w-short', end: true },
        { head: 'New', width: 'w-short', end: true },
        { head: 'Resolved', width: 'w-word', end: true, wideOnly: true },
        { head: 'Oldest', width: 'w-word', end: true },
        { head: 'Last 30 days', width: 'w-strip', middleOnly: true },
      ]}
    >
      {groups.slice(0, MAX_GROUPS).map((group) => (
        <GroupRow group={group} isActive={active.has(group.policy)} now={now} />
      ))}
    </DataTable>
    {groups.length > MAX_GROUPS && (
      <p class="dim">{number(groups.length - MAX_GROUPS)} more: filter by policy or severity to see them.</p>
    )}
  </>
);

const GroupRow = ({ group, isActive, now }: { group: Group; isActive: boolean; now: number }) => {
  const { account, policy, severity, acknowledged, since, history } = group;
  const fresh = newUnacknowledged(group);
  const of = { policy, account, severity };
  return (
    <tr data-key={`${severity} ${policy} ${account}`}>
      <td data-label="Severity">
        <a class="plain" href={pathWith(PATH, of)}>
          <Badge word={severity} />
          <span class="unseen"> findings of {policy}</span>
        </a>
      </td>
      <td data-label="Policy">
        <Cut whole={`${policy}, account ${account}`}>
          <a class="strong" href={policyPath(policy)}>
            {policy}
          </a>{' '}
          <span class="dim">{isActive ? account : `${account}, not active`}</span>
        </Cut>
      </td>
      <td data-label="Open" class="end">
        <a href={pathWith(PATH, of)}>{number(unacknowledged(group))}</a>
        {acknowledged > 0 && (
          <a class="dim" href={pathWith(PATH, { ...of, state: 'acknowledged' })} title="acknowledged">
            {' '}
            +{number(acknowledged)}
            <span class="unseen"> acknowledged</span>
          </a>
        )}
      </td>
      <td data-label="New" class="end">
        {fresh > 0 ? <a href={pathWith(PATH, { ...of, state: 'new' })}>{number(fresh)}</a> : '–'}
      </td>
      <td data-label="Resolved" class="end wide-only">
        {history && history.resolved[severity] > 0 ? (
          <a href={pathWith(PATH, { ...of, state: 'resolved' })}>{number(history.resolved[severity])}</a>
        ) : (
          '–'
        )}
      </td>
      <td data-label="Oldest" class="end">
        <Time at={since} now={now} show="relative" />
      </td>
      <td data-label="Last 30 days" class="middle-only">
        {history && <FindingTrendStrip trend={history.trend[severity]} severity={severity} />}
      </td>
    </tr>
  );
};

const FindingTable = ({ findings, now }: { findings: readonly ListedFinding[]; now: number }) => (
  <>
    <h2>Each finding</h2>
    <DataTable
      name="Findings"
      grows="findings"
      columns={[
        { head: 'Site', width: 'w-in' },
        { head: 'Severity', width: 'w-word' },
        { head: 'Message' },
        { head: 'Policy', width: 'w-name', wideOnly: true },
        { head: 'State', width: 'w-badge', middleOnly: true },
        { head: 'Since', width: 'w-word', end: true },
        { head: 'Action', width: 'w-badge', end: true },
      ]}
    >
      {findings.map((finding) => (
        <FindingRow finding={finding} now={now} />
      ))}
    </DataTable>
  </>
);

const FindingRow = ({ finding, now }: { finding: ListedFinding; now: number }) => {
  const { account, policy, target, label, about, message, severity, state, since, last, resolvedAt } =
    finding;
  const { acknowledged } = finding;
  const may = useMay()('operator', { policy, account });
  return (
    <tr data-key={`${account} ${policy} ${target} ${about} ${resolvedAt ?? ''}`}>
      <td data-label="Site">
        <Cut whole={`${label} (${target})`}>
          <a href={targetPath(account, target, `?run=${encodeURIComponent(last)}`)}>
            {siteName(label, target)}
          </a>
        </Cut>
      </td>
      <td data-label="Severity">
        <Badge word={severity} />
      </td>
      <td data-label="Message">
        <Cut whole={`${about}: ${message}`}>
          <span class="dim">{about}:</span> {message}
        </Cut>
      </td>
      <td data-label="Policy" class="wide-only">
        <Cut whole={`${policy}, last seen by ${last}`}>
          <a href={policyPath(policy)}>{policy}</a>
        </Cut>
      </td>
      <td data-label="State" class="middle-only">
        <span title={acknowledged && standing(acknowledged)}>
          <Badge word={state} />
        </span>
      </td>
      <td data-label="Since" class="end">
        <Time at={since} now={now} show="relative" />
      </td>
      <td data-label="Action" class="end">
        {may && state !== 'resolved' && (
          <Action
            to={acknowledgePath(finding, acknowledged ? 'unacknowledge' : 'acknowledge')}
            of={`${label}: ${about}`}
          >
            {acknowledged ? 'Count again' : 'Acknowledge'}
          </Action>
        )}
      </td>
    </tr>
  );
};

/** `anna, until 2026-12-01 08:00 UTC: the client knows` */
const standing = ({ by, until, reason }: NonNullable<ListedFinding['acknowledged']>): string =>
  `${by}, ${until === undefined ? 'until it is resolved' : `until ${isoMinute(until)}`}: ${reason}`;

const NoFindings = ({ query, looked }: { query: FindingQuery; looked: number | undefined }) => {
  if (looked !== undefined)
    return (
      <Empty icon="search" title={`None of these ${number(looked)} findings matches.`}>
        “Next” continues the search.
      </Empty>
    );
  if (Object.keys(query.given).length > 0 || query.after !== undefined)
    return (
      <Empty icon="search" title="No finding matches.">
        <a href={PATH}>Show all findings</a>
      </Empty>
    );
  return (
    <Empty icon="circle-check" title="No finding is open.">
      What jobs report about sites would be here: a site without a backup, an update that failed. A policy
      with the job <code>check</code> reports what its condition finds.
    </Empty>
  );
};
