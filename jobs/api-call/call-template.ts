/**
 * One call of an operation as a policy writes it down, some of whose values are taken from a target: instead
 * of a value stands a map with the single key `cel`, as in `params: { snapshot_id: { cel:
 * site.backups.latest_snapshot.id } }`.
 *
 * The id of the target itself needs no mention: a parameter named like it is filled in. All of it is held to
 * the contract when the policy is loaded, as far as what is not yet known allows, and again, whole, for each
 * target.
 */

import { checkInput } from '../../src/contract/input.ts';
import { pathParameters } from '../../src/contract/operation.ts';
import { isOperationId, type OperationId, operationOf, operations } from '../../src/contract/operations.ts';
import { dayIn } from '../../src/dates.ts';
import { compileExpression, type Expression, ExpressionError } from '../../src/expression/expression.ts';
import type { Field } from '../../src/expression/fields.ts';
import { type CandidateList, candidateLists } from '../../src/job/candidates.ts';
import { fieldsOf, fieldsOfItem } from '../../src/job/fields.ts';
import type { OptionFault } from '../../src/job/job.ts';
import { isHolder } from '../../src/schema-issue.ts';
import { isSecretKey, redact } from '../../src/secrets.ts';
import { suggestionFor } from '../../src/suggest.ts';

export interface CallTemplate {
  operation: OperationId;
  params?: Readonly<Record<string, unknown>> | undefined;
  body?: unknown;
}

type Path = readonly (string | number)[];

/** A value taken from the target, and where it goes: `['site_id']`, `['body', 'note', 'content']`. */
export type Fill = [path: (string | number)[], value: unknown];

/** A value that is yet to be taken. */
interface Place {
  path: Path;
  source: string;
  /** Filled in without being mentioned. */
  implied?: true;
}

type Compiled = Place & { expression: Expression; field: Field | undefined };

/** What comes out of expressions, by the word that CEL's types begin with, and the fields that take it. */
const kinds: Record<string, { sample: unknown; called: string; goesInto: readonly Field['kind'][] }> = {
  string: { sample: 'x', called: 'a string', goesInto: ['string', 'timestamp', 'day'] },
  double: { sample: 1, called: 'a number', goesInto: ['number'] },
  int: { sample: 1, called: 'a number', goesInto: ['number'] },
  bool: { sample: true, called: 'true or false', goesInto: ['boolean'] },
  timestamp: { sample: '2026-11-21T02:00:00Z', called: 'a time', goesInto: ['timestamp', 'day', 'string'] },
  list: { sample: [], called: 'a list', goesInto: ['list'] },
};
const taken: Partial<Record<Field['kind'], string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  timestamp: 'a time',
  day: 'a day',
  list: 'a list',
  map: 'a map',
  object: 'a map',
};

/** The parameter that names an item of this list in the paths of operations: `site_id` for `listSites`. */
export function ownParameter(from: CandidateList): string | undefined {
  const prefix = `${operationOf(from).path}/{`;
  const owner = Object.values(operations).find(({ path }) => path.startsWith(prefix));
  return owner && pathParameters(owner.path)[0];
}

/**
 * Everything that is wrong with a call for items of this list, placed from the call on: also that it is none
 * that one could ask for each of them.
 */
export function checkCall(
  { operation, ...rest }: Omit<CallTemplate, 'operation'> & { operation: string },
  from: CandidateList,
): OptionFault[] {
  if (!isOperationId(operation)) {
    const suggestion = suggestionFor(operation, Object.keys(operations));
    return [{ path: ['operation'], message: `There is no operation "${operation}".`, suggestion }];
  }
  return changesNothing(operation) ?? checkInputFor({ operation, ...rest }, from);
}

function changesNothing(id: OperationId): OptionFault[] | undefined {
  const { list, answers, effect } = operationOf(id);
  if (effect !== undefined) return undefined;
  const why = list ? 'lists things' : answers === 'pdf' ? 'streams a PDF' : 'changes nothing';
  const message = `${id} ${why}, and a policy makes one change to each target.`;
  return [{ path: ['operation'], message, suggestion: `send it manually: caretaker api ${id}` }];
}

