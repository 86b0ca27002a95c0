/**
 * The choice of an account is in the address of pages that show one account alone. A page about one thing has none:
 * there the links of the sidebar keep the last choice of this tab.
 */
const KEY = 'caretaker-account';

export function followAccount(): void {
  const { account } = document.body.dataset;
  if (account !== undefined) {
    sessionStorage.setItem(KEY, account);
    return;
  }
  const kept = sessionStorage.getItem(KEY);
  if (!kept) return;
  for (const link of document.querySelectorAll<HTMLAnchorElement>('nav a[data-by-account]')) {
    const url = new URL(link.href);
    url.searchParams.set('account', kept);
    link.href = url.href;
  }
}
