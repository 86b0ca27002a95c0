/** The addresses of pages. */
import type { ListedFinding } from '../../control/findings.ts';
import { policyOfTarget } from '../../run/remarks.ts';

export const runPath = (id: string, more = ''): string => `/runs/${encodeURIComponent(id)}${more}`;
export const policyPath = (name: string, more = ''): string => `/policies/${encodeURIComponent(name)}${more}`;
/** The question about ending a freeze; a rule; `everything`. */
export const freezeEndPath = (id: string): string => `/freezes/${encodeURIComponent(id)}/end`;
/** The question about acknowledging a finding, or ending that. */
export const acknowledgePath = (
  {
    account,
    policy,
    site,
    target,
    about,
  }: Pick<ListedFinding, 'account' | 'policy' | 'site' | 'target' | 'about'>,
  what: 'acknowledge' | 'unacknowledge',
): string => {
  const of = new URLSearchParams({ policy, account, site: site ?? target, about });
  return `/findings/${what}?${of}`;
};
export const announcementPath = (id: string, more = ''): string =>
  `/announcements/${encodeURIComponent(id)}${more}`;
export const notificationPath = (id: string, more = ''): string =>
  `/notifications/${encodeURIComponent(id)}${more}`;
export const receiverPath = (name: string, more = ''): string =>
  `/receivers/${encodeURIComponent(name)}${more}`;
/** The page of a target; of what stands for a policy among the targets of findings, the page of the policy. */
export function targetPath(account: string, target: string, more = ''): string {
  const policy = policyOfTarget(target);
  return policy === undefined
    ? `/targets/${encodeURIComponent(account)}/${encodeURIComponent(target)}${more}`
    : policyPath(policy);
}

/**
 * A label without what all addresses have in common: `https://a.example/` is `a.example`. The title has the whole
 * label. A site without an address and a title has its id.
 */
export const siteName = (label: string, id: string): string =>
  label.trim().replace(/^https?:\/\/([^/]+)\/?$/, '$1') || id;
