/**
 * Where the candidates of a policy come from: a list of the account, or one list for each item of another (the
 * notes of each site), or the account itself; and the lists that are joined to it.
 */
import type { List } from '../contract/list.ts';
import { type Item, operationOf } from '../contract/operations.ts';
import type { FieldTree, Variables } from '../expression/fields.ts';
import { compileMatch, type Match } from '../expression/match.ts';
import {
  type CandidateList,
  type CandidateSource,
  candidateLists,
  isList,
  ownParameter,
  singleViewOf,
  subjectOf,
} from './candidates.ts';
import { fieldsOfCandidate, fieldsOfItem, fieldsOfView, listOfItems } from './fields.ts';

/** The part of `select` that says where candidates come from. */
export interface Selected {
  from?: CandidateSource;
  forEach?: { list: CandidateList };
  join?: Readonly<Record<string, { list: CandidateList; on: string }>>;
}

/** A list of which some items belong to each candidate. */
export interface Join {
  /** The variable that holds a candidate's partners. */
  name: string;
  list: CandidateList;
  match: Match;
}

export interface Source {
  /** The list whose items are the candidates, or what the account has only one of. */
  from: CandidateSource;
  /** What a candidate is called in expressions: `note`. */
  subject: string;
  /** The list whose items each have such a list, and what one of them is called. */
  parent?: { list: CandidateList; subject: string };
  joins: readonly Join[];
  /** What expressions may use in addition to `now`; the first is the subject. */
  variables: Variables;
  /** The path parameters that name a candidate, and the expressions that give them. */
  parameters: readonly { name: string; source: string }[];
}

/**
 * The source of a policy's candidates. For a job with a list of its own it is that list; for a job that works on
 * any, the policy names it. The policy loader checks that it does.
 *
 * @throws {ExpressionError} when the condition of a join is not valid. That is checked when the policy is loaded.
 */
export function sourceOf(
  job: { candidates: CandidateList | 'any'; related?: readonly CandidateList[] },
  select: Selected,
): Source {
  const from = candidatesOf(job, select);
  const { forEach } = select;
  const own = Object.fromEntries(
    [from, ...(forEach ? [forEach.list] : [])].map((one) => [subjectOf(one), fieldsOfSource(one)]),
  );
  const related = (job.related ?? []).map((list) => [candidateLists[list], fieldsOfItem(list)] as const);
  const joins = Object.entries(select.join ?? {}).map(([name, { list, on }]) => ({
    name,
    list,
    match: compileMatch(on, own, candidateLists[list], fieldsOfItem(list)),
  }));
  const joined = joins.map(
    ({ name, list, match }) => [name, match.isSingle ? fieldsOfItem(list) : listOfItems(list)] as const,
  );
  return {
    from,
    subject: subjectOf(from),
    ...(forEach ? { parent: { list: forEach.list, subject: candidateLists[forEach.list] } } : {}),
    joins,
    variables: { ...own, ...Object.fromEntries([...related, ...joined]) },
    parameters: [...(forEach ? [forEach.list] : []), ...(isList(from) ? [from] : [])].flatMap((list) => {
      const name = ownParameter(list);
      return name === undefined ? [] : [{ name, source: `${candidateLists[list]}.id` }];
    }),
  };
}

/** The list whose items are the candidates, or what the account has only one of. */
export const candidatesOf = (
  { candidates }: { candidates: CandidateList | 'any' },
  { from }: { from?: CandidateSource },
): CandidateSource => (candidates === 'any' ? (from ?? 'listSites') : candidates);

/** Filters, sorts and pages of where candidates come from; undefined for what the account has only one of. */
export const listDeclared = (from: CandidateSource): List | undefined =>
  isList(from) ? operationOf(from).list : undefined;

/** The fields of the subject, for suggestions. */
export const subjectFields = ({ from }: Source): FieldTree => fieldsOfSource(from);

const text = { kind: 'string', nullable: false, optional: false } as const;
/** What expressions may ask of the account itself. */
const accountFields: FieldTree = { name: text };

/** The fields of a candidate; of an item of a list, those of its single view too. */
export function fieldsOfSource(from: CandidateSource): FieldTree {
  if (isList(from)) return fieldsOfCandidate(from, singleViewOf(from)?.operation);
  return from === 'account' ? accountFields : fieldsOfView(from);
}

// The site that an item is or belongs to: there it is written what was done (`record:`).

type From = Pick<Source, 'from' | 'parent'>;

type SiteOf = { readonly [List in CandidateList]?: (item: Item<List>) => string | undefined };

const lists: SiteOf = {
  listSites: ({ id }) => id,
  listStagingSites: ({ site_id }) => site_id,
  listReports: ({ site }) => site?.id,
  listScheduledReports: ({ site }) => site?.id,
};

const siteOf = (from: CandidateSource) => (isList(from) ? lists[from] : undefined);

/** Whether the candidates of a source are sites, or belong to one. */
export const haveSite = ({ from, parent }: From): boolean =>
  parent ? parent.list === 'listSites' : siteOf(from) !== undefined;

/** The site of an item; undefined when it has none, or does not show it. `parent`: the item of `for_each`. */
export function siteOfItem(source: From, item: unknown, parent: string | undefined): string | undefined {
  if (source.parent) return haveSite(source) ? parent : undefined;
  return siteOf(source.from)?.(item as never);
}
