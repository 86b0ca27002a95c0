import { type Outcome, outcomes } from '../../run/run.ts';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/empty.tsx';
import { accountFilter, FilterBar, pathWith } from '../components/filter-bar.tsx';
import { showPage } from '../components/layout.tsx';
import { policyPath, runPath, targetPath } from '../components/paths.ts';
import { number } from '../components/progress.tsx';
import { siteName } from '../components/site-name.ts';
import { Cut, DataTable } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import type { Site, SitePage, SiteQuery } from '../queries/sites-reader.ts';

const PATH = '/sites';
const PAGE = 50;

interface Given {
  q: string | undefined;
  account: string | undefined;
  result: Outcome | undefined;
  dir: 'down' | undefined;
  from: string | undefined;
}

/** The sites, and other targets, that stored runs have worked on: how each did last, and what is open on it. */
export async function showSites(c: Exchange, context: DashboardContext): Promise<Response> {
  const now = context.clock.now();
  const given = givenIn(c);
  const page = await context.reader.sites.list(queryOf(given), PAGE);
  const accounts = (await context.accounts()).map(({ account }) => account);
  const filters = [
    { name: 'q', label: 'Text', value: given.q, placeholder: 'name or id' },
    { name: 'result', label: 'Result', value: given.result, options: outcomes },
    accountFilter(given.account),
  ];
  return showPage(
    c,
    context,
    { title: 'Sites', here: PATH, live: '*', byAccount: { pagedBy: 'from' } },
    <section>
      <div class="page-head">
        <h1>Sites</h1>
      </div>
      <FilterBar path={PATH} filters={filters} keep={{ dir: given.dir }}>
        {page.found !== undefined && given.result === undefined && countOf(page.found)}
      </FilterBar>
      <div id="sites" data-live>
        {page.sites.length === 0 ? (
          <NoSites given={given} looked={page.looked} />
        ) : (
          <SiteTable
            sites={page.sites}
            given={given}
            hasAccounts={accounts.length > 1 && given.account === undefined}
            now={now}
          />
        )}
        <Pages page={page} given={given} />
      </div>
    </section>,
  );
}

const countOf = (found: number): string => `${number(found)} ${found === 1 ? 'site' : 'sites'}`;

function givenIn(c: Exchange): Given {
  const text = (name: string) => c.req.query(name)?.trim().slice(0, 200) || undefined;
  return {
    q: text('q'),
    account: text('account'),
    result: outcomes.find((one) => one === text('result')),
    dir: text('dir') === 'down' ? 'down' : undefined,
    from: text('from'),
  };
}

const queryOf = ({ q, account, result, dir, from }: Given): SiteQuery => ({
  words: (q ?? '').toLowerCase().split(/\s+/).filter(Boolean),
  account,
  outcome: result,
  descending: dir === 'down',
  from: Math.max(0, Math.trunc(Number(from ?? 0)) || 0),
});

const SiteTable = ({
  sites,
  given,
  hasAccounts,
  now,
}: {
  sites: readonly Site[];
  given: Given;
  hasAccounts: boolean;
  now: number;
}) => (
  <DataTable
    name="Sites"
    columns={[
      {
        head: 'Site',
        sort: {
          path: pathWith(PATH, { ...given, dir: given.dir ? undefined : 'down', from: undefined }),
          is: given.dir ? 'descending' : 'ascending',
        },
      },
      ...(hasAccounts ? [{ head: 'Account', width: 'w-name', middleOnly: true }] : []),
      { head: 'Last result', width: 'w-badge' },
      { head: 'Policy', width: 'w-in', middleOnly: true },
      { head: 'When', width: 'w-word', end: true },
      { head: 'Failed in a row', width: 'w-word', end: true, wideOnly: true },
      { head: 'Findings', width: 'w-word', end: true },
    ]}
  >
    {sites.map((site) => (
      <SiteRow site={site} hasAccounts={hasAccounts} now={now} />
    ))}
  </DataTable>
);

const SiteRow = ({ site, hasAccounts, now }: { site: Site; hasAccounts: boolean; now: number }) => {
  const { account, target, label, last, streak, findings } = site;
  const reason = last?.target.reason;
  return (
    <tr data-key={`${account} ${target}`}>
      <td data-label="Site">
        <Cut whole={`${label} (${target})`}>
          <a href={targetPath(account, target)}>{siteName(label, target)}</a>{' '}
          {label !== target && <span class="dim">{target}</span>}
        </Cut>
      </td>
      {hasAccounts && (
        <td data-label="Account" class="middle-only">
          <Cut whole={account} />
        </td>
      )}
      <td data-label="Last result">
        {last ? (
          <Cut whole={[last.target.outcome ?? last.target.state, reason].filter(Boolean).join(': ')}>
            <a class="plain" href={runPath(last.run.id)}>
              <Badge word={last.target.outcome ?? last.target.state} />
            </a>
          </Cut>
        ) : (
          <span class="dim">not stored</span>
        )}
      </td>
      <td data-label="Policy" class="middle-only">
        {last && (
          <Cut whole={last.run.policy}>
            <a href={policyPath(last.run.policy)}>{last.run.policy}</a>
          </Cut>
        )}
      </td>
      <td data-label="When" class="end">
        <Time at={last?.target.finishedAt ?? last?.run.createdAt} now={now} show="relative" />
      </td>
      <td data-label="Failed in a row" class="end wide-only">
        {streak > 0 ? number(streak) : '–'}
      </td>
      <td data-label="Findings" class="end">
        {findings > 0 ? <a href={targetPath(account, target)}>{number(findings)}</a> : '–'}
      </td>
    </tr>
  );
};

const NoSites = ({ given, looked }: { given: Given; looked: number | undefined }) => {
  if (looked !== undefined)
    return (
      <Empty icon="search" title={`None of these ${number(looked)} sites matches.`}>
        “Next” continues the search.
      </Empty>
    );
  if (given.q || given.account || given.result || given.from)
    return (
      <Empty icon="search" title="No site matches.">
        <a href={PATH}>Show all sites</a>
      </Empty>
    );
  return (
    <Empty icon="globe" title="No run has worked on a site yet.">
      A site is listed as soon as a run has worked on it, with how it did last. What checks only look at is
      under <a href="/findings">Findings</a>.
    </Empty>
  );
};

const Pages = ({ page, given }: { page: SitePage; given: Given }) =>
  given.from === undefined && page.next === undefined ? null : (
    <nav class="pager" aria-label="Pages of sites">
      {given.from !== undefined && <a href={pathWith(PATH, { ...given, from: undefined })}>First page</a>}
      {page.next !== undefined && <a href={pathWith(PATH, { ...given, from: String(page.next) })}>Next</a>}
      {page.looked !== undefined && (
        <span class="dim">These are what was found among {number(page.looked)} sites.</span>
      )}
    </nav>
  );
