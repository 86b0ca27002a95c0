/** The texts that an expression compares with fields of the service: what it names in the account. */
import type { ASTNode } from '@marcbachmann/cel-js';
import type { Field } from './fields.ts';
import { isNode } from './rules.ts';
import { comparisonsOf, fieldOf, type Scope, scopeWithin } from './values.ts';

/** How a text is compared: with the whole field, or with a part of it. */
const parts = ['startsWith', 'endsWith', 'contains'] as const;
export type How = 'is' | (typeof parts)[number];

export type Compared =
  | { field: Field; how: How; text: string }
  /** The field is the input of a function, so it cannot be seen what it is compared with. `source`: the call. */
  | { field: Field; how: 'unknown'; source: string };

/** Functions that say nothing about the text of the field. */
const harmless: readonly string[] = ['all', 'exists', 'exists_one', 'map', 'filter', 'size', 'string'];

/** Everything that the expression compares with a field, in its order. */
export function* comparedIn(value: unknown, scope: Scope): Generator<Compared> {
  if (Array.isArray(value)) {
    for (const inner of value) yield* comparedIn(inner, scope);
  } else if (isNode(value)) {
    for (const { field, text } of comparisonsOf(value, scope)) yield { field, how: 'is', text };
    if (value.op === 'rcall') yield* comparedByCall(value, scope);
    yield* comparedIn(value.args, value.op === 'rcall' ? scopeWithin(value, scope) : scope);
  }
}

function* comparedByCall(node: Extract<ASTNode, { op: 'rcall' }>, scope: Scope): Generator<Compared> {
  const [name, receiver, [argument]] = node.args;
  const field = fieldOf(receiver, scope);
  if (!field || harmless.includes(name)) return;
  const how = parts.find((part) => part === name);
  if (how && argument?.op === 'value' && typeof argument.args === 'string')
    yield { field, how, text: argument.args };
  else yield { field, how: 'unknown', source: node.input.slice(node.start, node.end) };
}
