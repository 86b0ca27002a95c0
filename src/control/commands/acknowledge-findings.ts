/** Acknowledges findings: a person knows of them, so they do not count until a time, or until they are resolved. */
import { z } from 'zod';
import { MAX_OF_POLICY } from '../../records/acknowledgement-store.ts';
import { fieldOf, type KnownFinding } from '../../records/finding-indexes.ts';
import type { FindingPolicy } from '../../records/open-findings-store.ts';
import { countOf } from '../../text.ts';
import { type BaseDeps, defineCommand } from '../command.ts';
import { InvalidRequestError, NotFoundError } from '../errors.ts';
import { endOf, policyName, until } from '../fields.ts';
import { type ListedFinding, standingOf } from '../findings.ts';
import { FindingReport, toFindingReport } from './list-findings.ts';

const names = {
  policy: policyName,
  account: z.string().min(1).default('default'),
  site: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The id of the site or other target that the findings are on. Without it, `findings` is needed.',
    ),
  about: z.string().min(1).optional().describe('Only the finding about this. Default: all on the site.'),
  findings: z
    .array(z.strictObject({ target: z.string().min(1), about: z.string().min(1) }))
    .min(1)
    .max(MAX_OF_POLICY)
    .optional()
    .describe(
      'In place of `site`: these findings, as the list shows them. Those that are resolved are left out.',
    ),
};

interface Names {
  policy: string;
  account: string;
  site?: string | undefined;
  about?: string | undefined;
  findings?: { target: string; about: string }[] | undefined;
}

function subjectOf({ policy, account, site, about, findings }: Names) {
  if (!findings === (site === undefined))
    throw new InvalidRequestError('Either a site is needed, or a list of findings.');
  const on = site ?? countOf(findings?.length ?? 0, 'finding');
  return { policy, account, detail: about === undefined ? on : `${about} on ${on}` };
}

/** @throws {NotFoundError} when there is none. */
async function openOn(
  { policy, account, site, about, findings }: Names,
  { records }: BaseDeps,
): Promise<KnownFinding[]> {
  const of = { account, policy };
  const open =
    site === undefined
      ? await records.openFindings.some(of, (findings ?? []).map(fieldOf))
      : await records.openFindings.ofSite(of, site);
  const found = open.filter((one) => about === undefined || one.about === about);
  if (found.length > 0) return found;
  if (site === undefined)
    throw new NotFoundError(
      `None of these findings of ${policy} in the account ${account} is open any more.`,
    );
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
  { policy, account }: Names,
  { records, clock }: BaseDeps,
  changed: readonly KnownFinding[],
): Promise<ListedFinding[]> {
  const of = { account, policy };
  const known = await records.acknowledgements.of(of, clock.now());
  const open = await records.openFindings.some(of, changed.map(fieldOf));
  return open.map((one) => ({ ...one, ...of, ...standingOf(one, known, clock.now()) }));
}

const answer = z.object({ findings: z.array(FindingReport) });
const toAnswer = (findings: readonly ListedFinding[]) => ({ findings: findings.map(toFindingReport) });

export const acknowledgeFindings = defineCommand()({
  name: 'findings.acknowledge',
  summary:
    'Acknowledges open findings of a policy, those on a site or several: they do not count until a time, or until they are resolved.',
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
  summary:
    'Ends the acknowledgement of open findings of a policy, those on a site or several: they count again.',
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
