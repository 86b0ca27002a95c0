/**
 * Conditions that say which items of two lists belong together: `site.id in schedule.scope.sites.ids`.
 *
 * Each part (between `||`) compares one value of the joined item with one of the candidate, so that partners are
 * found by a key and not by comparing every item with every other. A part about the joined item alone is true or
 * false for all candidates.
 */
import { type ASTNode, parse } from '@marcbachmann/cel-js';
import { compileExpression, type Expression, ExpressionError } from './expression.ts';
import type { FieldTree, Variables } from './fields.ts';
import { nodesIn, textOf } from './rules.ts';

export interface Match {
  /**
   * The keys of a joined item; `all` if it belongs to every candidate.
   *
   * @throws {NotShownError} when the item does not show a value that is compared.
   */
  keysOf(item: unknown): readonly string[] | 'all';
  /** The keys of the joined items that belong to a candidate. Throws as `keysOf` does. */
  keysFor(items: Readonly<Record<string, unknown>>): readonly string[];
  /** Whether a candidate has one partner at most, because it is found by its `id`. */
  isSingle: boolean;
}

/** A part that compares: its values on both sides, which are texts or lists of texts. */
interface Comparison {
  joined: Expression;
  candidate: Expression;
}

/**
 * Compiles a condition over a candidate (`variables`) and an item of the joined list (`name`, `fields`).
 *
 * @throws {ExpressionError} when it is not valid, or compares in a way for which there is no key.
 */
export function compileMatch(source: string, variables: Variables, name: string, fields: FieldTree): Match {
  const joinedVariables = { [name]: fields };
  const condition = compileExpression(source, { ...joinedVariables, ...variables }, 'condition');
  if (condition.type !== 'bool') {
    const message = `The condition is to be true or false, but it is ${condition.type}.`;
    throw new ExpressionError({ message, offset: 0 });
  }
  const names = Object.keys(variables);
  const comparisons: Comparison[] = [];
  const always: Expression[] = [];
  for (const part of partsOf(parse(source).ast)) {
    if (mentions(part, ['now'])) throw incomparable(part, name, names);
    const sides = part.op === '==' || part.op === 'in' ? part.args : [];
    const [joined] = sides.filter((side) => mentions(side, [name]) && !mentions(side, names));
    const [candidate] = sides.filter((side) => mentions(side, names) && !mentions(side, [name]));
    if (joined && candidate) {
      const of = (side: ASTNode, known: Variables) => comparable(side, known, name);
      comparisons.push({ joined: of(joined, joinedVariables), candidate: of(candidate, variables) });
    } else if (mentions(part, [name]) && !mentions(part, names)) {
      always.push(compileExpression(textOf(part), joinedVariables, 'condition'));
    } else throw incomparable(part, name, names);
  }
  if (comparisons.length === 0) throw incomparable(parse(source).ast, name, names);
  return {
    keysOf(item) {
      const items = { [name]: item };
      if (always.some((part) => part.of(items, noTime) === true)) return 'all';
      return comparisons.flatMap(({ joined }, index) => keysIn(joined.of(items, noTime), index));
    },
    keysFor: (items) =>
      comparisons.flatMap(({ candidate }, index) => keysIn(candidate.of(items, noTime), index)),
    isSingle: always.length === 0 && comparisons.length === 1 && isById(parse(source).ast, name),
  };
}

/** What belongs together does not depend on the time. */
const noTime = new Date(0);

function* partsOf(node: ASTNode): Generator<ASTNode> {
  if (node.op !== '||') {
    yield node;
    return;
  }
  for (const side of node.args) yield* partsOf(side);
}

const mentions = (node: ASTNode, names: readonly string[]): boolean =>
  [...nodesIn(node)].some((one) => one.op === 'id' && names.includes(one.args));

function comparable(side: ASTNode, variables: Variables, name: string): Expression {
  const expression = compileExpression(textOf(side), variables, 'condition');
  if (expression.type === 'string' || expression.type === 'list<string>') return expression;
  const message = `"on" compares ids, which are strings, but this is ${expression.type}.`;
  throw new ExpressionError({ message, offset: side.start, suggestion: `compare an id of ${name}` });
}

const incomparable = ({ start }: ASTNode, name: string, names: readonly string[]): ExpressionError =>
  new ExpressionError({
    message: `"on" compares an id of ${name} with one of ${names.join(' or ')}, by == or "in"; several comparisons are joined with ||.`,
    offset: start,
    suggestion: `write ${name}.id == ..., and ask everything else in select.where`,
  });

/** An empty id, of a field that is null, has no partner. */
const keysIn = (value: unknown, index: number): string[] =>
  [value].flat().flatMap((id) => (typeof id === 'string' && id !== '' ? [`${index}:${id}`] : []));

const isById = (node: ASTNode, name: string): boolean =>
  node.op === '==' && node.args.some((side) => textOf(side) === `${name}.id`);
