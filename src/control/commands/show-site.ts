import { z } from 'zod';
import { isPermitted } from '../../access/principal.ts';
import { parentIdIn } from '../../job/candidates.ts';
import type { Label } from '../../records/label-store.ts';
import type { Records } from '../../records/records.ts';
import type { Run, Target } from '../../run/run.ts';
import { defineCommand } from '../command.ts';
import { InvalidRequestError, NotFoundError } from '../errors.ts';
import { FindingReport, toFindingReport } from '../finding-report.ts';
import { findingsOfSite } from '../findings.ts';
import { runsOfTarget, TargetInRun, toTargetInRun } from './list-runs.ts';

const SiteAnswer = z.object({
  account: z.string(),
  id: z.string(),
  label: z.string(),
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

/** What the words mean: an id, else an address, else what has them as a part. With its items, such as plugins. */
async function targetsNamed(
  { labels }: Pick<Records, 'labels'>,
  words: string,
  isListed: (one: Label) => boolean,
  isSeen: (one: Label) => Promise<boolean>,
): Promise<Label[]> {
  const wanted = addressOf(words);
  const [ids, addresses, parts, all]: Label[][] = [[], [], [], []];
  for await (const page of labels.pages())
    for (const one of page.filter(isListed)) {
      all?.push(one);
      const address = addressOf(one.label);
      if (one.target === words) ids?.push(one);
      else if (address === wanted) addresses?.push(one);
      else if (address.includes(wanted) || one.target.includes(words)) parts?.push(one);
    }
  const found = await firstSeen([ids, addresses, parts], isSeen);
  const site = (one: Label) => `${one.account}\n${parentIdIn(one.target) ?? one.target}`;
  // A site is named by its own label, where it is among them.
  const isItem = (one: Label) => parentIdIn(one.target) !== undefined;
  const sites = new Map(
    [...found.filter(isItem), ...found.filter((one) => !isItem(one))].map((one) => [site(one), one]),
  );
  const [first] = sites.values();
  if (!first)
    throw new NotFoundError(`No stored run has worked on a site with "${words}" as its id or address.`);
  if (sites.size > 1) {
    const named = [...sites.values()].slice(0, MAX_NAMED).map((one) => `${one.label} (${one.target})`);
    const more = sites.size > MAX_NAMED ? ` and ${sites.size - MAX_NAMED} more` : '';
    throw new InvalidRequestError(`Several sites match "${words}": ${named.join(', ')}${more}. Give an id.`);
  }
  return (all ?? []).filter((one) => site(one) === site(first));
}

interface Found {
  site: Label;
  findings: Awaited<ReturnType<typeof findingsOfSite>>;
  runs: { run: Run; target: Target }[];
}

export const showSite = defineCommand()({
  name: 'sites.show',
  summary: 'Shows a site by its id or address: its open findings, and its results in the last runs.',
  role: 'viewer',
  reads: true,
  path: '/site',
  input: z.strictObject({
    site: z.string().trim().min(1).max(500).describe('Its id, its address, or a part of one.'),
    account: z.string().min(1).optional().describe('Only a site of this account.'),
  }),
  // The answer has what the grants cover.
  subject: () => undefined,
  async carryOut({ site: words, account }, deps, { by: { principal } }): Promise<Found> {
    const { records, clock } = deps;
    const sees = (of: { policy: string; account: string }) => isPermitted(principal, 'viewer', of);
    const isListed = (one: Label) => account === undefined || one.account === account;
    const isSeen = async (one: Label) =>
      isPermitted(principal, 'viewer', { account: one.account }) ||
      (await runsOfTarget(deps, one)).some(({ run }) => sees(run));
    const targets = await targetsNamed(records, words, isListed, isSeen);
    const runs = (await Promise.all(targets.map((one) => runsOfTarget(deps, one)))).flat();
    const seen = runs.filter(({ run }) => sees(run));
    const [first] = targets as [Label, ...Label[]];
    const id = parentIdIn(first.target) ?? first.target;
    const site = targets.find(({ target }) => target === id) ?? { ...first, target: id };
    const findings = await findingsOfSite(records, first.account, id, { now: clock.now(), sees });
    return { site, findings, runs: seen.sort((a, b) => b.run.createdAt - a.run.createdAt) };
  },
  answer: SiteAnswer,
  toAnswer: ({ site, findings, runs }) => ({
    account: site.account,
    id: site.target,
    label: site.label,
    findings: findings.map(toFindingReport),
    runs: runs.map(toTargetInRun),
  }),
});
