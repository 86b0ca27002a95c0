import { listSitesCommand, siteColumns } from '../../control/commands/list-sites.ts';
import { type ListedSite, lastBackup, type SitePage, statesOf } from '../../control/sites.ts';
import { defined } from '../../defined.ts';
import { outcomes } from '../../run/run.ts';
import { countOf } from '../../text.ts';
import { parseDuration } from '../../yaml/duration.ts';
import { ask } from '../auth/caller.ts';
import { Badge } from '../components/badge.tsx';
import { Empty, NotKnown } from '../components/empty.tsx';
import {
  accountFilter,
  type Filter,
  FilterBar,
  NothingFound,
  Pages,
  pathWith,
} from '../components/filter-bar.tsx';
import { showPage } from '../components/layout.tsx';
import { runPath, targetPath } from '../components/paths.ts';
import { number } from '../components/progress.tsx';
import { Cut, Table } from '../components/table.tsx';
import { NamedTarget } from '../components/target-line.tsx';
import { Sentence, Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { CsvLink, sendList } from './export.tsx';

const PATH = '/sites';
const PAGE = 50;

type Given = ReturnType<typeof givenIn>;

/** The sites of the accounts, as the service last showed them, and how runs did on each. */
export async function showSites(c: Exchange, context: DashboardContext): Promise<Response> {
  const given = givenIn(c);
  const wrong = wrongIn(given);
  const understood = Object.fromEntries(
    Object.entries(given).filter(([, value]) => !wrong.includes(value ?? '')),
  ) as Given;
  const page = await ask(c, context, listSitesCommand, inputOf(understood));
  const accounts = (await context.accounts()).map(({ account }) => account);
  const { next, looked } = page;
  const list = { of: 'sites', path: PATH, given, by: 'from', at: given.from, next, looked };
  return showPage(
    c,
    context,
    { title: 'Sites', here: PATH, live: '*', byAccount: { pagedBy: 'from' } },
    <section>
      <div class="page-head">
        <h1>Sites</h1>
        <CsvLink path="/sites.csv" given={{ ...given, from: undefined }} />
      </div>
      <FilterBar path={PATH} filters={filtersOf(given, page)} keep={{ dir: given.dir }}>
        {wrong.length === 0 &&
          page.found !== undefined &&
          countOf(page.found, given.kind === 'other' ? 'target' : 'site')}
      </FilterBar>
      <div id="sites" data-live>
        <Readings of={page} account={given.account} />
        {wrong.length > 0 ? (
          <Empty icon="triangle-alert" title={`“${wrong[0]}” is no duration: write 3d or 12h.`} />
        ) : page.sites.length === 0 ? (
          <NothingFound {...list}>
            <Empty icon="globe" title="No site is known yet.">
              The sites of the accounts are listed here when they have been read.
            </Empty>
          </NothingFound>
        ) : (
          <SiteTable
            sites={page.sites}
            given={given}
            hasAccounts={accounts.length > 1 && given.account === undefined}
          />
        )}
        {wrong.length === 0 && <Pages {...list} />}
      </div>
    </section>,
  );
}

/** Every site that matches, as CSV. */
export function sendSitesCsv(c: Exchange, context: DashboardContext): Promise<Response> {
  const file = { of: 'sites', columns: siteColumns };
  return sendList(c, context, file, listSitesCommand, inputOf(givenIn(c)), ({ sites }) => sites);
}

function givenIn(c: Exchange) {
  const text = (name: string) => c.req.query(name)?.trim().slice(0, 200) || undefined;
  const one = <Value extends string>(name: string, values: readonly Value[]) =>
    values.find((value) => value === text(name));
  return {
    q: text('q'),
    account: text('account'),
    client: text('client'),
    tag: text('tag'),
    connection: one('connection', ['connected', 'disconnected']),
    not_synced: text('not_synced'),
    not_backed_up: text('not_backed_up'),
    result: one('result', [...outcomes, 'none']),
    findings: one('findings', ['open']),
    kind: one('kind', ['other']),
    dir: one('dir', ['down']),
    from: c.req.query('from') || undefined,
  };
}

/** The durations that cannot be understood. */
const wrongIn = ({ not_synced, not_backed_up }: Given): string[] =>
  [not_synced, not_backed_up].flatMap((value) =>
    value !== undefined && parseDuration(value) === undefined ? [value] : [],
  );

const inputOf = ({ q: text, result: outcome, from: after, findings, dir, ...given }: Given) => ({
  ...defined({ ...given, text, outcome, after }),
  ...(findings ? { findings: 'true' as const } : {}),
  ...(dir ? { order: 'descending' as const } : {}),
  limit: PAGE,
});

const filtersOf = (given: Given, { names }: SitePage): Filter[] => [
  { name: 'q', label: 'Text', value: given.q, placeholder: 'address, title or id' },
  { name: 'client', label: 'Client', value: given.client, suggestions: names.clients },
  { name: 'tag', label: 'Tag', value: given.tag, suggestions: names.tags },
  {
    name: 'connection',
    label: 'Connection',
    value: given.connection,
    options: ['connected', 'disconnected'],
  },
  { name: 'not_synced', label: 'Not synced for', value: given.not_synced, placeholder: 'such as 3d' },
  {
    name: 'not_backed_up',
    label: 'Not backed up for',
    value: given.not_backed_up,
    placeholder: 'such as 7d',
  },
  { name: 'result', label: 'Result', value: given.result, options: [...outcomes, 'none'] },
  { name: 'findings', label: 'Findings', value: given.findings, options: ['open'] },
  { name: 'kind', label: 'Kind', value: given.kind, options: ['other'], placeholder: 'sites' },
  accountFilter(given.account),
];

/** Of so many accounts the reason is shown. */
const MAX_REASONS = 3;

/** When the service showed this, and why it is not newer. */
const Readings = ({ of: { accounts }, account }: { of: SitePage; account: string | undefined }) => {
  const read = accounts.flatMap(({ reading }) => (reading ? [reading.at] : []));
  const never = accounts.flatMap(({ account, reading }) => (reading ? [] : [account]));
  const old = accounts.filter(({ notNewer }) => notNewer !== undefined);
  return (
    <div class="dim small">
      {account !== undefined && accounts.length === 0 && (
        <p class="note is-unknown">
          There is no account {account}: only what stored runs have worked on is known of it.
        </p>
      )}
      {read.length > 0 && (
        <p>
          As of <Time at={Math.min(...read)} />
          {read.length > 1 && ', or later'}
        </p>
      )}
      {never.length > 0 && (
        <p>
          The sites of {never.slice(0, MAX_REASONS).join(', ')}
          {never.length > MAX_REASONS && ` and ${never.length - MAX_REASONS} more accounts`} were never read:
          only those that stored runs have worked on are listed.
        </p>
      )}
      {old.slice(0, MAX_REASONS).map(({ account, notNewer = '' }) => (
        <p class="note is-unknown">
          The account {account} was not read again: <Sentence text={notNewer} />
        </p>
      ))}
    </div>
  );
};

interface TableProps {
  sites: readonly ListedSite[];
  given: Given;
  hasAccounts: boolean;
}

const SiteTable = ({ sites, given, hasAccounts }: TableProps) => {
  const sort = {
    path: pathWith(PATH, { ...given, dir: given.dir ? undefined : 'down', from: undefined }),
    is: given.dir ? ('descending' as const) : ('ascending' as const),
  };
  return (
    <Table
      name="Sites"
      columns={(column) => [
        column({ head: 'Site', sort }, '', ({ account, target: id, label, site }) => (
          <NamedTarget to={targetPath(account, id)} title={site?.title} {...{ label, id }} />
        )),
        ...(hasAccounts
          ? [column('Account', 'w-word wide-only', ({ account }) => <Cut whole={account} />)]
          : []),
        column('Client', 'w-count middle-only', ({ site }) => {
          const client = site?.client?.name;
          return client && <Cut whole={client} to={pathWith(PATH, { ...given, client, from: undefined })} />;
        }),
        column('Tags', 'w-count wide-only', ({ site }) => (
          <Cut whole={site?.tags?.map((tag) => tag.name).join(', ') ?? ''} />
        )),
        given.not_backed_up
          ? column('Last backup', 'w-word end', ({ site }) => {
              const { at, why } = lastBackup(site ?? {});
              return why ? <Cut whole={why} /> : <Time at={timeOf(at)} show="relative" />;
            })
          : column('Last sync', 'w-word end', ({ site }) => {
              if (site?.last_sync_at === null) return 'never';
              const at = timeOf(site?.last_sync_at);
              return at === undefined ? <NotKnown /> : <Time at={at} show="relative" />;
            }),
        column('State', 'w-count', States),
        column('Last result', 'w-last', LastResult),
        column('Findings', 'w-do end', ({ account, target, findings }) =>
          findings > 0 ? <a href={targetPath(account, target)}>{number(findings)}</a> : '–',
        ),
      ]}
      rows={sites}
      keyOf={({ account, target }) => `${account} ${target}`}
    />
  );
};

const timeOf = (text: string | undefined): number | undefined => Date.parse(text ?? '') || undefined;

function LastResult({ last, streak }: ListedSite) {
  const outcome = last?.target.outcome ?? last?.target.state;
  if (!last || !outcome) return <span class="dim">none stored</span>;
  const result = [outcome, last.target.reason].filter(Boolean).join(': ');
  return (
    <Cut whole={`${result} (${last.run.policy})${streak > 1 ? `, ${streak} times in a row` : ''}`}>
      <a class="plain" href={runPath(last.run.id)}>
        <Badge word={outcome} />
      </a>
      {streak > 1 && <span class="dim"> {number(streak)} ×</span>}{' '}
      <span class="dim roomy-only">
        <Time at={last.target.finishedAt ?? last.run.createdAt} show="relative" />
      </span>
    </Cut>
  );
}

/** What is wrong with the site, by the service; that it is connected, if nothing is. */
function States({ site, readAt }: ListedSite) {
  if (!site)
    return readAt === undefined ? (
      <span class="dim">not known</span>
    ) : (
      <Cut whole="The account did not have it when it was read.">
        <span class="dim">not in the account</span>
      </Cut>
    );
  const [worst, ...others] = statesOf(site);
  return (
    <Cut whole={[worst, ...others].join(', ')}>
      {worst && <Badge word={worst} />}
      {others.length > 0 && <span class="dim"> {others.join(', ')}</span>}
    </Cut>
  );
}
