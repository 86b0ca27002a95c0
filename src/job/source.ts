/**
 * Where the candidates of a policy come from: a list of the account, or one list for each item of another (the
 * notes of each site).
 */
import type { FieldTree, Variables } from '../expression/fields.ts';
import { type CandidateList, candidateLists, ownParameter } from './candidates.ts';
import { fieldsOfItem } from './fields.ts';

/** The part of `select` that says where candidates come from. */
export interface Selected {
  from?: CandidateList;
  forEach?: { list: CandidateList };
}

export interface Source {
  /** The list whose items are the candidates. */
  from: CandidateList;
  /** Its items' name in expressions: `note`. */
  subject: string;
  /** The list whose items each have such a list, and what one of them is called. */
  parent?: { list: CandidateList; subject: string };
  /** What expressions may use besides `now`; the first is the subject. */
  variables: Variables;
  /** The path parameters that name a candidate, and the expressions that give them. */
  parameters: readonly { name: string; source: string }[];
}

/**
 * The source of a policy's candidates. For a job with a list of its own it is that list; for a job that works on
 * any, the policy names it. The policy loader checks that it does.
 */
export function sourceOf(
  job: { candidates: CandidateList | 'any'; related?: readonly CandidateList[] },
  select: Selected,
): Source {
  const from = candidatesOf(job, select);
  const { forEach } = select;
  const lists = [from, ...(forEach ? [forEach.list] : []), ...(job.related ?? [])];
  return {
    from,
    subject: candidateLists[from],
    ...(forEach ? { parent: { list: forEach.list, subject: candidateLists[forEach.list] } } : {}),
    variables: Object.fromEntries(lists.map((list) => [candidateLists[list], fieldsOfItem(list)])),
    parameters: [...(forEach ? [forEach.list] : []), from].flatMap((list) => {
      const name = ownParameter(list);
      return name === undefined ? [] : [{ name, source: `${candidateLists[list]}.id` }];
    }),
  };
}

/** The list whose items are the candidates. */
export const candidatesOf = (
  { candidates }: { candidates: CandidateList | 'any' },
  { from }: { from?: CandidateList },
): CandidateList => (candidates === 'any' ? (from ?? 'listSites') : candidates);

/** The fields of the subject, for suggestions. */
export const subjectFields = ({ from }: Source): FieldTree => fieldsOfItem(from);
