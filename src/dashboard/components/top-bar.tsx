/** The top bar: search, the choice of an account, the status with its notices, and the menu of the user. */

import { getCookie } from 'hono/cookie';
import type { Principal } from '../../access/principal.ts';
import type { Exchange } from '../http/context.ts';
import type { Alert } from '../queries/system-status.ts';
import { AccountButton, type AccountChoice, AccountMenu } from './account-menu.tsx';
import { Icon, type IconName } from './icon.tsx';
import { Notices, StatusPill } from './notices.tsx';

interface TopBarProps {
  principal: Principal;
  theme: Theme;
  /** Undefined on a page that was made without asking for the status. */
  alerts: readonly Alert[] | undefined;
  /** What was searched for, on the page of the results. */
  search?: string | undefined;
  choice?: AccountChoice | undefined;
}

export const TopBar = ({ principal, theme, alerts, search = '', choice }: TopBarProps) => {
  const accounts = choice && choice.accounts.length > 1 ? choice : undefined;
  return (
    <>
      <header class="top">
        <button type="button" class="bare" id="open-sidebar" popovertarget="sidebar" aria-label="Menu">
          <Icon name="menu" />
        </button>
        <search class="find">
          <form method="get" action="/search">
            <input
              type="search"
              name="q"
              id="find"
              value={search}
              placeholder="Search"
              aria-label="Search policies, runs and sites"
              aria-keyshortcuts="/ Control+K"
              autocomplete="off"
              maxlength={200}
            />
            <Icon name="search" />
            <span class="key" aria-hidden="true">
              /
            </span>
          </form>
        </search>
        {accounts && <AccountButton choice={accounts} />}
        {alerts && <StatusPill alerts={alerts} />}
        <button
          type="button"
          class="bare"
          popovertarget="user-menu"
          aria-label={`Signed in as ${principal.name}: menu`}
        >
          <Icon name="circle-user" />
          <span class="who" aria-hidden="true">
            {principal.name}
          </span>
        </button>
      </header>
      {accounts && <AccountMenu choice={accounts} />}
      {alerts && <Notices alerts={alerts} principal={principal} />}
      <UserMenu principal={principal} theme={theme} />
    </>
  );
};

const icons: Record<Theme, IconName> = { light: 'sun', dark: 'moon', system: 'monitor' };

const UserMenu = ({ principal, theme }: { principal: Principal; theme: Theme }) => (
  <div class="panel menu" id="user-menu" popover="auto">
    <p>
      Signed in as <b>{principal.name}</b>
    </p>
    <p class="dim small">{[...new Set(principal.grants.map(({ role }) => role))].join(', ')}</p>
    <p>
      <a href="/sessions">Your sessions</a>
    </p>
    {/* The script sets the cookie; without it the page has the theme of the system. */}
    <fieldset class="theme" id="theme">
      <legend>Theme</legend>
      {themes.map((one) => (
        <label>
          <input type="radio" class="unseen" name="theme" value={one} checked={one === theme} />
          <Icon name={icons[one]} /> {one}
        </label>
      ))}
    </fieldset>
    <p class="dim small" id="zone">
      Times are in UTC.
    </p>
    <button type="button" class="quiet" data-opens="help">
      <Icon name="keyboard" /> Keyboard shortcuts <kbd>?</kbd>
    </button>
    <form method="post" action="/sign-out">
      <button type="submit" class="quiet">
        <Icon name="log-out" /> Sign out
      </button>
    </form>
  </div>
);

const themes = ['light', 'dark', 'system'] as const;
export type Theme = (typeof themes)[number];

/** The theme that the reader chose; `client/live.ts` sets the cookie, so that a page has it from the beginning. */
export const themeOf = (c: Exchange): Theme =>
  themes.find((one) => one === getCookie(c, 'caretaker_theme')) ?? 'system';
