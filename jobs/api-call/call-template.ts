/**
 * A call of an operation as a policy declares it. A value may be a placeholder: a map with the single key
 * `cel`, whose expression is computed from the target, as in
 * `params: { snapshot_id: { cel: site.backups.latest_snapshot.id } }`.
 *
 * The parameter that names the target itself is filled in automatically. When the policy is loaded, the call
 * is checked against the contract with sample values in its placeholders. It is checked again for each target,
 * with the real values.
 */

import { checkInput } from '../../src/contract/input.ts';
import type { QueryFault } from '../../src/contract/list.ts';
import { pathParameters } from '../../src/contract/operation.ts';
import { isOperationId, type OperationId, operationOf, operations } from '../../src/contract/operations.ts';
import { type IdReference, type NamedReference, namesInInput } from '../../src/contract/references.ts';
import { dayIn } from '../../src/dates.ts';
import { compileExpression, type Expression, ExpressionError } from '../../src/expression/expression.ts';
import type { Field } from '../../src/expression/fields.ts';
import { isList } from '../../src/job/candidates.ts';
import { fieldsOf } from '../../src/job/fields.ts';
import type { Items, OptionFault } from '../../src/job/job.ts';
import { type Source, subjectFields } from '../../src/job/source.ts';
import { isHolder } from '../../src/schema-issue.ts';
import { isSecretKey, redact } from '../../src/secrets.ts';
import { suggestionFor } from '../../src/suggest.ts';

export interface CallTemplate {
  operation: OperationId;
  params?: Readonly<Record<string, unknown>> | undefined;
  body?: unknown;
}

type Path = readonly (string | number)[];

/** A value from the target, and its path in the input: `['site_id']`, `['body', 'note', 'content']`. */
export type Fill = [path: (string | number)[], value: unknown];

/** A place of the input whose value comes from the target. */
interface Placeholder {
  path: Path;
  /** The expression. */
  text: string;
  /** The parameter that names the target: filled in although the policy does not declare it. */
  implied?: true;
}

type Compiled = Placeholder & { expression: Expression; field: Field | undefined };

/** The types of expressions, by the first word of the CEL type, and the kinds of fields that accept them. */
const types: Record<string, { sample: unknown; name: string; fitsInto: readonly Field['kind'][] }> = {
  string: { sample: 'x', name: 'a string', fitsInto: ['string', 'timestamp', 'day'] },
  double: { sample: 1, name: 'a number', fitsInto: ['number'] },
  int: { sample: 1, name: 'a number', fitsInto: ['number'] },
  bool: { sample: true, name: 'true or false', fitsInto: ['boolean'] },
  timestamp: { sample: '2026-11-21T02:00:00Z', name: 'a time', fitsInto: ['timestamp', 'day', 'string'] },
  list: { sample: [], name: 'a list', fitsInto: ['list'] },
};
const fieldKindNames: Partial<Record<Field['kind'], string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  timestamp: 'a time',
  day: 'a day',
  list: 'a list',
  map: 'a map',
  object: 'a map',
};

/**
 * Everything that is wrong with a call for candidates of this source. Paths start at the call. An operation that
 * changes nothing is a fault too.
 */
export function checkCall(
  { operation, ...rest }: Omit<CallTemplate, 'operation'> & { operation: string },
  source: Source,
): OptionFault[] {
  if (!isOperationId(operation)) {
    const suggestion = suggestionFor(operation, Object.keys(operations));
    return [
      { path: ['operation'], message: `There is no operation "${operation}".`, suggestion, form: true },
    ];
  }
  return checkHasEffect(operation) ?? checkInputFor({ operation, ...rest }, source);
}

function checkHasEffect(id: OperationId): OptionFault[] | undefined {
  const { list, answers, effect } = operationOf(id);
  if (effect !== undefined) return undefined;
  const what = list ? 'only lists items' : answers === 'pdf' ? 'only streams a PDF' : 'only reads';
  const message = `${id} ${what}, but api-call needs an operation that makes a change.`;
  return [{ path: ['operation'], message, suggestion: `send it manually: caretaker api ${id}`, form: true }];
}

