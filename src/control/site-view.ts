/** Everything that is known of one site or other target: the same for its page, the command and the HTTP API. */
import { isPermitted, type Principal } from '../access/principal.ts';
import { idWithin, siteIdIn, targetOfSite } from '../job/candidates.ts';
import { SiteInRing } from '../job/look.ts';
import { type Freeze, formatFreeze, formatFrozen } from '../records/freeze-store.ts';
import type { Records } from '../records/records.ts';
import type { SiteFacts } from '../records/site-store.ts';
import type { Run, Target } from '../run/run.ts';
import { formatSkipCause } from '../schedule/skip-cause.ts';
import { upcomingRuns } from '../schedule/upcoming-runs.ts';
import { runsOfTarget } from './commands/list-runs.ts';
import { findingsOfSite, type ListedFinding } from './findings.ts';
import type { AllPolicies } from './policies.ts';
import { readSites, type SiteReadingDeps } from './site-readings.ts';
import { isCalled, isSeenAccount } from './sites.ts';
import { openTargetIndex } from './target-index.ts';

export type SiteViewDeps = SiteReadingDeps & Partial<AllPolicies>;
type Deps = SiteViewDeps & { records: Records; clock: { now(): number } };

export interface SiteView {
  account: string;
  id: string;
  label: string;
  /** What the service showed of the site, or of the site that the target belongs to. */
  site?: SiteFacts | undefined;
  /** When the sites of the account were read; missing while they never were. */
  readAt?: number | undefined;
  notNewer?: string | undefined;
  freezes: string[];
  policies: SitePolicy[];
  findings: ListedFinding[];
  /** Its results, and those of its items, newest first. */
  runs: { run: Run; target: Target }[];
}

export interface SitePolicy {
  policy: string;
  /** What its last plan that a person made, within a day, does with the site, or why nothing. */
  planned?: { at: number; what: string };
  next?: { at: string; skipped?: string };
  /** Its ring, and what it took, as the policy's last run saw it. */
  ring?: SiteInRing;
}

const DAY_MS = 86_400_000;
/** The next runs of policies are looked for this far ahead. */
const AHEAD_MS = 40 * DAY_MS;

/** Undefined for what the principal may not see, or no one knows. `also`: a run that is shown in any case. */
export async function viewSite(
  deps: Deps,
  { account, id, also }: { account: string; id: string; also?: string | undefined },
  by: Principal,
): Promise<SiteView | undefined> {
  const { records, clock, settings } = deps;
  const sees = (of: { policy: string; account: string }) => isPermitted(by, 'viewer', of);
  const isRead = Object.hasOwn(settings.accounts, account) && isSeenAccount(by, deps.policies)(account);
  const notNewer = (await readSites(deps, isRead ? [account] : [])).get(account);
  const { labels, readings } = await openTargetIndex(records, clock).all([]);
  const isItem = siteIdIn(id) !== id;
  const items = idWithin(id, '');
  const ofAccount = labels.filter(
    (one) => one.account === account && (one.target === id || (!isItem && one.target.startsWith(items))),
  );
  const parts = ofAccount.flatMap(({ target }) => (target === id ? [] : [target]));
  const found = await Promise.all(
    [id, ...(isItem ? [] : [targetOfSite(id)]), ...parts].map((target) =>
      runsOfTarget(deps, { account, target, also: target === id ? also : undefined }),
    ),
  );
  const runs = found.flat().filter(({ run }) => sees(run));
  const known = ofAccount.find(({ target }) => target === id);
  const isSeen = runs.length > 0 || (known?.site && isPermitted(by, 'viewer', { account }));
  if (!isSeen) return undefined;
  const siteId = known?.site?.id ?? runs.find(({ target }) => target.site)?.target.site ?? siteIdIn(id);
  const site = known?.site ?? labels.find((one) => one.account === account && one.target === siteId)?.site;
  const findings = await findingsOfSite(records, account, siteIdIn(id), { now: clock.now(), sees });
  return {
    ...{ account, id, notNewer, site, readAt: readings.get(account)?.at },
    label: known?.label ?? runs[0]?.target.label ?? id,
    freezes: (await records.freeze.active(clock.now()))
      .filter((one) => freezes(one, account, site))
      .map(sayFreeze),
    policies: await policiesOf(deps, { account, id, runs }, sees),
    findings: isItem ? findings.filter(({ target }) => target === id) : findings,
    runs: runs.sort((a, b) => b.run.createdAt - a.run.createdAt),
  };
}

const sayFreeze = (freeze: Freeze): string => `${formatFrozen(freeze)}: ${formatFreeze(freeze)}`;

/** Whether a freeze concerns the site, or some of the policies that work on it. */
const freezes = ({ scope }: Freeze, account: string, site: SiteFacts | undefined) =>
  scope === undefined ||
  ((scope.account === undefined || scope.account === account) &&
    (scope.client === undefined || (site?.client && isCalled(scope.client)(site.client))) &&
    (scope.tag === undefined || site?.tags?.some(isCalled(scope.tag))));

/** The policies of the account that have worked on it, or whose last plan has it. Costs no request. */
async function policiesOf(
  { records, clock, policies }: Deps,
  of: Pick<SiteView, 'account' | 'id' | 'runs'>,
  sees: (of: { policy: string; account: string }) => boolean,
): Promise<SitePolicy[]> {
  const { account, id, runs } = of;
  const all = policies?.() ?? [];
  const own = all.filter((one) => one.account === account && sees({ policy: one.name, account }));
  if (own.length === 0) return [];
  const found = await Promise.all(
    own.map(async ({ name: policy, hash }) => {
      const plan = await records.previews.last(policy);
      const { targets = [], settled = [], excluded = [] } = plan?.hash === hash ? plan : {};
      const is = (one: { id: string }) => siteIdIn(one.id) === id;
      const ring = SiteInRing.safeParse(await records.looks.ofSite(account, policy, id)).data;
      const what = targets.find(is)?.does ?? settled.find(is)?.why ?? excluded.find(is)?.why;
      const isOf = what !== undefined || ring || runs.some(({ run }) => run.policy === policy);
      const planned = plan && what !== undefined && { planned: { at: plan.at, what } };
      return isOf ? [{ policy, ...(ring && { ring }), ...planned }] : [];
    }),
  );
  const listed = new Map<string, SitePolicy>(found.flat().map((one) => [one.policy, one]));
  const now = clock.now();
  const upcoming = upcomingRuns(all, await records.policies.many(all), {
    ...{ now, until: now + AHEAD_MS, limit: 1, isWanted: ({ name }) => listed.has(name) },
  });
  return [...listed.values()].map((one): SitePolicy => {
    const next = upcoming.runs.find(({ policy }) => policy === one.policy);
    const at = next?.fires_at ?? next?.not_before;
    const { why, note } = next?.skipped ?? {};
    if (!at) return one;
    return {
      ...one,
      next: { at, ...(why && { skipped: formatSkipCause({ why, ...(note && { note }) }) }) },
    };
  });
}
