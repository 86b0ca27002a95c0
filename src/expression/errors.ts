/** Turns CEL's errors into our own messages, with a suggestion. */
import type { ASTNode, Environment, ParseError, TypeError as TypeFault } from '@marcbachmann/cel-js';
import { suggestionFor } from '../suggest.ts';
import type { Fault } from './fault.ts';
import { type Field, type FieldTree, ListOf, type Variables } from './fields.ts';
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
      return { offset, ...mismatch(error.summary) };
    default:
      if (isFieldOfList(error)) return { offset, ...fieldOfList(error.node as ASTNode) };
      return {
        offset,
        message: `This is not a valid ${noun} in CEL: ${inWords(error.summary)}.`,
        suggestion: operatorMeant(error.node?.input ?? ''),
      };
  }
}

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

function mismatch(summary: string): Omit<Fault, 'offset'> {
  const words = inWords(summary.replace('no such overload: ', ''));
  const message = `These types cannot be combined: ${words}.`;
  if (/\bnull\b/.test(words)) {
    return { message, suggestion: 'a field that is null is "", 0, false or 1970-01-01' };
  }
  if (/\btimestamp\b/.test(words) && /\bstring\b/.test(words)) {
    return { message, suggestion: 'write timestamp("2026-11-21T02:00:00Z")' };
  }
  return { message };
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