function checkInputFor(template: CallTemplate, source: Source): OptionFault[] {
  const faults: OptionFault[] = [];
  const placeholders = placeholdersOf(template, source, faults);
  if (faults.length > 0) return faults;
  const { names, wrong } = namesInInput(template.operation, inputOf(template, []));
  faults.push(...wrong.map(({ path, message }) => ({ path: optionPath(path), message, form: true })));
  const samples = [...names, ...wrong].map(({ path }): Fill => [path, 'x']);
  const fromTarget = placeholders.map((placeholder): Fill => {
    const compiled = compilePlaceholder(placeholder, template.operation, source, faults);
    return [[...placeholder.path], compiled ? sampleOf(compiled.expression) : 'x'];
  });
  samples.push(...fromTarget);
  // The type of a value from the target is checked above. That it has a place in the input is not.
  const isOfSample = ({ path, allowed }: { path: string[]; allowed?: readonly string[] }) =>
    !allowed && samples.some(([sample]) => `${path.join('.')}.`.startsWith(`${sample.join('.')}.`));
  faults.push(
    ...secretsIn(template.body, ['body']),
    ...checkInput(template.operation, inputOf(template, samples))
      .filter((fault) => !isOfSample(fault))
      .map((fault) => inOptions(fault, source))
      .map((fault) => ({ ...fault, ...aboutValue(template, fault) })),
  );
  const isForAll = placeholders.length === 0 && isList(source.from);
  return faults.length === 0 && isForAll ? [sameForAll(source)] : faults;
}

/** The names in place of ids in a call; paths start at the call. */
export const namesInCall = (template: CallTemplate): NamedReference[] =>
  namesInInput(template.operation, inputOf(template, [])).names.map(({ path, ...reference }) => ({
    path: [...optionPath(path)],
    ...reference,
  }));

/** The ids in a call that the account has to have: all but those of what it deletes. */
export function idsInCall(template: CallTemplate): IdReference[] {
  const { method } = operationOf(template.operation);
  return namesInInput(template.operation, inputOf(template, []))
    .ids.filter(({ path }) => method !== 'DELETE' || path[0] === 'body')
    .map(({ path, ...reference }) => ({ path: [...optionPath(path)], ...reference }));
}

/** The expressions of a call that `checkCall` found no fault in. */
export const expressionsInCall = (template: CallTemplate, source: Source) =>
  placeholdersOf(template, source, []).flatMap((placeholder) => {
    const compiled = placeholder.implied
      ? undefined
      : compilePlaceholder(placeholder, template.operation, source, []);
    const path = [...optionPath(placeholder.path), 'cel'];
    return compiled ? [{ path, expression: compiled.expression, variables: source.variables }] : [];
  });

/** A call whose expressions are compiled. */
export interface CompiledCall {
  /** Whether it takes more of its target than the id. */
  readsItems: boolean;
  /**
   * The values of the placeholders for one candidate, or why the call cannot be made for it. A day is the day of
   * a time in `timezone`.
   */
  fill(items: Items, at: { now: Date; timezone: string }): { fills: Fill[] } | { missing: string };
}

/** Compiles a call that `checkCall` found no fault in. */
export function compileCall(template: CallTemplate, source: Source): CompiledCall {
  const compiled = placeholdersOf(template, source, []).flatMap(
    (placeholder) => compilePlaceholder(placeholder, template.operation, source, []) ?? [],
  );
  return {
    readsItems: compiled.some(({ implied }) => !implied),
    fill(items, at) {
      const fills: Fill[] = [];
      try {
        for (const { path, text, expression, field } of compiled) {
          const value = expression.of(items, at.now);
          if (isMissing(value, path, expression)) return { missing: `${text} is empty.` };
          if (hasSecret(value))
            return { missing: `${text} contains a credential, and credentials are never stored.` };
          fills.push([[...path], field?.kind === 'day' ? dayOf(value, at.timezone) : value]);
        }
      } catch (error) {
        if (error instanceof ExpressionError) return { missing: error.message };
        throw error;
      }
      const [fault] = checkInput(template.operation, inputOf(template, fills));
      return fault ? { missing: `"${fault.path.join('.')}" ${fault.message}.` } : { fills };
    },
  };
}

