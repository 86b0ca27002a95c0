/**
 * Finds what a policy refers to and the account does not have, and an empty selection. The service answers a filter
 * with an unknown id with an empty list, and a condition with an unknown name just never holds: `!exists(...)` then
 * protects nothing. So such an error shows nowhere else. A name in place of an id is looked up before; see
 * `directory.ts`.
 *
 * Work that deletes or mails does not begin on such a policy. For any other it is a remark of the run, which becomes
 * an open finding.
 */
import { type Incomplete, refuseIncomplete, sayIncomplete } from '../../client/pages.ts';
import { type Kind, kindNames, kinds } from '../../contract/kinds.ts';
import { CaretakerError } from '../../errors.ts';
import type { CandidateSource } from '../../job/candidates.ts';
import type { AnyJob } from '../../job/job.ts';
import { candidatesOf } from '../../job/source.ts';
import { verifiedOperations } from '../../job/verify.ts';
import type { Policy } from '../../policy/policy.ts';
import { shownBy } from '../../policy/referred.ts';
import type { Remark } from '../../run/remarks.ts';
import { type Directory, lookUpNames, type Mention, UnknownNameError, withNames } from './directory.ts';
import { countMatching } from './listing.ts';
import { keyOf, type Mentions, mentionsIn } from './mentions.ts';
import { type Planning, takesAll } from './planning.ts';

type Filters = Policy['select']['filters'];

/** A policy that deletes or mails refers to something that the account does not have. */
export class UnknownReferenceError extends CaretakerError {
  readonly code = 'UNKNOWN_REFERENCE';
}

/** Whether a policy makes changes that cannot be undone: deletions, mails, migrations. */
export function isGrave(job: AnyJob, { options }: Pick<Policy, 'options'>): boolean {
  const operations = verifiedOperations(job, options);
  return operations === 'all' || operations.length > 0;
}

/**
 * A message for everything that a policy refers to and the account does not have. Costs one request per 100 tags,
 * clients, ... of each kind that it refers to, and one per id of a site.
 */
export async function unknownReferences(
  policy: Policy,
  job: AnyJob,
  directory: Directory,
): Promise<string[]> {
  try {
    const names = await lookUpNames(policy, job, directory);
    const messages: string[] = [];
    for (const mention of mentionsIn(withNames(policy, names), job).mentions)
      messages.push((await directory.whyUnknown(mention)) ?? '');
    return [...new Set(messages)].filter((message) => message !== '');
  } catch (error) {
    if (error instanceof UnknownNameError) return [error.message];
    throw error;
  }
}

/** What becomes of lists that are incomplete: work that deletes or mails does not begin, other work notes them. */
export const incompleteNoted =
  (isStrict: boolean, noted: Map<string, Incomplete>) =>
  (one: Incomplete): void => {
    if (isStrict) refuseIncomplete(one);
    noted.set(one.list, one);
  };

/** What a plan has seen of its lists. */
export interface Seen {
  candidates: number;
  parents: number;
  /** The keys of what was on no item. */
  unseen: readonly string[];
}

/** What a plan says of its policy. */
export interface Said {
  warnings: string[];
  /** What of it is a finding. */
  remarks: Remark[];
}

export class Selection {
  /** How many candidates were seen. */
  candidates: number;
  private parents: number;
  private isPushed = false;
  private readonly filters: Filters;
  private readonly mentions: Mentions;
  private unseen: Mention[];
  private readonly kind: Kind | undefined;
  private readonly parentKind: Kind | undefined;

  constructor(
    policy: Policy,
    job: AnyJob,
    private readonly directory: Directory,
    earlier?: Seen,
  ) {
    const { select } = policy;
    this.filters = select.filters;
    this.candidates = earlier?.candidates ?? 0;
    this.parents = earlier?.parents ?? 0;
    this.mentions = mentionsIn(policy, job);
    this.unseen = this.mentions.mentions.filter((one) => earlier?.unseen.includes(keyOf(one)) ?? true);
    const kindOf = (list: CandidateSource | undefined) => kindNames.find((kind) => kinds[kind].list === list);
    this.kind = kindOf(candidatesOf(job, select));
    this.parentKind = kindOf(select.forEach?.list);
  }

  get seen(): Seen {
    const { candidates, parents, unseen } = this;
    return { candidates, parents, unseen: unseen.map(keyOf) };
  }

