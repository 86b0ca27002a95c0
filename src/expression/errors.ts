/** Turns CEL's errors into our own messages, with a suggestion. */
import type { ASTNode, Environment, ParseError, TypeError as TypeFault } from '@marcbachmann/cel-js';
import { suggestionFor } from '../suggest.ts';
import { type Fault, type Field, type FieldTree, ListOf, type Variables } from './fields.ts';
import { signaturesOf } from './functions.ts';

/**
 * Explains an error of the parser or the type check over these variables. `noun` is what the message calls
 * the expression.
 */
export function explain(
  error: ParseError | TypeFault,
  variables: Variables,
  noun: string,
  environment: Environment,
): Fault {
  const offset = error.range?.start;
  const [, name = ''] = /: (\w+)$/.exec(error.summary) ?? [];
  switch (error.code) {
    case 'no_such_key':
      return { offset, ...unknownField(name, error.node, variables) };
    case 'unknown_variable':
      return { offset, message: `"${name}" is not a variable.`, suggestion: variable(name, variables) };
    case 'no_matching_overload':
      return { offset, ...wrongCall(error, environment) };
    case 'no_such_overload':
      return { offset, ...mismatch(error, variables) };
    default:
      if (isFieldOfList(error)) return { offset, ...fieldOfList(error.node as ASTNode) };
      if (typographic.test(error.summary))
        return {
          offset,
          message: `This is not a valid ${noun} in CEL: ${typographic.exec(error.summary)?.[1]} is not a quote.`,
          suggestion: `write " or '`,
        };
      return {
        offset,
        message: `This is not a valid ${noun} in CEL: ${inWords(error.summary)}.`,
        suggestion: operatorMeant(error.node?.input ?? ''),
      };
  }
}

/** A quote of a word processor. */
const typographic = /^Unexpected character: ([\u2018-\u201f])/;

const isFieldOfList = ({ node, summary }: ParseError | TypeFault): boolean =>
  node?.op === '.' && summary.startsWith('List index must be int');

function fieldOfList(node: ASTNode): Fault {
  const [receiver, name] = node.args as [ASTNode, string];
  const list = receiver.input.slice(receiver.start, receiver.end);
  return {
    message: `${list} is a list, which has no field "${name}".`,
    suggestion: `ask for its items: ${list}.exists(one, one.${name} == ...), or for ${list}.size()`,
  };
}

/** A suggestion for an operator of another language, outside of quotes. */
function operatorMeant(source: string): string | undefined {
  const bare = source.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""');
  if (/\band\b/i.test(bare)) return 'write && instead of "and"';
  if (/\bor\b/i.test(bare)) return 'write || instead of "or"';
  if (/\bnot\b/i.test(bare)) return 'write ! instead of "not"';
  return /[^=!<>]=[^=]/.test(bare) ? 'write == to compare' : undefined;
}

function unknownField(
  name: string,
  node: { op?: string; args?: unknown } | undefined,
  variables: Variables,
): Fault {
  const receiver = node?.op === '.' ? (node.args as [ASTNode, string])[0] : undefined;
  const path = receiver && pathOf(receiver);
  const variable = variables[path?.[0] ?? ''];
  const known =
    path && variable && !(variable instanceof ListOf) ? fieldsAt(variable, path.slice(1)) : undefined;
  return {
    message: known && path ? `${path.join('.')} has no field "${name}".` : `There is no field "${name}".`,
    suggestion: suggestionFor(
      name,
      known ? Object.keys(known) : Object.values(variables).flatMap(allNamesOf),
    ),
  };
}

/** `site.sync` as names; undefined for anything but a chain of names. */
function pathOf(node: ASTNode): string[] | undefined {
  if (node.op === 'id') return [node.args];
  if (node.op !== '.') return undefined;
  const before = pathOf(node.args[0]);
  return before && [...before, node.args[1]];
}

function fieldsAt(fields: FieldTree, path: readonly string[]): FieldTree | undefined {
  return path.reduce<FieldTree | undefined>((tree, name) => {
    const field = tree && Object.hasOwn(tree, name) ? tree[name] : undefined;
    return field?.kind === 'object' ? field.fields : undefined;
  }, fields);
}