/** The values of a target are stored with it until they are sent, so they must not contain credentials. */
const hasSecret = (value: unknown): boolean => JSON.stringify(redact(value)) !== JSON.stringify(value);

/** The input of the call, with these values in its placeholders. */
export function inputOf(
  { params = {}, body }: CallTemplate,
  fills: readonly Fill[],
): Record<string, unknown> {
  const input: Record<string, unknown> = {
    ...Object.fromEntries(
      // People write an id that consists of digits without quotes: `tag_id: 12`.
      Object.entries(params).map(([name, value]) => [
        name,
        typeof value === 'number' ? String(value) : value,
      ]),
    ),
    ...(body === undefined ? {} : { body: structuredClone(body) }),
  };
  for (const [path, value] of fills) setAt(input, path, value);
  return input;
}

function setAt(holder: unknown, path: Path, value: unknown): void {
  const [last = ''] = path.slice(-1);
  const inner = path.slice(0, -1).reduce<unknown>((at, key) => Reflect.get(at as object, key), holder);
  Reflect.set(inner as object, last, value);
}

/** The placeholders of a call. Adds those that are not valid to `faults`. */
function placeholdersOf(
  { operation, params = {}, body }: CallTemplate,
  source: Source,
  faults: OptionFault[],
) {
  const placeholders: Placeholder[] = [];
  const collect = (value: unknown, path: Path): void => {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value) && Object.hasOwn(value, 'cel')) {
      const text: unknown = Reflect.get(value, 'cel');
      if (typeof text === 'string' && Object.keys(value).length === 1) placeholders.push({ path, text });
      else
        faults.push({
          path: [...optionPath(path), 'cel'],
          at: 'key',
          message: 'A value from the target must be a map with the single key "cel" and an expression.',
          form: (fieldAt(operation, path)?.kind ?? 'any') !== 'any',
        });
      return;
    }
    for (const [key, inner] of Object.entries(value)) {
      collect(inner, [...path, Array.isArray(value) ? Number(key) : key]);
    }
  };
  for (const [name, value] of Object.entries(params)) collect(value, [name]);
  collect(body, ['body']);
  const inPath = pathParameters(operationOf(operation).path);
  for (const { name, source: text } of source.parameters) {
    if (!Object.hasOwn(params, name) && inPath.includes(name))
      placeholders.push({ path: [name], text, implied: true });
  }
  return placeholders;
}

function compilePlaceholder(
  placeholder: Placeholder,
  operation: OperationId,
  source: Source,
  faults: OptionFault[],
): Compiled | undefined {
  const path = [...optionPath(placeholder.path), ...(placeholder.implied ? [] : ['cel'])];
  const field = fieldAt(operation, placeholder.path);
  try {
    const expression = compileExpression(placeholder.text, source.variables);
    const type = typeOf(expression);
    if (expression.type !== 'dyn' && !type) {
      const message = `The expression must give a string, a number, true or false, a time or a list of these, but it is ${expression.type}.`;
      faults.push({ path, offset: 0, message });
    } else if (type && field && field.kind !== 'any' && !type.fitsInto.includes(field.kind)) {
      const message = `"${placeholder.path.at(-1)}" must be ${fieldKindNames[field.kind]}, but the expression gives ${type.name}.`;
      const suggestion = field.kind === 'string' ? `write string(${placeholder.text})` : undefined;
      faults.push({ path, offset: 0, message, suggestion });
    }
    return { ...placeholder, expression, field };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message, suggestion, offset } = error;
    faults.push({ path, message, suggestion, ...(offset === undefined ? {} : { offset }) });
    return undefined;
  }
}

const typeOf = ({ type }: Expression) => types[type.replace(/<.*/, '')];
const sampleOf = (expression: Expression): unknown => typeOf(expression)?.sample ?? 'x';

