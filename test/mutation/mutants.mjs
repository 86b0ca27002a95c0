/**
 * The mutants of a file: small changes of its code, each of which some test should notice. All of them are compiled
 * in at once, each behind a switch: `__mutant(7) ? mutant : original`.
 */
import { parseAst } from 'vitest/node';

const swapped = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '&&': '||',
  '||': '&&',
};
const methods = { some: 'every', every: 'some', min: 'max', max: 'min', findLast: 'find', flatMap: 'map' };
/** Fields whose values are codes that somebody decides by. */
const codes = new Set([
  'is',
  'reason',
  'outcome',
  'state',
  'status',
  'kind',
  'step',
  'severity',
  'priority',
  'requestClass',
]);

/**
 * All mutants of a source text: where, what stands there instead, and what that is called. `as` says how the switch
 * is written: an expression, a statement, or the name of a method. `key` is its name while its file changes elsewhere.
 */
export function mutantsOf(source, file) {
  const found = [];
  const add = ({ start, end }, replacement, operator, as = 'expression') =>
    found.push({ start, end, replacement, operator, as });
  const text = (node) => source.slice(node.start, node.end);
  visit(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }), undefined, (node, parent) => {
    switch (node.type) {
      case 'BinaryExpression':
      case 'LogicalExpression':
        binary(node, source, add);
        break;
      case 'IfStatement':
      case 'ConditionalExpression':
        add(node.test, 'true', 'condition true');
        add(node.test, 'false', 'condition false');
        break;
      case 'UnaryExpression':
        if (node.operator === '!') add(node, text(node.argument), 'no negation');
        break;
      case 'Literal':
        if (parent?.type !== 'Property' || parent.value === node) literal(node, parent, add);
        break;
      case 'ExpressionStatement':
        if (isCall(node.expression) && node.expression.callee?.type !== 'Super')
          add(node, '', 'call removed', 'statement');
        break;
      case 'CallExpression':
        call(node, source, add);
        break;
      case 'SpreadElement':
        if (parent?.type === 'ObjectExpression') add(node.argument, '{}', 'spread removed');
        break;
    }
  });
  const seen = {};
  return found.map((one) => {
    const was = source.slice(one.start, one.end);
    const like = `${one.operator} ${was}`;
    seen[like] = (seen[like] ?? 0) + 1;
    return { ...one, ...placeOf(source, one.start), was, key: `${file} ${like} ${seen[like]}` };
  });
}

/** The text with all these mutants in it, each behind the switch with its `id`. */
export function switched(source, mutants) {
  const inOrder = [...mutants].sort((a, b) => a.start - b.start || b.end - a.end);
  const part = (from, to, within) => {
    let at = from;
    let made = '';
    while (within.length > 0) {
      const { start, end } = within[0];
      const here = within.filter((one) => one.start === start && one.end === end);
      const inside = within.filter((one) => one.end <= end && !here.includes(one));
      within = within.filter((one) => one.start >= end);
      made += source.slice(at, start) + switchOf(here, part(start, end, inside));
      at = end;
    }
    return made + source.slice(at, to);
  };
  return part(0, source.length, inOrder);
}

function switchOf(mutants, original) {
  const all = (as, write) => mutants.filter((one) => one.as === as).map(write);
  const name = all('name', ({ id, replacement }) => `__mutant(${id}) ? '${replacement}' : `);
  if (name.length > 0) {
    const [, optional, method] = original.match(/^(\??)\.\s*(\w+)$/);
    return `${optional ? '?.' : ''}[${name.join('')}'${method}']`;
  }
  const instead = all('expression', ({ id, replacement }) => `__mutant(${id}) ? (${replacement}) : `);
  const made = instead.length > 0 ? `(${instead.join('')}(${original}))` : original;
  const removed = all('statement', ({ id }) => `__mutant(${id})`);
  return removed.length > 0 ? `{ if (!${removed[0]}) ${made} }` : made;
}

function binary(node, source, add) {
  const { left, right, operator } = node;
  const other = swapped[operator];
  if (other && !isText(node)) {
    const between = source.slice(left.end, right.start).replace(operator, other);
    const [before, after] = [source.slice(node.start, left.end), source.slice(right.start, node.end)];
    add(node, before + between + after, `${operator} to ${other}`);
  }
  if (operator === '??') add(node, source.slice(left.start, left.end), 'no default');
}

function literal(node, parent, add) {
  if (typeof node.value === 'boolean') add(node, String(!node.value), 'flag turned');
  if (typeof node.value === 'number') add(node, String(node.value + 1), 'number plus one');
  if (typeof node.value !== 'string') return;
  const isDecisive = parent?.type === 'Property' && codes.has(parent.key.name) && parent.value === node;
  if (isDecisive || parent?.type === 'SwitchCase') add(node, "'mutated'", 'another code');
}

function call(node, source, add) {
  const { callee, arguments: given } = node;
  if (callee.type !== 'MemberExpression' || callee.computed) return;
  const { property, optional } = callee;
  const { name } = property;
  const dot = source.lastIndexOf('.', property.start) - (optional ? 1 : 0);
  if (methods[name])
    add({ start: dot, end: property.end }, methods[name], `${name} to ${methods[name]}`, 'name');
  const isRemovable = (name === 'filter' || name === 'sort') && given.length < 2;
  if (isRemovable && !source.slice(node.start, dot + 2).includes('?.'))
    add(node, source.slice(node.start, dot), `no ${name}`);
}

const isCall = (node) =>
  node.type === 'CallExpression' ||
  (node.type === 'AwaitExpression' && node.argument.type === 'CallExpression');

/** Texts that are put together say the same to nobody but people. */
const isText = ({ operator, left, right }) =>
  operator === '+' &&
  [left, right].some(({ type, value }) => type === 'TemplateLiteral' || typeof value === 'string');

/** Types have no behaviour, and imports no mutants. */
const skipped = (type) =>
  /^TS(?!AsExpression|NonNull|Satisfies)|^Import|^ExportAll/.test(type) || type === 'TemplateElement';

function visit(node, parent, enter) {
  if (Array.isArray(node)) {
    for (const one of node) visit(one, parent, enter);
  } else if (typeof node?.type === 'string' && !skipped(node.type)) {
    enter(node, parent);
    for (const [key, inner] of Object.entries(node)) {
      if (key !== 'typeAnnotation' && typeof inner === 'object') visit(inner, node, enter);
    }
  }
}

function placeOf(source, start) {
  const before = source.slice(0, start).split('\n');
  return { line: before.length, column: before.at(-1).length + 1 };
}
