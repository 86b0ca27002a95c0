/** Finds comparisons with texts that a field never has: `site.connection.status == "conected"`. */
import type { ASTNode } from '@marcbachmann/cel-js';
import { suggestionFor } from '../suggest.ts';
import { type Fault, type Field, fieldOfVariable, type Variables } from './fields.ts';
import { isNode } from './rules.ts';

/** A text that is written in an expression, and where. */
interface Text {
  text: string;
  offset: number;
}

/** A name that stands for one of these texts: `k` in `["keep", "legal"].exists(k, ...)`. */
interface OneOf {
  kind: 'one-of';
  texts: readonly Text[];
}

/**
 * What the names in an expression refer to, including those of `exists(tag, ...)` and similar macros.
 */
export type Scope = Readonly<Record<string, Field | OneOf | undefined>>;

/** A text that an expression compares with a field of the service. */
interface Comparison extends Text {
  field: Field;
  subject: ASTNode;
}

/** The first comparison whose result is always the same, because the field never has this value. */
export function impossibleValue(root: ASTNode, variables: Variables): Fault | undefined {
  for (const { field, subject, text, offset } of comparisonsIn(root, scopeOf(variables))) {
    // A missing value is "".
    if (field.kind !== 'string' || !field.values || text === '' || field.values.includes(text)) continue;
    return {
      message: `"${text}" is not one of the values of ${subject.input.slice(subject.start, subject.end)}.`,
      offset,
      suggestion: suggestionFor(text, field.values),
    };
  }
  return undefined;
}

export const scopeOf = (variables: Variables): Scope =>
  Object.fromEntries(
    Object.entries(variables).map(([name, variable]): [string, Field] => [name, fieldOfVariable(variable)]),
  );

function* comparisonsIn(value: unknown, scope: Scope): Generator<Comparison> {
  if (Array.isArray(value)) {
    for (const inner of value) yield* comparisonsIn(inner, scope);
  } else if (isNode(value)) {
    yield* comparisonsOf(value, scope);
    yield* comparisonsIn(value.args, value.op === 'rcall' ? scopeWithin(value, scope) : scope);
  }
}

const macros = ['all', 'exists', 'exists_one', 'map', 'filter'];

/**
 * Inside `list.exists(item, ...)`, `item` is an item of the list. Inside `cel.bind(name, value, ...)`, `name`
 * is the value.
 */
export function scopeWithin(node: Extract<ASTNode, { op: 'rcall' }>, scope: Scope): Scope {
  const [name, receiver, [variable, value]] = node.args;
  if (variable?.op !== 'id') return scope;
  if (macros.includes(name)) {
    const list = fieldOf(receiver, scope);
    if (list) return { ...scope, [variable.args]: list.kind === 'list' ? list.of : undefined };
    const texts = receiver.op === 'list' ? textsIn(receiver.args, scope) : undefined;
    return { ...scope, [variable.args]: texts && { kind: 'one-of', texts } };
  }
  return name === 'bind' && value ? { ...scope, [variable.args]: fieldOf(value, scope) } : scope;
}

/** The comparisons of one node, without those inside it. */
export function* comparisonsOf(node: ASTNode, scope: Scope): Generator<Comparison> {
  if (node.op === '==' || node.op === '!=') {
    const [left, right] = node.args;
    yield* comparison(left, right, scope);
    yield* comparison(right, left, scope);
  } else if (node.op === 'in') {
    const [value, list] = node.args;
    if (list.op === 'list') for (const one of list.args) yield* comparison(value, one, scope);
    const holder = fieldOf(list, scope);
    if (holder?.kind === 'list') yield* comparison(list, value, scope, holder.of);
  }
}

function* comparison(
  subject: ASTNode,
  other: ASTNode,
  scope: Scope,
  field = fieldOf(subject, scope),
): Generator<Comparison> {
  if (field) for (const text of textsOf(other, scope) ?? []) yield { field, subject, ...text };
}

/** The texts that a node can be; undefined when that cannot be seen. None for a number, null and the like. */
export function textsOf(node: ASTNode, scope: Scope): readonly Text[] | undefined {
  if (node.op === 'value')
    return typeof node.args === 'string' ? [{ text: node.args, offset: node.start }] : [];
  if (node.op === 'id') {
    const named = Object.hasOwn(scope, node.args) ? scope[node.args] : undefined;
    return named?.kind === 'one-of' ? named.texts : undefined;
  }
  if (node.op !== '+') return undefined;
  const [left, right] = node.args.map((part) => textsOf(part, scope));
  return left && right?.flatMap((end) => left.map(({ text, offset }) => ({ text: text + end.text, offset })));
}

function textsIn(nodes: readonly ASTNode[], scope: Scope): Text[] | undefined {
  const texts = nodes.map((node) => textsOf(node, scope));
  return texts.every((some) => some !== undefined) ? texts.flat() : undefined;
}

/** The field of the service that a node refers to. */
export function fieldOf(node: ASTNode, scope: Scope): Field | undefined {
  if (node.op === 'id') {
    const named = Object.hasOwn(scope, node.args) ? scope[node.args] : undefined;
    return named?.kind === 'one-of' ? undefined : named;
  }
  if (node.op === '.') {
    const [receiver, name] = node.args;
    const holder = fieldOf(receiver, scope);
    return holder?.kind === 'object' && Object.hasOwn(holder.fields, name) ? holder.fields[name] : undefined;
  }
  if (node.op === '[]') {
    const [receiver, index] = node.args;
    const holder = fieldOf(receiver, scope);
    if (holder?.kind === 'object' && index.op === 'value' && Object.hasOwn(holder.fields, String(index.args)))
      return holder.fields[String(index.args)];
    return holder?.kind === 'list' || holder?.kind === 'map' ? holder.of : undefined;
  }
  if (node.op !== 'rcall') return undefined;
  const [macro, receiver, args] = node.args;
  if (macro === 'filter') return fieldOf(receiver, scope);
  // `site.tags.map(t, t.name)` is a list of names.
  const [, mapped] = args;
  const of = macro === 'map' && mapped && args.length === 2 && fieldOf(mapped, scopeWithin(node, scope));
  return of ? { kind: 'list', of, nullable: false, optional: false } : undefined;
}