  /** Notes a candidate that the list returned. */
  readonly see = (candidate: unknown): void => {
    this.candidates += 1;
    this.seeReferences(candidate, this.kind);
  };

  /** Notes that parts of the condition were sent as filters, so that not every candidate was seen. */
  readonly seePushed = (filters: readonly unknown[]): void => {
    this.isPushed = filters.length > 0;
  };

  /** Notes an item that the list of `for_each` returned. */
  readonly seeParent = (parent: unknown): void => {
    this.parents += 1;
    this.seeReferences(parent, this.parentKind);
  };

  private seeReferences(item: unknown, kind: Kind | undefined): void {
    if (this.unseen.length === 0) return;
    const shown = new Set([...shownBy(item, kind)].map((one) => keyOf({ ...one, how: 'is' })));
    this.unseen = this.unseen.filter((one) => !shown.has(keyOf(one)));
  }

  /**
   * For work that deletes or mails: checks everything that the policy refers to, before anything is listed. Costs one
   * request per 100 tags, clients, ... of each kind that it refers to, and one per id of a site.
   *
   * @throws {UnknownReferenceError} with a message for each that the account does not have.
   */
  async require(planning: Planning): Promise<void> {
    if (!isGrave(planning.job, planning.policy)) return;
    const asked = this.mentions.mentions.filter(({ inOptions }) => inOptions || !takesAll(planning));
    const unknown = await this.unknown(asked);
    if (unknown.length === 0) return;
    const messages = unknown.map(({ message }) => message);
    throw new UnknownReferenceError(
      `${messages.join(' ')} A policy that deletes or mails does not begin until that is corrected.`,
    );
  }

  /**
   * A message for each probable error in the selection. Costs nothing when every tag, client, ... is on a candidate,
   * else one request per 100 of a kind, and one per id of a site. When there is no candidate, one more may show
   * whether `select.where` excludes all of them.
   */
  async check(planning: Planning): Promise<Said> {
    if (planning.only) return { warnings: [], remarks: [] };
    const remarks = isGrave(planning.job, planning.policy) ? [] : await this.unknown(this.unseen);
    const warnings = [
      ...remarks.map(({ message }) => message),
      ...this.mentions.unseen.map(
        ({ kind, source, where }) =>
          `It is not known whether the account has each ${kinds[kind].noun} that ${where} refers to, because ${source} cannot be looked up.`,
      ),
    ];
    if (this.candidates > 0 || (this.isPushed && (await countMatching(planning)) > 0))
      return { warnings, remarks };
    return { warnings: [this.noCandidates(planning), ...warnings], remarks };
  }

  private noCandidates({ job, policy: { select } }: Planning): string {
    const { forEach } = select;
    const list = candidatesOf(job, select);
    if (!forEach) return noneIn(list, this.filters, 'select.filters');
    if (this.parents === 0) return noneIn(forEach.list, forEach.filters, 'select.for_each.filters');
    const matching = Object.keys(this.filters).length > 0 ? ' that matches select.filters' : '';
    return `No candidates: ${list} shows no item${matching} in any of the lists that were read.`;
  }

  /** A remark for each of these that the account does not have. */
  private async unknown(mentions: readonly Mention[]): Promise<Remark[]> {
    const remarks = new Map<string, Remark>();
    for (const mention of mentions) {
      const message = await this.directory.whyUnknown(mention);
      const { kind, text, where } = mention;
      const about = `${kinds[kind].noun} "${text}" (${where})`;
      if (message !== undefined) remarks.set(about, { is: 'reference', severity: 'warning', about, message });
    }
    return [...remarks.values()];
  }
}

const noneIn = (list: string, filters: Filters, key: string): string =>
  Object.keys(filters).length > 0
    ? `No candidates: ${list} has no item that matches ${key}.`
    : `No candidates: ${list} is empty.`;

/** The same with what is to be said of lists that are incomplete. */
export const withIncomplete = ({ warnings, remarks }: Said, lists: readonly Incomplete[]): Said => ({
  warnings: [...warnings, ...lists.map(sayIncomplete)],
  remarks: [
    ...remarks,
    ...lists.map(
      (one): Remark => ({
        ...{ is: 'list', severity: 'error', about: `list ${one.list}`, message: sayIncomplete(one) },
      }),
    ),
  ],
});
