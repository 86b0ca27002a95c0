/** Rules for what CEL accepts and Caretaker refuses when an expression is loaded. */

import { RE2JS } from '@bufbuild/re2';
import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { EvaluationError } from '@marcbachmann/cel-js';
import { timezoneFault } from '../dates.ts';
import { messageOf } from '../errors.ts';
import type { Fault } from './fields.ts';
import { unknownFunction } from './functions.ts';

/** The first part of an expression that is refused; undefined when there is none. */
export function findRefused(root: ASTNode, environment: Environment): Fault | undefined {
  for (const node of nodesIn(root)) {
    const fault =
      unknownFunction(node, environment) ??
      (node.op === 'call' ? refuseCall(node, environment) : refuseMethod(node));
    if (fault) return fault;
  }
  return undefined;
}

type Call = Extract<ASTNode, { op: 'call' }>;

/**
 * Durations with days, as everywhere else, are replaced by hours, which is what the language has. The source stays as it
 * is, and with it every place in it.
 */
export function withHours(root: ASTNode): void {
  for (const node of nodesIn(root)) {
    const [name, [argument]] = node.op === 'call' ? node.args : ['', []];
    if (name !== 'duration' || argument?.op !== 'value' || typeof argument.args !== 'string') continue;
    const [, sign = '', days, rest = ''] = /^(-?)(\d{1,5})d((?:\d+[hms])*)$/.exec(argument.args) ?? [];
    if (days !== undefined) Object.assign(argument, { args: `${sign}${Number(days) * 24}h${rest}` });
  }
}

function refuseCall(node: Call, environment: Environment): Fault | undefined {
  const [name, args] = node.args;
  if (name === 'has') {
    return {
      message:
        'has() is not needed: a null field is "", 0, false, empty or 1970-01-01, and a field that is not shown decides nothing.',
      offset: node.start,
      suggestion: 'compare with that value',
    };
  }
  const constant = args.length > 0 && args.every(({ op }) => op === 'value');
  if (!constant) return undefined;
  try {
    // duration("5x") passes the type check and would fail at run time, on the first candidate.
    const call = environment.parse(node.input.slice(node.start, node.end));
    withHours(call.ast);
    call();
    return undefined;
  } catch (error) {
    // The type check reports wrong types and unknown functions.
    if (!(error instanceof EvaluationError) || error.code === 'no_matching_overload') return undefined;
    return { message: `${error.summary}.`, offset: args[0]?.start ?? node.start, suggestion: examples[name] };
  }
}

const examples: Record<string, string> = {
  duration: 'write days, hours, minutes and seconds: duration("1d12h30m")',
  timestamp: 'write a time with its zone: timestamp("2026-11-21T02:00:00Z")',
};

function refuseMethod(node: ASTNode): Fault | undefined {
  if (node.op !== 'rcall') return undefined;
  const [name, receiver, [argument]] = node.args;
  if (name === 'matches') {
    return {
      message: 'matches() can be extremely slow on some texts and is not supported.',
      offset: receiver.end + 1,
      suggestion: 'use re(), which accepts the same patterns',
    };
  }
  const literal = argument?.op === 'value' && typeof argument.args === 'string' ? argument.args : undefined;
  if (literal === undefined || !argument) return undefined;
  if (name === 're') return refusePattern(literal, argument.start);
  return /^get[A-Z]/.test(name) && timezoneFault(literal) !== undefined
    ? { message: `There is no time zone "${literal}".`, offset: argument.start }
    : undefined;
}

function refusePattern(pattern: string, offset: number): Fault | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return { message: `The pattern is not a valid regular expression: ${messageOf(error)}.`, offset };
  }
}

/** A node and everything below it. */
export function* nodesIn(value: unknown): Generator<ASTNode> {
  if (Array.isArray(value)) {
    for (const inner of value) yield* nodesIn(inner);
  } else if (isNode(value)) {
    yield value;
    yield* nodesIn(value.args);
  }
}

export const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value;

/** The parts of a condition that are joined by `&&`. */
export function* conjuncts(node: ASTNode): Generator<ASTNode> {
  if (node.op !== '&&') yield node;
  else for (const part of node.args) yield* conjuncts(part);
}

/** A part of a condition as it is written. */
export const textOf = ({ input, start, end }: ASTNode): string => input.slice(start, end);
