/** Acknowledges findings: a person knows of them, so they do not count until a time, or until they are resolved. */
import { z } from 'zod';
import { fieldOf, type KnownFinding } from '../../records/finding-indexes.ts';
import type { FindingPolicy } from '../../records/open-findings-store.ts';
import { type BaseDeps, defineCommand } from '../command.ts';
import { NotFoundError } from '../errors.ts';
import { endOf, policyName, until } from '../fields.ts';
import { FindingReport, toFindingReport } from '../finding-report.ts';
import { findingsOfSite, type ListedFinding } from '../findings.ts';

const names = {
  policy: policyName,
  account: z.string().min(1).default('default'),
  site: z.string().min(1).describe('The id of the site or other target that the findings are on.'),
  about: z.string().min(1).optional().describe('Only the finding about this. Default: all on the site.'),
};

type Names = { policy: string; account: string; site: string; about?: string | undefined };

const subjectOf = ({ policy, account, site, about }: Names) => ({
  policy,
  account,
  detail: about === undefined ? site : `${about} on ${site}`,
});

/** @throws {NotFoundError} when there is none. */
async function openOn(
  { policy, account, site, about }: Names,
  { records }: BaseDeps,
): Promise<KnownFinding[]> {
  const open = await records.openFindings.ofSite({ account, policy }, site);
  const found = open.filter((one) => about === undefined || one.about === about);
  if (found.length > 0) return found;
  const what = about === undefined ? 'no open finding' : `no open finding about "${about}"`;
  throw new NotFoundError(
    `The policy ${policy} has ${what} on ${site} in the account ${account}. "caretaker findings" lists them.`,
  );
}

/** The acknowledgements of findings that are open as they were then: those of resolved ones are forgotten. */
async function stillCounting(of: FindingPolicy, { records, clock }: BaseDeps) {
  const known = await records.acknowledgements.of(of, clock.now());
  const open = await records.openFindings.some(of, [...known.keys()]);
  const since = new Map(open.map((one) => [fieldOf(one), one.since]));
  return new Map([...known].filter(([field, one]) => since.get(field) === one.since));
}

/** The findings as they are after the change. */
async function now(
  { policy, account, site }: Names,
  { records, clock }: BaseDeps,
  changed: readonly KnownFinding[],
): Promise<ListedFinding[]> {
  const sees = (of: FindingPolicy) => of.policy === policy && of.account === account;
  const all = await findingsOfSite(records, account, site, { now: clock.now(), sees });
  const about = new Set(changed.map((one) => `${one.target}\n${one.about}`));
  return all.filter((one) => about.has(`${one.target}\n${one.about}`));
}

const answer = z.object({ findings: z.array(FindingReport) });
const toAnswer = (findings: readonly ListedFinding[]) => ({ findings: findings.map(toFindingReport) });

export const acknowledgeFindings = defineCommand()({
  name: 'findings.acknowledge',
  summary:
    'Acknowledges the open findings of a policy on a site: they do not count until a time, or until they are resolved.',
  role: 'operator',
  path: '/policies/{policy}/findings/acknowledge',
  input: z.strictObject({
    ...names,
    until: until.optional(),
    reason: z.string().trim().min(1).max(200).describe('Why, for everyone who sees the finding.'),
  }),
  subject: subjectOf,
  async carryOut({ until: end, reason, ...input }, deps, { at, by }) {
    const { records } = deps;
    const of = { account: input.account, policy: input.policy };
    const ends = end === undefined ? {} : { until: endOf(end, at) };
    const found = await openOn(input, deps);
    const before = await stillCounting(of, deps);
    await records.acknowledgements.add(of, found, { at, by: by.principal.name, reason, ...ends }, before);
    return now(input, deps, found);
  },
  answer,
  toAnswer,
});

export const unacknowledgeFindings = defineCommand()({
  name: 'findings.unacknowledge',
  summary: 'Ends the acknowledgement of the open findings of a policy on a site: they count again.',
  role: 'operator',
  path: '/policies/{policy}/findings/unacknowledge',
  input: z.strictObject({ ...names, reason: z.string().trim().max(200).optional() }),
  subject: subjectOf,
  async carryOut({ reason: _reason, ...input }, deps) {
    const found = await openOn(input, deps);
    await deps.records.acknowledgements.end({ account: input.account, policy: input.policy }, found);
    return now(input, deps, found);
  },
  answer,
  toAnswer,
});
