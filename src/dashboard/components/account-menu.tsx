/** The choice of an account in the top bar. It is a filter of the page, so the address holds it. */
import { Icon } from './icon.tsx';

/** The parameter of the address. */
const ACCOUNT = 'account';

/** The account that a page is asked to show alone. */
export const accountIn = (query: (name: string) => string | undefined): string | undefined =>
  query(ACCOUNT)?.trim().slice(0, 200) || undefined;

export interface AccountChoice {
  /** Those that the reader may see. */
  accounts: readonly string[];
  chosen: string | undefined;
  /** The address of the page with another choice, on its first page. */
  pathOf(account: string | undefined): string;
}

/** How the addresses of a page are made: with its other filters, and without the place in the list. */
export function accountPath(url: URL, pagedBy: string | undefined, account: string | undefined): string {
  const parameters = new URLSearchParams(url.search);
  parameters.delete(ACCOUNT);
  if (pagedBy !== undefined) parameters.delete(pagedBy);
  if (account !== undefined) parameters.set(ACCOUNT, account);
  const text = parameters.toString();
  return text === '' ? url.pathname : `${url.pathname}?${text}`;
}

export const AccountButton = ({ choice: { chosen } }: { choice: AccountChoice }) => {
  const name = chosen ?? 'All accounts';
  return (
    <button
      type="button"
      class={chosen === undefined ? 'bare account' : 'bare account set'}
      popovertarget="account-menu"
      title={chosen === undefined ? name : `Only the account ${name}`}
      aria-label={`Account: ${name}`}
    >
      <Icon name="briefcase" />
      <span class="who" aria-hidden="true">
        {name}
      </span>
      <Icon name="chevron-down" />
    </button>
  );
};

export const AccountMenu = ({ choice: { accounts, chosen, pathOf } }: { choice: AccountChoice }) => (
  <nav class="panel menu" id="account-menu" popover="auto" aria-label="Account">
    {[undefined, ...accounts].map((one) => (
      <a href={pathOf(one)} {...(one === chosen ? { 'aria-current': 'true' } : {})}>
        <span class="cut">{one ?? 'All accounts'}</span>
        {one === chosen && <Icon name="check" />}
      </a>
    ))}
  </nav>
);
