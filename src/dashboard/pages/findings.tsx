import { holds } from '../../access/principal.ts';
import { isoMinute } from '../../clock.ts';
import { acknowledgeFindings } from '../../control/commands/acknowledge-findings.ts';
import { findingColumns, listFindingsCommand } from '../../control/commands/list-findings.ts';
import {
  type CountedGroup,
  type FindingPage,
  type ListedFinding,
  newUnacknowledged,
  unacknowledged,
} from '../../control/findings.ts';
import { DAY_MS } from '../../dates.ts';
import { findingStates, type Severity, severities } from '../../records/filter-values.ts';
import { MAX_RESOLVED } from '../../records/finding-indexes.ts';
import type { FindingTrend } from '../../records/open-findings-store.ts';
import { BULK_FINDINGS_PATH } from '../actions/bulk-findings.tsx';
import { ask, principalOf } from '../auth/caller.ts';
import { Action } from '../components/action.tsx';
import { Badge } from '../components/badge.tsx';
import { useMay, useNow } from '../components/contexts.tsx';
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
import { acknowledgePath, policyPath, siteName, targetPath } from '../components/paths.ts';
import { number } from '../components/progress.tsx';
import { Cut, Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import type { FindingHistory, FindingsReader } from '../queries/findings-reader.ts';
import { type FindingQuery, readFindingQuery } from '../queries/list-query.ts';
import type { Titles } from '../queries/reader.ts';
import { CsvLink, sendList } from './export.tsx';
import { sendProblem } from './problem.tsx';

const PATH = '/findings';
const PAGE = 50;
/** More groups are found by the filters. */
const MAX_GROUPS = 12;
/** What was seen longer ago may have changed: most policies look every day. */
const OLD_MS = 2 * DAY_MS;

/** What is wrong in the fleet: the findings by policy and severity, then each of them. */
export async function showFindings(c: Exchange, context: DashboardContext): Promise<Response> {
  const { reader } = context;
  const { given, filter, faults } = queryOf(c, context);
  const after = c.req.query('after');
  const { severity, policy, account } = filter;
  const [groups, page] = await Promise.all([
    withHistory(reader.findings, await reader.findings.groups({ severity, policy, account })),
    faults.length > 0
      ? { findings: [] }
      : ask(c, context, listFindingsCommand, { ...filter, limit: PAGE, after }),
  ]);
  const { next, looked }: FindingPage = page;
  const titles = await reader.titles(page.findings);
  const list = { of: 'findings', path: PATH, given, at: after, next, looked };
  const isAny = page.findings.some(({ state }) => state === 'new' || state === 'open');
  const active = new Set(context.policies().map(({ account: of, name }) => `${of} ${name}`));
  return showPage(
    c,
    context,
    { title: 'Findings', here: PATH, live: '*', byAccount: { pagedBy: 'after' } },
    <>
      <section>
        <div class="page-head">
          <h1>Findings</h1>
          {isAny && holds(principalOf(c), acknowledgeFindings.role) && (
            <Action to={pathWith(BULK_FINDINGS_PATH, given)}>Acknowledge all that match</Action>
          )}
          <CsvLink path="/findings.csv" given={given} />
        </div>
        <FilterBar path={PATH} filters={filtersOf(given, context)} />
        <div id="finding-groups" data-live>
          {groups.length > 0 && <Groups groups={groups} active={active} />}
        </div>
      </section>
      <section id="findings" data-live>
        {faults.length > 0 ? (
          <Empty icon="triangle-alert" title={faults.join(' ')} />
        ) : page.findings.length === 0 ? (
          <NothingFound {...list}>
            <Empty icon="circle-check" title="No finding is open.">
              What jobs report about sites would be here: a site without a backup, an update that failed. A
              policy with the job <code>check</code> reports what its condition finds.
            </Empty>
          </NothingFound>
        ) : (
          <FindingTable titles={titles} findings={page.findings} />
        )}
        <Pages {...list} />
      </section>
    </>,
  );
}

/** Every finding that matches, as CSV. */
export async function sendFindingsCsv(c: Exchange, context: DashboardContext): Promise<Response> {
  const { filter, faults } = queryOf(c, context);
  if (faults.length > 0) return sendProblem(c, context, 400, faults.join(' '));
  const file = { of: 'findings', columns: findingColumns };
  return sendList(c, context, file, listFindingsCommand, filter, ({ findings }) => findings);
}

const queryOf = (c: Exchange, { clock }: DashboardContext): FindingQuery =>
  readFindingQuery((name) => c.req.query(name), clock.now());

const filtersOf = (given: FindingQuery['given'], context: DashboardContext): readonly Filter[] => [
  { name: 'q', label: 'Text', value: given.q, placeholder: 'site, plugin, message' },
  { name: 'severity', label: 'Severity', value: given.severity, options: severities },
  { name: 'state', label: 'State', value: given.state, options: findingStates },
  {
    name: 'policy',
    label: 'Policy',
    value: given.policy,
    suggestions: policyNames(context.policies(), given.account),
  },
  { name: 'from', label: 'First seen from', value: given.from, placeholder: '31d or a date' },
  { name: 'to', label: 'To', value: given.to, placeholder: 'now' },
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

const noneResolved = { error: 0, warning: 0, info: 0 };

const Groups = ({ groups, active }: { groups: readonly Group[]; active: ReadonlySet<string> }) => (
  <>
    <h2>By policy and severity</h2>
    <Table
      name="Findings by policy and severity"
      kind="detail"
      columns={(column) => [
        column('Severity', 'w-word', (group) => (
          <a class="plain" href={pathOf(group)}>
            <Badge word={group.severity} />
            <span class="unseen"> findings of {group.policy}</span>
          </a>
        )),
        column('Policy', '', ({ policy, account }) => (
          <Cut whole={`${policy}, account ${account}`}>
            <a class="strong" href={policyPath(policy)}>
              {policy}
            </a>{' '}
            <span class="dim">{active.has(`${account} ${policy}`) ? account : `${account}, not active`}</span>
          </Cut>
        )),
        column('Open', 'w-short end', (group) => (
          <>
            <a href={pathOf(group)}>{number(unacknowledged(group))}</a>
            {group.acknowledged > 0 && (
              <a class="dim" href={pathOf(group, 'acknowledged')} title="acknowledged">
                {' '}
                +{number(group.acknowledged)}
                <span class="unseen"> acknowledged</span>
              </a>
            )}
          </>
        )),
        column('New', 'w-short end', (group) => {
          const fresh = newUnacknowledged(group);
          return fresh > 0 ? <a href={pathOf(group, 'new')}>{number(fresh)}</a> : '–';
        }),
        column('Resolved', 'w-word end wide-only', (group) => {
          const { resolved = noneResolved } = group.history ?? {};
          const count = resolved[group.severity];
          // More are not kept.
          const isAll = resolved.error + resolved.warning + resolved.info < MAX_RESOLVED;
          const text = `${isAll ? '' : '≥\u202f'}${number(count)}`;
          return count > 0 ? <a href={pathOf(group, 'resolved')}>{text}</a> : '–';
        }),
        column('Oldest', 'w-word end', ({ since }) => <Time at={since} show="relative" />),
        column(
          'Last 30 days',
          'w-strip middle-only',
          ({ history, severity }) =>
            history && <FindingTrendStrip trend={history.trend[severity]} severity={severity} />,
        ),
      ]}
      rows={groups.slice(0, MAX_GROUPS)}
      keyOf={({ severity, policy, account }) => `${severity} ${policy} ${account}`}
    />
    {groups.length > MAX_GROUPS && (
      <p class="dim">{number(groups.length - MAX_GROUPS)} more: filter by policy or severity to see them.</p>
    )}
  </>
);

const pathOf = ({ policy, account, severity }: Group, state?: string): string =>
  pathWith(PATH, { policy, account, severity, state });

const FindingTable = ({ findings, titles }: { findings: readonly ListedFinding[]; titles: Titles }) => {
  const [may, now] = [useMay(), useNow()];
  return (
    <>
      <h2>Each finding</h2>
      <Table
        name="Findings"
        grows="findings"
        columns={(column) => [
          column('Site', 'w-in', ({ account, target, label, last }) => (
            <Cut
              whole={[label, titles(account, target), target].filter(Boolean).join(', ')}
              to={targetPath(account, target, `?run=${encodeURIComponent(last)}`)}
            >
              {siteName(label, target)}
            </Cut>
          )),
          column('Severity', 'w-word', ({ severity }) => <Badge word={severity} />),
          column('Message', '', ({ about, message, seenAt }) => (
            <Cut whole={`${about}: ${message} (last seen ${isoMinute(seenAt)})`}>
              {now - seenAt > OLD_MS && (
                <b>
                  seen <Time at={seenAt} show="relative" />:{' '}
                </b>
              )}
              <span class="dim">{about}:</span> {message}
            </Cut>
          )),
          column('Policy', 'w-name wide-only', ({ policy, last }) => (
            <Cut whole={`${policy}, last seen by ${last}`} to={policyPath(policy)}>
              {policy}
            </Cut>
          )),
          column('State', 'w-badge middle-only', ({ state, acknowledged }) => (
            <span title={acknowledged && standing(acknowledged)}>
              <Badge word={state} />
            </span>
          )),
          column('Since', 'w-word end', ({ since }) => <Time at={since} show="relative" />),
          column(
            'Action',
            'w-badge end',
            (finding) =>
              may('operator', finding) &&
              finding.state !== 'resolved' && (
                <Action
                  to={acknowledgePath(finding, finding.acknowledged ? 'unacknowledge' : 'acknowledge')}
                  of={`${finding.label}: ${finding.about}`}
                >
                  {finding.acknowledged ? 'Count again' : 'Acknowledge'}
                </Action>
              ),
          ),
        ]}
        rows={findings}
        keyOf={({ account, policy, target, about, resolvedAt }) =>
          `${account} ${policy} ${target} ${about} ${resolvedAt ?? ''}`
        }
      />
    </>
  );
};

/** `anna, until 2026-12-01 08:00 UTC: the client knows` */
const standing = ({ by, until, reason }: NonNullable<ListedFinding['acknowledged']>): string =>
  `${by}, ${until === undefined ? 'until it is resolved' : `until ${isoMinute(until)}`}: ${reason}`;

const [WIDTH, GAP, HEIGHT] = [5, 1, 24];
const MIN_HEIGHT = 2;

/** How many findings were open on each of the last days, the oldest first. A day of which nothing is known is a line. */
function FindingTrendStrip({ trend, severity }: { trend: FindingTrend; severity: Severity }) {
  const most = Math.max(1, ...trend.map((count) => count ?? 0));
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${trend.length * WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={summaryOf(trend)}
    >
      <title>{summaryOf(trend)}</title>
      {trend.map((count, index) => {
        const height =
          count === undefined || count === 0
            ? MIN_HEIGHT
            : Math.round(MIN_HEIGHT + (HEIGHT - MIN_HEIGHT) * (count / most));
        return (
          <rect
            class={count ? `is-${severity}` : 'none'}
            x={index * WIDTH}
            y={HEIGHT - height}
            width={WIDTH - GAP}
            height={height}
          />
        );
      })}
    </svg>
  );
}

function summaryOf(trend: FindingTrend): string {
  const known = trend.filter((count) => count !== undefined);
  const [first] = known;
  const last = known.at(-1);
  if (first === undefined || last === undefined) return 'How many were open earlier is not known';
  const days = known.length === 1 ? 'today' : `over the last ${known.length} days`;
  return `Open ${days}: from ${first} to ${last}, at most ${Math.max(...known)}`;
}
