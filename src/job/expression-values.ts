/** Comparisons with texts that a field never has: `site.connection.status == "conected"`. */
import type { ASTNode } from '@marcbachmann/cel-js';
import type { Field, FieldTree } from '../contract/fields.ts';
import { suggestionFor } from '../settings/suggest.ts';
import type { Fault } from './expression-errors.ts';
import { isNode } from './expression-rules.ts';

/** What the names of an expression stand for, those of `exists(tag, ...)` and the like among them. */
type Scope = Readonly<Record<string, Field | undefined>>;

const whole = { nullable: false, optional: false };

/** The first comparison that can only ever be answered in one way, since the field has none of these values. */
export function impossibleValue(
  root: ASTNode,
  variables: Readonly<Record<string, FieldTree>>,
): Fault | undefined {
  const scope = Object.fromEntries(
    Object.entries(variables).map(([name, fields]): [string, Field] => [
      name,
      { kind: 'object', fields, ...whole },
    ]),
  );
  return faultIn(root, scope);
}

function faultIn(value: unknown, scope: Scope): Fault | undefined {
  if (Array.isArray(value)) return firstOf(value, (inner) => faultIn(inner, scope));
  if (!isNode(value)) return undefined;
  const inner = value.op === 'rcall' ? scopeWithin(value, scope) : scope;
  return compared(value, scope) ?? faultIn(value.args, inner);
}

function firstOf<T>(all: readonly T[], look: (one: T) => Fault | undefined): Fault | undefined {
  for (const one of all) {
    const fault = look(one);
    if (fault) return fault;
  }
  return undefined;
}

const macros = ['all', 'exists', 'exists_one', 'map', 'filter'];

/** Inside `list.exists(item, ...)`, `item` is one of the list; inside `cel.bind(name, value, ...)`, `name` is the value. */
function scopeWithin(node: Extract<ASTNode, { op: 'rcall' }>, scope: Scope): Scope {
  const [name, receiver, [variable, value]] = node.args;
  if (variable?.op !== 'id') return scope;
  if (macros.includes(name)) {
    const list = fieldOf(receiver, scope);
    return { ...scope, [variable.args]: list?.kind === 'list' ? list.of : undefined };
  }
  return name === 'bind' && value ? { ...scope, [variable.args]: fieldOf(value, scope) } : scope;
}

function compared(node: ASTNode, scope: Scope): Fault | undefined {
  if (node.op === '==' || node.op === '!=') {
    const [left, right] = node.args;
    return notAmong(left, right, scope) ?? notAmong(right, left, scope);
  }
  if (node.op !== 'in') return undefined;
  const [value, list] = node.args;
  if (list.op === 'list') return firstOf(list.args, (one) => notAmong(value, one, scope));
  const field = fieldOf(list, scope);
  return field?.kind === 'list' ? judged(field.of, list, value) : undefined;
}

const notAmong = (subject: ASTNode, literal: ASTNode, scope: Scope): Fault | undefined =>
  judged(fieldOf(subject, scope), subject, literal);

function judged(field: Field | undefined, subject: ASTNode, literal: ASTNode): Fault | undefined {
  if (field?.kind !== 'string' || !field.values) return undefined;
  // What is missing is "".
  if (literal.op !== 'value' || typeof literal.args !== 'string' || literal.args === '') return undefined;
  if (field.values.includes(literal.args)) return undefined;
  return {
    message: `"${literal.args}" is not one of the values of ${subject.input.slice(subject.start, subject.end)}.`,
    offset: literal.start,
    suggestion: suggestionFor(literal.args, field.values),
  };
}

/** The field of the service that a node stands for. */
function fieldOf(node: ASTNode, scope: Scope): Field | undefined {
  if (node.op === 'id') return Object.hasOwn(scope, node.args) ? scope[node.args] : undefined;
  if (node.op === '.') {
    const [receiver, name] = node.args;
    const holder = fieldOf(receiver, scope);
    return holder?.kind === 'object' && Object.hasOwn(holder.fields, name) ? holder.fields[name] : undefined;
  }
  if (node.op === '[]') {
    const holder = fieldOf(node.args[0], scope);
    return holder?.kind === 'list' || holder?.kind === 'map' ? holder.of : undefined;
  }
  return node.op === 'rcall' && node.args[0] === 'filter' ? fieldOf(node.args[1], scope) : undefined;
}
