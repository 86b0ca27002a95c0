/**
 * What a condition requires of an item: comparisons of one field that are true of every item for which the
 * condition holds. A list that can compare the field itself need not return the others.
 *
 * Only parts joined by `&&` are required. A part that is not understood is left out: what is returned is never
 * more than the condition says.
 */
import type { ASTNode } from '@marcbachmann/cel-js';
import type { Field, FieldTree } from './fields.ts';
import { conjuncts, isNode, nodesIn, textOf } from './rules.ts';

/** A comparison of the field at `path` of the subject. `text` is the part of the condition that says so. */
export type Requirement = { path: readonly string[]; text: string } & (
  | { is: 'equals'; value: string | boolean }
  /** One of several texts. */
  | { is: 'several'; values: readonly string[] }
  /** A list of objects of which one has this value in the last field of the path. */
  | { is: 'has'; value: string }
  /** A time that is not before, or not after, the value of an expression over `now`. */
  | { is: 'from' | 'until'; time: string; usesNow: boolean }
);

/** What a condition requires of its subject, a variable with these fields. */
export function requirementsOf(condition: ASTNode, subject: string, fields: FieldTree): Requirement[] {
  return [...conjuncts(condition)].flatMap((part) => {
    const found = requiredBy(part, subject, fields);
    return found ? [found] : [];
  });
}

function requiredBy(part: ASTNode, subject: string, fields: FieldTree): Requirement | undefined {
  const at = (node: ASTNode) => shownAt(node, subject, fields);
  const text = textOf(part);
  const negated = part.op === '!_' && isNode(part.args) ? part.args : undefined;
  const flag = at(negated ?? part);
  if (flag?.field.kind === 'boolean') return boolean(flag, negated === undefined, text);
  if (part.op === '==') {
    const [left, right] = part.args;
    return equal(at(left), right, text) ?? equal(at(right), left, text);
  }
  if (part.op === 'in') return among(at(part.args[0]), part.args[1], text);
  if (part.op === 'rcall') return existing(part, at, text);
  return compared(part, at, text);
}

/** A field of the subject, and whether it may be null or absent, in which case it has the empty value. */
interface Shown {
  path: string[];
  field: Field;
  maybeEmpty: boolean;
}

function shownAt(node: ASTNode, subject: string, fields: FieldTree): Shown | undefined {
  if (node.op !== '.') return undefined;
  const [receiver, name] = node.args;
  const holder = receiver.op === 'id' ? undefined : shownAt(receiver, subject, fields);
  if (receiver.op === 'id' && receiver.args !== subject) return undefined;
  const known = receiver.op === 'id' ? fields : holder?.field.kind === 'object' ? holder.field.fields : {};
  const field = Object.hasOwn(known, name) ? known[name] : undefined;
  if (!field) return undefined;
  return {
    path: [...(holder?.path ?? []), name],
    field,
    maybeEmpty: (holder?.maybeEmpty ?? false) || field.nullable || field.optional,
  };
}

/** A null flag is false, and the service may not list it as false. */
const boolean = ({ path, maybeEmpty }: Shown, value: boolean, text: string): Requirement | undefined =>
  value || !maybeEmpty ? { path, text, is: 'equals', value } : undefined;

function equal(shown: Shown | undefined, literal: ASTNode, text: string): Requirement | undefined {
  if (!shown || literal.op !== 'value') return undefined;
  const { kind } = shown.field;
  if (kind === 'boolean' && typeof literal.args === 'boolean') return boolean(shown, literal.args, text);
  return kind === 'string' ? oneOf(shown, [literal], text) : undefined;
}

const among = (shown: Shown | undefined, list: ASTNode, text: string): Requirement | undefined =>
  shown?.field.kind === 'string' && list.op === 'list' ? oneOf(shown, list.args, text) : undefined;

/** A null text is empty, and so is one that is not there. */
function oneOf({ path }: Shown, literals: readonly ASTNode[], text: string): Requirement | undefined {
  const values = literals.flatMap(({ op, args }) => (op === 'value' && typeof args === 'string' ? args : []));
  const isCertain = values.length === literals.length && values.length > 0 && !values.includes('');
  if (!isCertain) return undefined;
  const [value, ...others] = values;
  return value !== undefined && others.length === 0
    ? { path, text, is: 'equals', value }
    : { path, text, is: 'several', values };
}

/** `site.tags.exists(tag, tag.id == "12")` */
function existing(
  node: Extract<ASTNode, { op: 'rcall' }>,
  at: (node: ASTNode) => Shown | undefined,
  text: string,
): Requirement | undefined {
  const [name, receiver, [variable, test]] = node.args;
  const list = at(receiver)?.field;
  if (name !== 'exists' || variable?.op !== 'id' || test?.op !== '==') return undefined;
  if (list?.kind !== 'list' || list.of.kind !== 'object') return undefined;
  for (const [one, other] of [test.args, [...test.args].reverse()] as [ASTNode, ASTNode][]) {
    const shown = shownAt(one, variable.args, list.of.fields);
    const value = other.op === 'value' && typeof other.args === 'string' ? other.args : '';
    if (shown?.field.kind === 'string' && value !== '')
      return { path: [...(at(receiver)?.path ?? []), ...shown.path], text, is: 'has', value };
  }
  return undefined;
}

const mirrored = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;
type Order = keyof typeof mirrored;
const isOrder = (op: string): op is Order => Object.hasOwn(mirrored, op);

/** `site.created_at < now - duration("72h")`, or `now - site.created_at > duration("72h")`. */
function compared(
  node: ASTNode,
  at: (node: ASTNode) => Shown | undefined,
  text: string,
): Requirement | undefined {
  if (!isOrder(node.op)) return undefined;
  const [left, right] = node.args as [ASTNode, ASTNode];
  return (
    bounded(at(left), node.op, right, undefined, text) ??
    bounded(at(right), mirrored[node.op], left, undefined, text) ??
    aged(left, node.op, right, at, text) ??
    aged(right, mirrored[node.op], left, at, text)
  );
}

/** `time - field > length` says that the field is before `time - length`. */
function aged(
  age: ASTNode,
  order: Order,
  length: ASTNode,
  at: (node: ASTNode) => Shown | undefined,
  text: string,
): Requirement | undefined {
  if (age.op !== '-') return undefined;
  const [time, field] = age.args;
  return bounded(at(field), mirrored[order], time, length, text);
}

function bounded(
  shown: Shown | undefined,
  order: Order,
  time: ASTNode,
  minus: ASTNode | undefined,
  text: string,
): Requirement | undefined {
  if (shown?.field.kind !== 'timestamp') return undefined;
  const names = [time, ...(minus ? [minus] : [])].flatMap((part) =>
    [...nodesIn(part)].flatMap(({ op, args }) => (op === 'id' ? String(args) : [])),
  );
  if (names.some((name) => name !== 'now')) return undefined;
  const is = order.startsWith('>') ? 'from' : 'until';
  // A time that is null is before every bound, and the service may not list it as such.
  if (is === 'until' && shown.maybeEmpty) return undefined;
  const expression = minus ? `(${textOf(time)}) - (${textOf(minus)})` : textOf(time);
  return { path: shown.path, text, is, time: expression, usesNow: names.length > 0 };
}