/** The field of the contract at this path of an operation's input; `undefined` when it has none there. */
function fieldAt(operation: OperationId, [first = '', ...rest]: Path): Field | undefined {
  const { path, query, body } = operationOf(operation);
  const required = { nullable: false, optional: false };
  if (pathParameters(path).includes(String(first))) return { kind: 'string', ...required };
  if (first !== 'body') return query && fieldsOf(query)[first];
  const whole: Field | undefined = body && { kind: 'object', fields: fieldsOf(body), ...required };
  return rest.reduce<Field | undefined>((at, key) => {
    if (at?.kind === 'object') return Object.hasOwn(at.fields, key) ? at.fields[key] : undefined;
    return at?.kind === 'list' || at?.kind === 'map' ? at.of : undefined;
  }, whole);
}

/** The path in the options for a path in the input: in the options, parameters are in the map `params`. */
const optionPath = (path: Path): Path => (path[0] === 'body' ? path : ['params', ...path]);

/** What follows from the value that has a fault. */
function aboutValue(
  { operation, ...given }: CallTemplate,
  { path, suggestion }: OptionFault,
): Pick<OptionFault, 'suggestion' | 'missing'> {
  const value = path.reduce<unknown>((at, key) => (isHolder(at) ? Reflect.get(at, key) : undefined), given);
  const isText = fieldAt(operation, path[0] === 'params' ? path.slice(1) : path)?.kind === 'string';
  // YAML reads digits without quotes as a number; where the service expects a string, they need quotes.
  const quotes = isText && typeof value === 'number' ? 'put it into quotes' : undefined;
  const isMissing = value === undefined || (isHolder(value) && Object.keys(value).length === 0);
  return { suggestion: suggestion ?? quotes, ...(isMissing && { missing: [String(path.at(-1))] }) };
}

/** A fault of the input as a fault of the options. */
function inOptions(
  { path, message, allowed, suggestion: given, form = false }: QueryFault,
  source: Source,
): OptionFault {
  const name = path.at(-1) ?? '';
  const isUnknownName = message === 'is not taken here';
  const isParam = path.length === 1 && name !== 'body';
  const { subject } = source;
  const value = `${subject}.${Object.hasOwn(subjectFields(source), name) ? name : ' ... '}`;
  const suggestion =
    message === 'is missing' && isParam
      ? `add it to params, as a string or from the target: ${name}: { cel: ${value} }`
      : (given ??
        (allowed && suggestionFor(name, isParam ? allowed.filter((one) => one !== 'body') : allowed)));
  const indexed = path.map((key) => (/^\d+$/.test(key) ? Number(key) : key));
  return {
    path: optionPath(indexed),
    message: `"${name}" ${message}.`,
    at: isUnknownName ? 'key' : 'value',
    form,
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

const sameForAll = ({ subject }: Source): OptionFault => ({
  path: ['operation'],
  message: 'The call would be the same for every target, because it uses no value from the target.',
  suggestion: `use a value such as { cel: ${subject}.id }, or select { from: account } to make it once in each run`,
});

/** Each run stores a copy of its policy, so a policy must not contain credentials. */
function secretsIn(value: unknown, path: Path): OptionFault[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]): OptionFault[] => {
    const at = [...path, Array.isArray(value) ? Number(key) : key];
    if (!isSecretKey(key) || inner === null) return secretsIn(inner, at);
    return [
      {
        path: at,
        at: 'key',
        message: `"${key}" is a credential, and each run stores a copy of its policy.`,
        suggestion: 'send it manually with caretaker api',
      },
    ];
  });
}

/** An empty id or an unset time (1970): the target does not have the value. */
const isMissing = (value: unknown, path: Path, { type }: Expression): boolean =>
  (value === '' && path[0] !== 'body') ||
  (value === '' && /(^|_)id$/.test(String(path.at(-1)))) ||
  (type === 'timestamp' && value === new Date(0).toISOString());

/** The day of a time in a time zone. A value without a time is a day already. */
function dayOf(value: unknown, timezone: string): unknown {
  if (typeof value !== 'string' || !value.includes('T')) return value;
  return dayIn(timezone, Date.parse(value));
}
