/**
 * `select.where`: a CEL condition over one candidate, related items, and the time of planning.
 */

import {
  compileExpression,
  type Expression,
  ExpressionError,
  type Variables,
} from '../expression/expression.ts';
import type { NeverHolds } from '../expression/never-holds.ts';
import type { Requirement } from '../expression/required.ts';
import { type CandidateList, candidateLists } from '../job/candidates.ts';
import type { AnyJob } from '../job/job.ts';
import { fieldsOfSource, type Selected, sourceOf } from '../job/source.ts';
import { type Reference, referredBy } from './referred.ts';

export interface Where {
  /**
   * Whether the condition holds for these items of the service, by the names of their variables.
   *
   * @throws {ExpressionError} when it cannot be answered, as with `site.tags[0].name == ""` of a site without
   * tags.
   * @throws {NotShownError} when the answer depends on a field that the service did not show.
   */
  test(items: Readonly<Record<string, unknown>>, now: Date): boolean;
  /** What it names in the account: tags, clients, ... by their ids and names. */
  references(): Reference[];
  /** Why no candidate can meet the condition; undefined when one may. */
  never: NeverHolds | undefined;
  /** What is true of every candidate for which the condition holds. */
  required: readonly Requirement[];
  /** The time of a requirement; undefined when it cannot be calculated. */
  timeOf(requirement: { time: string }, now: Date): number | undefined;
}

/**
 * Compiles a condition over these variables and `now`.
 *
 * @throws {ExpressionError} when it is not valid CEL, uses unknown names or incompatible types, or is no
 * boolean.
 */
export function compileWhere(source: string, variables: Variables): Where {
  const condition = compileExpression(source, variables, 'condition');
  if (condition.type !== 'bool') {
    const message = `The condition is to be true or false, but it is ${condition.type}.`;
    throw new ExpressionError({ message, offset: 0 });
  }
  if (condition.isConstant && condition.of({}, new Date()) !== true) {
    const message = 'The condition never holds: it asks nothing of the candidate.';
    throw new ExpressionError({ message, offset: 0 });
  }
  return {
    test: (items, now) => condition.of(items, now) === true,
    references: () => referencesIn(condition, variables),
    never: condition.neverHolds(),
    required: condition.requirements(),
    timeOf({ time }, at) {
      try {
        return Date.parse(String(compileExpression(time, variables).of({}, at)));
      } catch (error) {
        if (error instanceof ExpressionError) return undefined;
        throw error;
      }
    },
  };
}

/** What an expression over these variables names in the account. */
export function referencesIn(expression: Expression, variables: Variables): Reference[] {
  const referred = referredBy(variables);
  return expression.compared().flatMap((one) => {
    const of = referred.get(one.field);
    return of ? [{ ...one, ...of }] : [];
  });
}

/**
 * Compiles a condition over the candidates that a policy selects for a job. Throws as `compileWhere` does.
 */
export const compileWhereOf = (job: AnyJob, select: Selected, source: string): Where =>
  compileWhere(source, sourceOf(job, select).variables);

/** Compiles the condition over the items of `for_each`. Throws as `compileWhere` does. */
export const compileParentWhere = (list: CandidateList, source: string): Where =>
  compileWhere(source, { [candidateLists[list]]: fieldsOfSource(list) });
