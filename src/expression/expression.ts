/**
 * CEL over items of the service and a time, checked when it is loaded: conditions (`select.where`) and values
 * from a target.
 *
 * A null value becomes the empty value of its type: "" for a text, 0 for a number, false for a flag, an empty
 * list, and 1970-01-01 for a time. So `site.sync.last_sync_at < now - duration("20h")` selects a site that
 * was never synced. A field that the service does not show has no value, and neither has an expression that
 * depends on it. Numbers can be compared and calculated with whole numbers. Fields that the specification
 * does not describe do not exist.
 */

import { RE2JS } from '@bufbuild/re2';
import { Environment, EvaluationError, ParseError, TypeError as TypeFault } from '@marcbachmann/cel-js';
import { CaretakerError, messageOf } from '../errors.ts';
import { type Compared, comparedIn } from './compared.ts';
import { explain } from './errors.ts';
import { type FieldTree, ListOf, NotShownError, type Variables } from './fields.ts';
import { addAgo, addConversions } from './functions.ts';
import { type NeverHolds, neverHolds } from './never-holds.ts';
import { type Requirement, requirementsOf } from './required.ts';
import { findRefused, nodesIn, withHours } from './rules.ts';
import { declareVariables } from './types.ts';
import { impossibleValue, scopeOf } from './values.ts';

/** An expression cannot be used: it is invalid, or it failed on an item. */
export class ExpressionError extends CaretakerError {
  readonly code = 'INVALID_EXPRESSION';
  /** The position of the error in the expression, in characters, if known. */
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

export interface Expression {
  /** The type of the result in CEL: `string`, `bool`, `double`, `int`, `timestamp`, `list<string>`, ... */
  type: string;
  /** Whether the value is always the same: it depends neither on an item nor on the time. */
  isConstant: boolean;
  /** What the expression compares with fields of its variables. */
  compared(): Compared[];
  /** For a condition that no item can meet: the parts of it that say so. */
  neverHolds(): NeverHolds | undefined;
  /** What is true of the first variable of every item for which the expression, a condition, holds. */
  requirements(): Requirement[];
  /**
   * The value for these items of the service, by the names of their variables, as JSON; times are text.
   *
   * @throws {ExpressionError} when there is none, as with `site.tags[0].id` of a site without tags.
   * @throws {NotShownError} when it depends on a field that the service did not show.
   */
  of(items: Readonly<Record<string, unknown>>, now: Date): unknown;
}

const MAX_LENGTH = 4000;
const limits = {
  maxAstNodes: 500,
  maxDepth: 50,
  maxListElements: 200,
  maxMapEntries: 50,
  maxCallArguments: 10,
};

export type { Variables } from './fields.ts';

/**
 * Compiles an expression over these variables and `now`. `noun` is what messages call it.
 *
 * @throws {ExpressionError} when it is not valid CEL, uses an unknown name or mixes types.
 */
export function compileExpression(source: string, variables: Variables, noun = 'expression'): Expression {
  if (source.length > MAX_LENGTH) {
    throw new ExpressionError({ message: `The ${noun} is longer than ${MAX_LENGTH} characters.` });
  }
  const language = languageOf(variables);
  const key = `${noun} ${source}`;
  const compiled = language.compiled.get(key) ?? compile(source, variables, noun, language);
  if (language.compiled.size >= MAX_COMPILED) language.compiled.clear();
  language.compiled.set(key, compiled);
  return compiled;
}

function compile(
  source: string,
  variables: Variables,
  noun: string,
  { environment, read, clock }: Language,
): Expression {
  const { evaluate, type } = parsed(environment, source, variables, noun);
  return {
    compared: () => [...comparedIn(evaluate.ast, scopeOf(variables))],
    requirements() {
      const [[subject, fields] = ['', {}]] = Object.entries(variables);
      return fields instanceof ListOf ? [] : requirementsOf(evaluate.ast, subject, fields);
    },
    neverHolds: () => neverHolds(evaluate.ast, scopeOf(variables)),
    isConstant: ![...nodesIn(evaluate.ast)].some(({ op }) => op === 'id'),
    type: type
      .replace(/google\.protobuf\.(Timestamp|Duration)/g, (_, name: string) => name.toLowerCase())
      // The type of an object is named after its first place.
      .replace(/\b[a-z_]\w*(?:\.\w+)+/g, 'object'),
    of(items, now) {
      try {
        clock.now = now;
        return asJson(evaluate({ ...read(items), now }));
      } catch (error) {
        if (error instanceof NotShownError) throw error;
        const why = error instanceof EvaluationError ? error.summary : messageOf(error);
        const offset = error instanceof EvaluationError ? error.range?.start : undefined;
        const message = `The ${noun} could not be evaluated for a ${Object.keys(variables)[0]}: ${why}.`;
        throw new ExpressionError({ message, offset }, { cause: error });
      }
    },
  };
}

interface Language {
  environment: Environment;
  /** Converts items of the service to the values of the variables. */
  read: ReturnType<typeof declareVariables>;
  /** The time of the evaluation in progress, for functions that depend on it. Evaluation never waits. */
  clock: { now: Date };
  /** What was compiled last: each check of a policy compiles its condition, and many policies have the same. */
  compiled: Map<string, Expression>;
}

const MAX_COMPILED = 100;

/** Cached, because declaring the variables takes far longer than parsing an expression. */
const languages = new WeakMap<FieldTree, { variables: Variables; language: Language }[]>();

function languageOf(variables: Variables): Language {
  const [first = {}] = Object.values(variables);
  const subject = first instanceof ListOf ? first.fields : first;
  const known = languages.get(subject) ?? [];
  const found = known.find((one) => areSame(one.variables, variables));
  if (found) return found.language;
  const environment = new Environment({ unlistedVariablesAreDyn: false, limits });
  const read = declareVariables(environment, variables);
  environment.registerVariable('now', 'google.protobuf.Timestamp');
  environment.registerFunction('string.re(string): bool', cachedRe());
  addConversions(environment);
  const clock = { now: new Date(0) };
  addAgo(environment, clock);
  const language: Language = { environment, read, clock, compiled: new Map() };
  languages.set(subject, [...known, { variables, language }]);
  return language;
}

const areSame = (one: Variables, other: Variables): boolean =>
  Object.keys(one).join() === Object.keys(other).join() &&
  Object.entries(one).every(([name, fields]) => other[name] === fields);

function parsed(environment: Environment, source: string, variables: Variables, noun: string) {
  try {
    const evaluate = environment.parse(source);
    withHours(evaluate.ast);
    const refused = findRefused(evaluate.ast, environment);
    if (refused) throw new ExpressionError(refused);
    const { error, type } = evaluate.check();
    if (error) throw error;
    const impossible = impossibleValue(evaluate.ast, variables);
    if (impossible) throw new ExpressionError(impossible);
    return { evaluate, type: String(type) };
  } catch (error) {
    if (error instanceof ParseError || error instanceof TypeFault) {
      throw new ExpressionError(explain(error, variables, noun, environment), { cause: error });
    }
    throw error;
  }
}

function asJson(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? value.map(asJson) : value;
}

/** Caches compiled regular expressions. The cache is bounded, since a pattern may be built from each item. */
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