const allNamesOf = (variable: FieldTree | ListOf): string[] =>
  allNames(variable instanceof ListOf ? variable.fields : variable);

function allNames(fields: FieldTree): string[] {
  const inside = (field: Field): string[] => {
    if (field.kind === 'object') return allNames(field.fields);
    return field.kind === 'list' || field.kind === 'map' ? inside(field.of) : [];
  };
  return [...new Set(Object.entries(fields).flatMap(([name, field]) => [name, ...inside(field)]))];
}

/** Suggests the full name of the field when the variable is missing. */
function variable(name: string, variables: Variables): string | undefined {
  const owner = Object.entries(variables).find(
    ([, fields]) => !(fields instanceof ListOf) && Object.hasOwn(fields, name),
  )?.[0];
  return owner ? `did you mean ${owner}.${name}?` : suggestionFor(name, [...Object.keys(variables), 'now']);
}

function mismatch({ summary, node }: ParseError | TypeFault, variables: Variables): Omit<Fault, 'offset'> {
  const fields = operandsOf(node).flatMap((operand) => fieldAt(operand, variables) ?? []);
  // The type of an object is named after its first place.
  const words = inWords(summary.replace('no such overload: ', '')).replace(
    /\b[a-z_]\w*(?:\.\w+)+/g,
    'object',
  );
  const are = fields.map(({ path, field }) => `${path} is ${nouns[field.kind]}`);
  const message = `These types cannot be combined: ${words}${are.length > 0 ? `; ${are.join(', ')}` : ''}.`;
  if (/\bnull\b/.test(words)) {
    return { message, suggestion: 'a field that is null is "", 0, false or 1970-01-01' };
  }
  if (/\btimestamp - string\b|\bduration\b.*\bstring\b|\bstring\b.*\bduration\b/.test(words))
    return { message, suggestion: 'write duration("20h")' };
  if (/\btimestamp\b/.test(words) && /\bstring\b/.test(words)) {
    return { message, suggestion: 'write timestamp("2026-11-21T02:00:00Z")' };
  }
  const list = fields.find(({ field }) => field.kind === 'list' && field.of.kind === 'object');
  if (list) return { message, suggestion: `ask for its items: ${list.path}.exists(one, one.name == "...")` };
  const object = fields.find(({ field }) => field.kind === 'object');
  if (object?.field.kind !== 'object') return { message };
  const names = Object.keys(object.field.fields);
  return {
    message,
    suggestion: `use a field of it: ${names.map((name) => `${object.path}.${name}`).join(', ')}`,
  };
}

const nouns: Readonly<Record<Field['kind'], string>> = {
  string: 'a string',
  boolean: 'true or false',
  number: 'a number',
  timestamp: 'a time',
  day: 'a day',
  any: 'of any type',
  list: 'a list',
  map: 'a map',
  object: 'an object',
};

const operandsOf = (node: { args?: unknown } | undefined): ASTNode[] =>
  [node?.args].flat().filter((one): one is ASTNode => typeof one === 'object' && one !== null && 'op' in one);

/** The field that an operand names. */
function fieldAt(node: ASTNode, variables: Variables): { path: string; field: Field } | undefined {
  const [name = '', ...path] = pathOf(node) ?? [];
  const last = path.pop();
  const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
  if (last === undefined || !variable || variable instanceof ListOf) return undefined;
  const tree = fieldsAt(variable, path);
  const field = tree && Object.hasOwn(tree, last) ? tree[last] : undefined;
  return field && { path: [name, ...path, last].join('.'), field };
}

/** The function exists, but not for these types. */
function wrongCall({ summary, node }: ParseError | TypeFault, environment: Environment): Fault {
  const name = node?.op === 'call' || node?.op === 'rcall' ? (node.args as [string])[0] : '';
  return {
    message: `There is no function ${calledAs(summary)}.`,
    suggestion: signaturesOf(name, environment),
  };
}

const calledAs = (summary: string): string =>
  inWords(summary.replace('found no matching overload for ', '')).replaceAll("'", '');

const inWords = (summary: string): string =>
  summary
    .replace(/google\.protobuf\.(Timestamp|Duration)/g, (_, name: string) => name.toLowerCase())
    .replaceAll('double', 'number')
    .replace('EOF', 'the end')
    .replace(/\.$/, '');
