/** The sidebar: a link to every page. Below 1200 px it has icons only, below 768 px it is a drawer. */
import { holds, isPermitted, type Principal } from '../../access/principal.ts';
import type { Counters } from '../queries/counters.ts';
import { pathWith } from './filter-bar.tsx';
import { Icon, type IconName } from './icon.tsx';

interface Entry {
  path: string;
  word: string;
  icon: IconName;
  /** Only those who may open it have the link: `whole` is for grants without limits. */
  for?: 'whole' | 'operator';
  /** The number beside it, if it is not 0. */
  counter?: keyof Counters;
  /** It shows one account alone, if its address asks for it: the choice is kept from page to page. */
  byAccount?: true;
}

/** The pages of the daily work, then those about the machine. A new page is one line here. */
const groups: readonly (readonly Entry[])[] = [
  [
    { path: '/', word: 'Overview', icon: 'layout-dashboard', byAccount: true },
    { path: '/policies', word: 'Policies', icon: 'repeat', byAccount: true },
    { path: '/runs', word: 'Runs', icon: 'play', counter: 'activeRuns', byAccount: true },
    { path: '/findings', word: 'Findings', icon: 'triangle-alert', counter: 'newErrors', byAccount: true },
    { path: '/approvals', word: 'Approvals', icon: 'badge-check', counter: 'approvals' },
    { path: '/schedule', word: 'Schedule', icon: 'calendar-days', byAccount: true },
    { path: '/sites', word: 'Sites', icon: 'globe', byAccount: true },
    { path: '/budget', word: 'Budget', icon: 'gauge', byAccount: true },
  ],
  [
    { path: '/queues', word: 'Queues', icon: 'layers', for: 'whole' },
    { path: '/notifications', word: 'Notifications', icon: 'bell' },
    { path: '/audit', word: 'Audit', icon: 'scroll-text', for: 'operator' },
    { path: '/system', word: 'System', icon: 'server', for: 'whole' },
  ],
];

/** What each counter counts, for screen readers and on hover, and whether it asks the reader to do something. */
const meanings: Record<keyof Counters, { word: string; asks: boolean }> = {
  activeRuns: { word: 'active', asks: false },
  approvals: { word: 'waiting for a decision', asks: true },
  newErrors: { word: 'new errors', asks: true },
};

const mayOpen = (principal: Principal, entry: Entry): boolean =>
  entry.for === 'whole'
    ? isPermitted(principal, 'viewer')
    : entry.for === undefined || holds(principal, entry.for);

interface SidebarProps {
  principal: Principal;
  /** The path of the entry that the page belongs to. */
  here: string | undefined;
  counters: Counters;
  /** The account that the page shows alone. */
  account: string | undefined;
}

export const Sidebar = ({ principal, here, counters, account }: SidebarProps) => (
  <nav class="side" id="sidebar" popover="auto" aria-label="Main">
    <a class="brand" href="/">
      <Icon name="circle-check" />
      <span class="word">Caretaker</span>
    </a>
    {groups.map((entries, index) => (
      <>
        {index > 0 && <hr />}
        {entries
          .filter((entry) => mayOpen(principal, entry))
          .map(({ path, word, icon, counter, byAccount }) => (
            <a
              href={byAccount ? pathWith(path, { account }) : path}
              title={word}
              {...(byAccount ? { 'data-by-account': '' } : {})}
              {...(path === here ? { 'aria-current': 'page' } : {})}
            >
              <Icon name={icon} />
              <span class="word">{word}</span>
              {counter && <Counter name={counter} count={counters[counter]} />}
            </a>
          ))}
      </>
    ))}
  </nav>
);

const Counter = ({ name, count }: { name: keyof Counters; count: number }) => {
  const { word, asks } = meanings[name];
  return (
    <span class={asks ? 'count asks' : 'count'} id={`count-${name}`} data-live title={`${count} ${word}`}>
      {count > 0 && (
        <>
          {count > 99 ? '99+' : count}
          <span class="unseen"> {word}</span>
        </>
      )}
    </span>
  );
};
