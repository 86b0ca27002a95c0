/**
 * The mutants of a file: small changes of its code, each of which some test should notice. Found in the
 * syntax tree, made in the text, so that a mutant differs from its file in one place only.
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

/** All mutants of a source text: where, what stands there instead, and what that is called. */
export function mutantsOf(source) {
  const found = [];
  const add = (node, replacement, operator) =>
    found.push({ start: node.start, end: node.end, replacement, operator });
  const text = (node) => source.slice(node.start, node.end);
  visit(parseAst(source, { lang: 'ts' }), undefined, (node, parent) => {
    switch (node.type) {
      case 'BinaryExpression':
      case 'LogicalExpression': {
        const { left, right, operator } = node;
        const put = (other) => {
          const between = source.slice(left.end, right.start).replace(operator, other);
          add(node, `(${text(left)}${between}${text(right)})`, `${operator} to ${other}`);
        };
        if (swapped[operator] && !isText(node)) put(swapped[operator]);
        if (operator === '??') add(node, text(left), 'no default');
        break;
      }
      case 'IfStatement':
      case 'ConditionalExpression':
        add(node.test, 'true', 'condition true');
        add(node.test, 'false', 'condition false');
        break;
      case 'UnaryExpression':
        if (node.operator === '!') add(node, `(${text(node.argument)})`, 'no negation');
        break;
      case 'Literal':
        literal(node, parent, add);
        break;
      case 'ExpressionStatement':
        if (isCall(node.expression)) add(node, ';', 'call removed');
        break;
      case 'CallExpression':
        call(node, add);
        break;
      case 'SpreadElement':
        if (parent?.type === 'ObjectExpression') add(node, '...{}', 'spread removed');
        break;
    }
  });
  const usable = found.filter((one) => isCode(mutated(source, one)));
  return usable.map((one) => ({
    ...one,
    ...placeOf(source, one.start),
    was: source.slice(one.start, one.end),
  }));
}

/** Whether it can be read at all: what nobody can run, no test has to notice. */
function isCode(source) {
  try {
    return parseAst(source, { lang: 'ts' }) !== undefined;
  } catch {
    return false;
  }
}

/** The text with the mutant in it. */
export const mutated = (source, { start, end, replacement }) =>
  source.slice(0, start) + replacement + source.slice(end);

function literal(node, parent, add) {
  if (typeof node.value === 'boolean') add(node, String(!node.value), 'flag turned');
  if (typeof node.value === 'number') add(node, String(node.value + 1), 'number plus one');
  if (typeof node.value !== 'string') return;
  const isDecisive = parent?.type === 'Property' && codes.has(parent.key.name) && parent.value === node;
  if (isDecisive || parent?.type === 'SwitchCase') add(node, "'mutated'", 'another code');
}

function call({ callee, arguments: given }, add) {
  if (callee.type !== 'MemberExpression' || callee.computed) return;
  const { name } = callee.property;
  if (methods[name]) add(callee.property, methods[name], `${name} to ${methods[name]}`);
  if ((name === 'filter' || name === 'sort') && given.length < 2)
    add({ start: callee.object.end, end: given[0] ? given[0].end + 1 : callee.end + 2 }, '', `no ${name}`);
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