function checkInputFor(template: CallTemplate, from: CandidateList): OptionFault[] {
  const faults: OptionFault[] = [];
  const places = placesOf(template, from, faults);
  if (faults.length > 0) return faults;
  const samples = places.map((place): Fill => {
    const compiled = compiledPlace(place, template.operation, from, faults);
    return [[...place.path], compiled ? sampleOf(compiled.expression) : 'x'];
  });
  const inPlaces = ({ path }: { path: string[] }) =>
    samples.some(([place]) => `${path.join('.')}.`.startsWith(`${place.join('.')}.`));
  faults.push(
    ...secretsIn(template.body, ['body']),
    ...checkInput(template.operation, inputOf(template, samples))
      .filter((fault) => !inPlaces(fault))
      .map((fault) => inOptions(fault, from))
      .map((fault) => ({ ...fault, suggestion: fault.suggestion ?? quotesFor(template, fault.path) })),
  );
  return faults.length > 0 || places.length > 0 ? faults : [sameForAll(from)];
}

/** What fills a call in for one item of a list. */
export interface Filler {
  /**
   * The values taken from the item, or why this item has none that would do. `now` is the moment, days are
   * the zone's.
   */
  fill(item: unknown, at: { now: Date; timezone: string }): { fills: Fill[] } | { lacks: string };
}

/** Prepares a call that `checkCall` found nothing wrong with. */
export function compileCall(template: CallTemplate, from: CandidateList): Filler {
  const subject = candidateLists[from];
  const compiled = placesOf(template, from, []).flatMap(
    (place) => compiledPlace(place, template.operation, from, []) ?? [],
  );
  return {
    fill(item, at) {
      const fills: Fill[] = [];
      try {
        for (const { path, source, expression, field } of compiled) {
          const value = expression.of({ [subject]: item }, at.now);
          if (isMissing(value, path, expression)) return { lacks: `${source} is empty.` };
          if (holdsSecret(value)) return { lacks: `${source} holds a credential, which is never stored.` };
          fills.push([[...path], field?.kind === 'day' ? dayOf(value, at.timezone) : value]);
        }
      } catch (error) {
        if (error instanceof ExpressionError) return { lacks: error.message };
        throw error;
      }
      const [fault] = checkInput(template.operation, inputOf(template, fills));
      return fault ? { lacks: `"${fault.path.join('.')}" ${fault.message}.` } : { fills };
    },
  };
}

/** What is taken from a target is stored with it until it is sent. */
const holdsSecret = (value: unknown): boolean => JSON.stringify(redact(value)) !== JSON.stringify(value);

/** The call itself, with these values in their places. */
export function inputOf(
  { params = {}, body }: CallTemplate,
  fills: readonly Fill[],
): Record<string, unknown> {
  const input: Record<string, unknown> = {
    ...Object.fromEntries(
      // `tag_id: 12` is how people write identifiers that are digits.
      Object.entries(params).map(([name, value]) => [
        name,
        typeof value === 'number' ? String(value) : value,
      ]),
    ),
    ...(body === undefined ? {} : { body: structuredClone(body) }),
  };
  for (const [path, value] of fills) put(input, path, value);
  return input;
}

function put(holder: unknown, path: Path, value: unknown): void {
  const [last = ''] = path.slice(-1);
  const inner = path.slice(0, -1).reduce<unknown>((at, key) => Reflect.get(at as object, key), holder);
  Reflect.set(inner as object, last, value);
}

/** The places of a call that are filled from the target; what is written wrongly there goes to `faults`. */
function placesOf(
  { operation, params = {}, body }: CallTemplate,
  from: CandidateList,
  faults: OptionFault[],
) {
  const places: Place[] = [];
  const seek = (value: unknown, path: Path): void => {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value) && Object.hasOwn(value, 'cel')) {
      const source: unknown = Reflect.get(value, 'cel');
      if (typeof source === 'string' && Object.keys(value).length === 1) places.push({ path, source });
      else
        faults.push({
          path: [...optionPath(path), 'cel'],
          at: 'key',
          message: 'A value taken from the target is a map with the single key "cel" and an expression.',
        });
      return;
    }
    for (const [key, inner] of Object.entries(value)) {
      seek(inner, [...path, Array.isArray(value) ? Number(key) : key]);
    }
  };
  for (const [name, value] of Object.entries(params)) seek(value, [name]);
  seek(body, ['body']);
  const own = ownParameter(from);
  if (own && !Object.hasOwn(params, own) && pathParameters(operationOf(operation).path).includes(own)) {
    places.push({ path: [own], source: `${candidateLists[from]}.id`, implied: true });
  }
  return places;
}

