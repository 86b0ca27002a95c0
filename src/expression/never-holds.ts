/**
 * Finds conditions that no item can meet: `site.url == "a" && site.url == "b"`, or a comparison that is false for every
 * value of a closed list. What is not understood can be true, so that nothing is reported by mistake.
 */
import type { ASTNode } from '@marcbachmann/cel-js';
import type { Field } from './fields.ts';
import { conjuncts, isNode, textOf } from './rules.ts';
import { fieldOf, type Scope, scopeWithin } from './values.ts';

/** The parts of a condition that exclude each other; one part that is always false alone. */
export interface NeverHolds {
  parts: string[];
  /** Where the last of them is. */
  offset: number;
}

type Constant = string | number | boolean;

/** What a part of a condition says of a value, which is known by its text. */
interface Claim {
  key: string;
  field: Field | undefined;
  /** Whether a constant meets it; undefined when that is not certain. */
  meets(value: Constant): boolean | undefined;
  /** The only values that meet it. */
  among?: readonly Constant[];
  /** A bound of an ordered value. */
  bound?: { is: 'from' | 'until'; value: number; open: boolean };
  part: ASTNode;
}

/** Why no item meets the condition; undefined when one may. */
export function neverHolds(node: ASTNode, scope: Scope): NeverHolds | undefined {
  if (node.op === '||') {
    const [one, other] = node.args.map((branch) => neverHolds(branch, scope));
    return one && other;
  }
  if (node.op === 'rcall') {
    const [name, , [, test]] = node.args;
    if (name === 'exists' && test) return neverHolds(test, scopeWithin(node, scope));
  }
  if (node.op !== '&&') return contradiction(claimsOf(node, scope));
  const parts = [...conjuncts(node)];
  for (const part of parts) {
    const found = neverHolds(part, scope);
    if (found) return found;
  }
  return contradiction(parts.flatMap((part) => claimsOf(part, scope)));
}

/** Two claims about one value that nothing meets; or one that no value of a closed list meets. */
function contradiction(claims: readonly Claim[]): NeverHolds | undefined {
  for (const [i, claim] of claims.entries()) {
    const earlier = claims.slice(0, i).filter(({ key }) => key === claim.key);
    for (const other of earlier) if (exclude(other, claim)) return found([other, claim]);
    const all = [...earlier, claim];
    const values = valuesOf(claim.field);
    if (values && !values.some((value) => all.every((one) => one.meets(value) !== false))) return found(all);
  }
  return undefined;
}

const found = (claims: readonly Claim[]): NeverHolds => ({
  parts: [...new Set(claims.map(({ part }) => textOf(part)))],
  offset: claims.at(-1)?.part.start ?? 0,
});

function exclude(one: Claim, other: Claim): boolean {
  const [list, rest] = one.among ? [one.among, other] : [other.among, one];
  if (list) return !list.some((value) => rest.meets(value) !== false);
  const [a, b] = [one.bound, other.bound];
  if (!a || !b || a.is === b.is) return false;
  const [from, until] = a.is === 'from' ? [a, b] : [b, a];
  return from.value > until.value || (from.value === until.value && (from.open || until.open));
}

/** Every value of a closed list. A missing value is "". */
const valuesOf = (field: Field | undefined): readonly Constant[] | undefined =>
  field?.kind === 'string' && field.values ? [...field.values, ''] : undefined;

function claimsOf(part: ASTNode, scope: Scope): Claim[] {
  const about = (subject: ASTNode, claim: Omit<Claim, 'key' | 'field' | 'part'>): Claim[] => [
    { key: keyOf(subject), field: fieldOf(subject, scope), part, ...claim },
  ];
  const equal = (subject: ASTNode, value: Constant) =>
    about(subject, { among: [value], meets: (one) => one === value });
  if (part.op === '!_' && isNode(part.args)) return flag(part.args, scope) ? equal(part.args, false) : [];
  if (flag(part, scope)) return equal(part, true);
  if (part.op === 'rcall') return textClaim(part, about);
  if (part.op === 'in') {
    const [subject, list] = part.args;
    const values = list.op === 'list' ? list.args.map(constantOf) : [undefined];
    if (!values.every((value) => value !== undefined)) return [];
    return about(subject, { among: values, meets: (one) => values.includes(one) });
  }
  if (!isComparison(part)) return [];
  const [left, right] = part.args;
  const [subject, value, op] =
    constantOf(right) === undefined
      ? [right, constantOf(left), mirrored[part.op]]
      : [left, constantOf(right), part.op];
  if (value === undefined || constantOf(subject) !== undefined) return [];
  if (op === '==') return equal(subject, value);
  if (op === '!=') return about(subject, { meets: (one) => one !== value });
  if (typeof value !== 'number') return [];
  const is = op.startsWith('>') ? 'from' : 'until';
  const open = op.length === 1;
  const meets = (one: Constant) => {
    if (typeof one !== 'number') return undefined;
    return (one === value && !open) || (is === 'from' ? one > value : one < value);
  };
  return about(subject, { bound: { is, value, open }, meets });
}

const mirrored = { '==': '==', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;
type Comparison = Extract<ASTNode, { op: keyof typeof mirrored }>;
const isComparison = (node: ASTNode): node is Comparison => Object.hasOwn(mirrored, node.op);

const flag = (node: ASTNode, scope: Scope): boolean => fieldOf(node, scope)?.kind === 'boolean';

const textTests: Readonly<Record<string, (text: string, part: string) => boolean>> = {
  startsWith: (text, part) => text.startsWith(part),
  endsWith: (text, part) => text.endsWith(part),
  contains: (text, part) => text.includes(part),
};

function textClaim(
  node: Extract<ASTNode, { op: 'rcall' }>,
  about: (subject: ASTNode, claim: Omit<Claim, 'key' | 'field' | 'part'>) => Claim[],
): Claim[] {
  const [name, subject, [argument]] = node.args;
  const test = Object.hasOwn(textTests, name) ? textTests[name] : undefined;
  const text = argument && constantOf(argument);
  if (!test || typeof text !== 'string') return [];
  return about(subject, { meets: (one) => (typeof one === 'string' ? test(one, text) : undefined) });
}

/** A literal; a duration or a time as its milliseconds. */
function constantOf(node: ASTNode): Constant | undefined {
  if (node.op === '-_' && isNode(node.args)) {
    const value = constantOf(node.args);
    return typeof value === 'number' ? -value : undefined;
  }
  if (node.op === 'call') {
    const [name, [argument]] = node.args;
    const text = argument?.op === 'value' && typeof argument.args === 'string' ? argument.args : '';
    if (name === 'duration') return durationOf(text);
    const time = name === 'timestamp' ? Date.parse(text) : Number.NaN;
    return Number.isNaN(time) ? undefined : time;
  }
  if (node.op !== 'value') return undefined;
  const value: unknown = node.args;
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined;
}

const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000 };

/** Hours, minutes and seconds; undefined for what is written in another way. */
function durationOf(text: string): number | undefined {
  if (!/^(\d+[hms])+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+)([hms])/g)].reduce(
    (ms, [, count, unit = '']) => ms + Number(count) * (units[unit] ?? 0),
    0,
  );
}
/** The same text, however it is spaced. Spaces inside quotes count. */
const keyOf = (node: ASTNode): string => textOf(node).replace(/\s+(?=(?:[^"']*["'][^"']*["'])*[^"']*$)/g, '');
