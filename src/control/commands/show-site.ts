import { z } from 'zod';
import { isPermitted } from '../../access/principal.ts';
import { isoTime, isoTimeOrNull } from '../../clock.ts';
import { siteIdIn } from '../../job/candidates.ts';
import { SiteInRing } from '../../job/look.ts';
import type { Label } from '../../records/label-store.ts';
import { SiteFacts } from '../../records/site-store.ts';
import { defineCommand } from '../command.ts';
import { InvalidRequestError, NotFoundError } from '../errors.ts';
import { readSites } from '../site-readings.ts';
import { type SiteView, type SiteViewDeps, viewSite } from '../site-view.ts';
import { isSeenAccount } from '../sites.ts';
import { openTargetIndex } from '../target-index.ts';
import { FindingReport, toFindingReport } from './list-findings.ts';
import { runsOfTarget, TargetInRun, toTargetInRun } from './list-runs.ts';

const time = z.iso.datetime().nullable();

const SiteAnswer = z.object({
  account: z.string(),
  id: z.string(),
  label: z.string(),
  site: SiteFacts.nullable().describe(
    'What the service showed; null: the account did not have it, or was never read.',
  ),
  read_at: time.describe('When that was.'),
  not_newer: z.string().nullable().describe('Why it was not read again.'),
  freezes: z.array(z.string()).describe('The active freezes that concern it, a sentence each.'),
  policies: z
    .array(
      z.object({
        policy: z.string(),
        plan: z
          .string()
          .nullable()
          .describe('What its last plan that a person made does with the site, or why nothing.'),
        planned_at: time,
        next: time.describe('When it runs next.'),
        skipped: z.string().nullable().describe('Why that run will be skipped.'),
        ring: SiteInRing.nullable().describe('Its ring, and the versions that it took, newest first.'),
      }),
    )
    .describe('The policies that have worked on it, or whose last plan has it.'),
  findings: z.array(FindingReport).describe('Its open findings, of all policies, and those of its items.'),
  runs: z
    .array(TargetInRun)
    .describe('Its results, and those of its items, in their last twenty runs, newest first.'),
});

/** How many targets that match are looked at. */
const MAX_LOOKED = 200;
/** How many sites are named when several match. */
const MAX_NAMED = 10;

/** An address as people write it: `https://A.example/` is `a.example`. */
const addressOf = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/\/+$/, '');

/** Of the first list with a target that is seen, those that are. */
async function firstSeen(
  lists: readonly (Label[] | undefined)[],
  isSeen: (one: Label) => Promise<boolean>,
): Promise<Label[]> {
  for (const list of lists) {
    const some = (list ?? []).slice(0, MAX_LOOKED);
    const areSeen = await Promise.all(some.map(isSeen));
    const seen = some.filter((_, at) => areSeen[at]);
    if (seen.length > 0) return seen;
  }
  return [];
}

/** The one site that the words mean: an id, else an address, else what has them as a part. */
async function siteNamed(
  words: string,
  listed: readonly Label[],
  isSeen: (one: Label) => Promise<boolean>,
): Promise<Label> {
  const wanted = addressOf(words);
  const [ids, addresses, parts]: Label[][] = [[], [], []];
  for (const one of listed) {
    const address = addressOf(one.label);
    if (one.target === words) ids?.push(one);
    else if (address === wanted) addresses?.push(one);
    else if (address.includes(wanted) || one.target.includes(words)) parts?.push(one);
  }
  const found = await firstSeen([ids, addresses, parts], isSeen);
  // A site is named by its own label, where it is among them.
  const isItem = (one: Label) => siteIdIn(one.target) !== one.target;
  const sites = new Map(
    [...found.filter(isItem), ...found.filter((one) => !isItem(one))].map((one) => [
      `${one.account}\n${siteIdIn(one.target)}`,
      one,
    ]),
  );
  const [first] = sites.values();
  if (!first)
    throw new NotFoundError(`No site, and no target of a stored run, has "${words}" as its id or address.`);
  if (sites.size > 1) {
    const named = [...sites.values()].slice(0, MAX_NAMED).map((one) => `${one.label} (${one.target})`);
    const more = sites.size > MAX_NAMED ? ` and ${sites.size - MAX_NAMED} more` : '';
    throw new InvalidRequestError(`Several sites match "${words}": ${named.join(', ')}${more}. Give an id.`);
  }
  return first;
}

export const showSite = defineCommand<SiteViewDeps>()({
  name: 'sites.show',
  summary:
    'Shows a site by its id or address: what the service showed of it, its policies, open findings and last results.',
  role: 'viewer',
  reads: true,
  path: '/site',
  input: z.strictObject({
    site: z.string().trim().min(1).max(500).describe('Its id, its address, or a part of one.'),
    account: z.string().min(1).optional().describe('Only a site of this account.'),
  }),
  // The answer has what the grants cover.
  subject: () => undefined,
  async carryOut({ site: words, account }, deps, { by: { principal } }): Promise<SiteView> {
    const { records, clock } = deps;
    const accounts = Object.keys(deps.settings.accounts).filter(
      (one) => account === undefined || one === account,
    );
    await readSites(deps, accounts.filter(isSeenAccount(principal, deps.policies)));
    const { labels } = await openTargetIndex(records, clock).all([]);
    const isSeen = async (one: Label) =>
      isPermitted(principal, 'viewer', { account: one.account }) ||
      (await runsOfTarget(deps, one)).some(({ run }) => isPermitted(principal, 'viewer', run));
    const listed = labels.filter((one) => account === undefined || one.account === account);
    const named = await siteNamed(words, listed, isSeen);
    const view = await viewSite(deps, { account: named.account, id: siteIdIn(named.target) }, principal);
    if (!view) throw new NotFoundError(`The site "${words}" is no longer known.`);
    return view;
  },
  answer: SiteAnswer,
  toAnswer: ({ account, id, label, site, readAt, ...view }) => ({
    ...{ account, id, label, site: site ?? null },
    read_at: isoTimeOrNull(readAt),
    not_newer: view.notNewer ?? null,
    freezes: view.freezes,
    policies: view.policies.map(({ planned, next, ...one }) => ({
      policy: one.policy,
      plan: planned?.what ?? null,
      planned_at: planned ? isoTime(planned.at) : null,
      next: next?.at ?? null,
      skipped: next?.skipped ?? null,
      ring: one.ring ?? null,
    })),
    findings: view.findings.map(toFindingReport),
    runs: view.runs.map(toTargetInRun),
  }),
});