function compiledPlace(
  place: Place,
  operation: OperationId,
  from: CandidateList,
  faults: OptionFault[],
): Compiled | undefined {
  const path = [...optionPath(place.path), ...(place.implied ? [] : ['cel'])];
  const field = fieldAt(operation, place.path);
  try {
    const expression = compileExpression(place.source, { [candidateLists[from]]: fieldsOfItem(from) });
    const kind = kindOf(expression);
    if (expression.type !== 'dyn' && !kind) {
      const message = `The expression must give a string, a number, true or false, a time or a list of these, but it is ${expression.type}.`;
      faults.push({ path, offset: 0, message });
    } else if (kind && field && field.kind !== 'any' && !kind.goesInto.includes(field.kind)) {
      const message = `"${place.path.at(-1)}" must be ${taken[field.kind]}, and the expression gives ${kind.called}.`;
      const suggestion = field.kind === 'string' ? `write string(${place.source})` : undefined;
      faults.push({ path, offset: 0, message, suggestion });
    }
    return { ...place, expression, field };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message, suggestion, offset } = error;
    faults.push({ path, message, suggestion, ...(offset === undefined ? {} : { offset }) });
    return undefined;
  }
}

const kindOf = ({ type }: Expression) => kinds[type.replace(/<.*/, '')];
const sampleOf = (expression: Expression): unknown => kindOf(expression)?.sample ?? 'x';

/**
 * What the contract says of the value at this place of an operation's input; nothing when it says nothing.
 */
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

/** Where a place of the input stands in the options: parameters have a map of their own. */
const optionPath = (path: Path): Path => (path[0] === 'body' ? path : ['params', ...path]);

/** To YAML, what looks like a number is one; where the service takes a text, it belongs into quotes. */
function quotesFor({ operation, ...given }: CallTemplate, path: OptionFault['path']): string | undefined {
  const value = path.reduce<unknown>((at, key) => (isHolder(at) ? Reflect.get(at, key) : undefined), given);
  const isText = fieldAt(operation, path[0] === 'params' ? path.slice(1) : path)?.kind === 'string';
  return isText && typeof value === 'number' ? 'put it into quotes' : undefined;
}

/** A fault of the input, told where it stands in the options. */
function inOptions(
  { path, message, allowed }: { path: string[]; message: string; allowed?: readonly string[] },
  from: CandidateList,
): OptionFault {
  const name = path.at(-1) ?? '';
  const isName = message === 'is not taken here';
  const isParam = path.length === 1 && name !== 'body';
  const source = `${candidateLists[from]}.${Object.hasOwn(fieldsOfItem(from), name) ? name : ' ... '}`;
  const suggestion =
    message === 'is missing' && isParam
      ? `give it under params, as a string or from the target: ${name}: { cel: ${source} }`
      : allowed && suggestionFor(name, isParam ? allowed.filter((one) => one !== 'body') : allowed);
  const indexed = path.map((key) => (/^\d+$/.test(key) ? Number(key) : key));
  return {
    path: optionPath(indexed),
    message: `"${name}" ${message}.`,
    at: isName ? 'key' : 'value',
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

const sameForAll = (from: CandidateList): OptionFault => ({
  path: ['operation'],
  message: 'Every target would be asked the same: nothing in this call is taken from the target.',
  suggestion: `take a value from it, such as { cel: ${candidateLists[from]}.id }, or send it once with caretaker api`,
});

/** What a policy holds is kept with each of its runs, so that it is no place for credentials. */
function secretsIn(value: unknown, path: Path): OptionFault[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]): OptionFault[] => {
    const at = [...path, Array.isArray(value) ? Number(key) : key];
    if (!isSecretKey(key) || inner === null) return secretsIn(inner, at);
    return [
      {
        path: at,
        at: 'key',
        message: `"${key}" is a credential, and policies are kept with their runs.`,
        suggestion: 'send it manually with caretaker api',
      },
    ];
  });
}

/** An identifier that is empty, or a moment that never was: the target does not have what is asked for. */
const isMissing = (value: unknown, path: Path, { type }: Expression): boolean =>
  (value === '' && path[0] !== 'body') ||
  (value === '' && /(^|_)id$/.test(String(path.at(-1)))) ||
  (type === 'timestamp' && value === new Date(0).toISOString());

/** The day of a moment in a time zone; a text is a day already. */
function dayOf(value: unknown, timezone: string): unknown {
  if (typeof value !== 'string' || !value.includes('T')) return value;
  return dayIn(timezone, Date.parse(value));
}
