/** The texts that an expression compares with fields of the service: what it names in the account. */
import type { ASTNode } from '@marcbachmann/cel-js';
import type { Field } from './fields.ts';
import { isNode, textOf } from './rules.ts';
import { comparisonsOf, fieldOf, type Scope, scopeWithin, textsOf } from './values.ts';

/** How a text is compared: with the whole field, or with a part of it. */
const parts = ['startsWith', 'endsWith', 'contains'] as const;
export type How = 'is' | (typeof parts)[number];

export type Compared =
  | { field: Field; how: How; text: string }
  /**
   * It cannot be seen what the field is compared with: it is the input of a function, or the other value is computed.
   * `source`: the call or the comparison.
   */
  | { field: Field; how: 'unknown'; source: string };

/** Functions that say nothing about the text of the field. */
const harmless: readonly string[] = ['all', 'exists', 'exists_one', 'map', 'filter', 'size', 'string'];

/** Everything that the expression compares with a field, in its order. */
export function* comparedIn(value: unknown, scope: Scope): Generator<Compared> {
  if (Array.isArray(value)) {
    for (const inner of value) yield* comparedIn(inner, scope);
  } else if (isNode(value)) {
    for (const { field, text } of comparisonsOf(value, scope)) yield { field, how: 'is', text };
    yield* comparedWithUnseen(value, scope);
    if (value.op === 'rcall') yield* comparedByCall(value, scope);
    yield* comparedIn(value.args, value.op === 'rcall' ? scopeWithin(value, scope) : scope);
  }
}

function* comparedByCall(node: Extract<ASTNode, { op: 'rcall' }>, scope: Scope): Generator<Compared> {
  const [name, receiver, [argument]] = node.args;
  const holder = fieldOf(receiver, scope);
  if (!holder || harmless.includes(name)) return;
  // `site.tags.map(t, t.name).join(",")` takes the names.
  const field = holder.kind === 'list' ? holder.of : holder;
  const how = parts.find((part) => part === name);
  if (how && argument?.op === 'value' && typeof argument.args === 'string')
    yield { field, how, text: argument.args };
  else yield { field, how: 'unknown', source: textOf(node) };
}

/** A comparison with a value that is neither written in the expression nor a field. */
function* comparedWithUnseen(node: ASTNode, scope: Scope): Generator<Compared> {
  const isSeen = (other: ASTNode) => (textsOf(other, scope) ?? fieldOf(other, scope)) !== undefined;
  const unseen = (field: Field | undefined): Compared[] =>
    field ? [{ field, how: 'unknown', source: textOf(node) }] : [];
  if (node.op === '==' || node.op === '!=') {
    const [left, right] = node.args;
    if (!isSeen(right)) yield* unseen(fieldOf(left, scope));
    if (!isSeen(left)) yield* unseen(fieldOf(right, scope));
  } else if (node.op === '<' || node.op === '<=' || node.op === '>' || node.op === '>=') {
    for (const side of node.args) yield* unseen(fieldOf(side, scope));
  } else if (node.op === 'in') {
    const [value, list] = node.args;
    const holder = fieldOf(list, scope);
    if (holder?.kind === 'list' && !isSeen(value)) yield* unseen(holder.of);
    if (!holder && !(list.op === 'list' && list.args.every(isSeen))) yield* unseen(fieldOf(value, scope));
  }
}
