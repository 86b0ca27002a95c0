/**
 * `select.where`: a condition in CEL over one candidate and the moment of planning, checked when it is loaded.
 *
 * Candidates come from the service, which may leave things out, so every declared field has a value of its kind: a
 * missing or null text is "", a number 0, a flag false, a list empty, and a moment that never was is 1970-01-01.
 * `site.sync.last_sync_at < now - duration("20h")` therefore takes a site that was never synced. Numbers compare
 * and calculate with whole numbers; fields that the specification does not describe are not there.
 */

import { RE2JS } from '@bufbuild/re2';
import { Environment, EvaluationError, ParseError, TypeError as TypeFault } from '@marcbachmann/cel-js';
import { type FieldTree, fieldsOfItem } from '../contract/fields.ts';
import { CaretakerError, messageOf } from '../errors.ts';
import { type CandidateList, candidateLists, candidatesOf } from '../job/candidates.ts';
import type { AnyJob } from '../job/job.ts';
import { explain } from './where-errors.ts';
import { refuse } from './where-rules.ts';
import { declareVariables } from './where-types.ts';

/** A condition cannot be used: it is written wrongly, or it failed on a candidate. */
export class WhereError extends CaretakerError {
  readonly code = 'INVALID_WHERE';
  /** How many characters into the condition the mistake stands, where that is known. */
  readonly offset: number | undefined;
  readonly suggestion: string | undefined;

  constructor(
    fault: { message: string; offset?: number | undefined; suggestion?: string | undefined },
    options?: ErrorOptions,
  ) {
    super(fault.message, options);
    this.offset = fault.offset;
    this.suggestion = fault.suggestion;
  }
}

export interface Where {
  /**
   * Whether the condition holds for these items of the service, by the names of their variables.
   *
   * @throws {WhereError} when it cannot be answered, as with `site.tags[0]` of a site without tags.
   */
  test(items: Readonly<Record<string, unknown>>, now: Date): boolean;
}

const longest = 4000;
const limits = {
  maxAstNodes: 500,
  maxDepth: 50,
  maxListElements: 200,
  maxMapEntries: 50,
  maxCallArguments: 10,
};

/** The variables of a condition besides `now`, with their fields; the first is what it is about. */
export type Variables = Readonly<Record<string, FieldTree>>;

/**
 * Compiles a condition over these variables and `now`.
 *
 * @throws {WhereError} when it is no CEL, names what is not there, mixes kinds or is not true or false.
 */
export function compileWhere(source: string, variables: Variables): Where {
  if (source.length > longest) {
    throw new WhereError({ message: `The condition is longer than ${longest} characters.` });
  }
  const environment = new Environment({ unlistedVariablesAreDyn: false, limits });
  const read = declareVariables(environment, variables);
  environment.registerVariable('now', 'google.protobuf.Timestamp');
  environment.registerFunction('string.re(string): bool', cachedRe());

  const condition = parsed(environment, source, variables);
  return {
    test(items, now) {
      try {
        return condition({ ...read(items), now }) === true;
      } catch (error) {
        const why = error instanceof EvaluationError ? error.summary : messageOf(error);
        const offset = error instanceof EvaluationError ? error.range?.start : undefined;
        const message = `The condition could not be answered for a ${Object.keys(variables)[0]}: ${why}.`;
        throw new WhereError({ message, offset }, { cause: error });
      }
    },
  };
}

/** Compiles a condition over the candidates that a policy selects for a job. Throws as `compileWhere` does. */
export function compileWhereOf(job: AnyJob, select: { from?: CandidateList }, source: string): Where {
  const lists = [candidatesOf(job, select), ...(job.related ?? [])];
  return compileWhere(
    source,
    Object.fromEntries(lists.map((list) => [candidateLists[list], fieldsOfItem(list)])),
  );
}

function parsed(environment: Environment, source: string, variables: Variables) {
  try {
    const condition = environment.parse(source);
    const refused = refuse(condition.ast, environment);
    if (refused) throw new WhereError(refused);
    const { error, type } = condition.check();
    if (error) throw error;
    if (type === 'bool') return condition;
    throw new WhereError({ message: `The condition is to be true or false, but it is ${type}.`, offset: 0 });
  } catch (error) {
    if (error instanceof ParseError || error instanceof TypeFault) {
      throw new WhereError(explain(error, variables), { cause: error });
    }
    throw error;
  }
}

/** Regular expressions are compiled once; a pattern that is made per candidate must not fill the memory. */
function cachedRe(): (text: string, pattern: string) => boolean {
  const compiled = new Map<string, RE2JS>();
  return (text, pattern) => {
    let expression = compiled.get(pattern);
    if (!expression) {
      if (compiled.size >= 50) compiled.clear();
      expression = RE2JS.compile(pattern);
      compiled.set(pattern, expression);
    }
    return expression.test(text);
  };
}
