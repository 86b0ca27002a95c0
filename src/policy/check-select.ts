/** Checks `select` of a policy: where candidates come from, filters, sorts and conditions. */
import { hasNames, nameAsWritten } from '../contract/kinds.ts';
import { checkListQuery, type Filter, type List, type ListQuery, type QueryFault } from '../contract/list.ts';
import { operationOf } from '../contract/operations.ts';
import { nameIn, namesInFilters, withIds } from '../contract/references.ts';
import { ExpressionError } from '../expression/expression.ts';
import { type CandidateSource, candidateLists, isList, parentListOf, subjectOf } from '../job/candidates.ts';
import type { AnyJob } from '../job/job.ts';
import { candidatesOf, listDeclared, type Selected, sourceOf } from '../job/source.ts';
import { suggestionFor } from '../suggest.ts';
import type { Diagnostic } from '../yaml/diagnostic.ts';
import type { Path, Remark } from '../yaml/yaml-file.ts';
import { contradictions } from './never-matches.ts';
import type { PolicyEntry } from './policy-file.ts';
import { compileParentWhere, compileWhereOf, type Where } from './where.ts';

export type Place = (path: Path, remark: Remark) => Diagnostic;

/** The valid parts of a policy's `select`. */
export type PartialSelect = Partial<PolicyEntry['select']>;

/** Where candidates come from, as far as the policy says so. */
export const selectedOf = ({ from, for_each: forEach, join }: PartialSelect): Selected => ({
  ...(from === undefined ? {} : { from }),
  ...(forEach ? { forEach: { list: forEach.list } } : {}),
  ...(join ? { join } : {}),
});

/** Whether the policy says where its candidates come from in a way that the rest of it can be checked against. */
export const isSourceKnown = (select: PartialSelect, job: AnyJob): boolean =>
  !isIncomplete(select) && sourceFaults(select, job).length === 0;

/** Whether `for_each` or `join` lacks what it needs, which is reported as such. */
export function isIncomplete({ for_each: forEach, join = {} }: PartialSelect): boolean {
  const parts: { list?: unknown; on?: unknown }[] = [
    ...(forEach ? [{ list: forEach.list, on: '' }] : []),
    ...Object.values(join),
  ];
  return parts.some(({ list, on }) => list === undefined || on === undefined);
}

function sourceFaults(select: PartialSelect, job: AnyJob): [Path, Remark][] {
  const fault = sourceFault(select, job);
  return fault ? [fault] : joinFaults(select, job);
}

/** Everything that is wrong with `select`. */
export function selectFindings(select: PartialSelect, job: AnyJob, place: Place): Diagnostic[] {
  const faults = sourceFaults(select, job);
  if (faults.length > 0) return faults.map(([at, remark]) => place(at, remark));
  const { filters, sort, timezone, where, for_each: forEach, join = {} } = select;
  const selected = selectedOf(select);
  const items = job.takesLists ? itemFindings(select, job, place) : [];
  if (items.length > 0) return items;
  const list = listDeclared(candidatesOf(job, selected));
  const query = {
    ...(filters && { filters }),
    ...(sort !== undefined && { sort }),
    ...(timezone !== undefined && { timezone }),
  };
  return [
    ...(list ? queryFindings(list, query, ['select'], place) : []),
    ...(where === undefined
      ? []
      : whereFindings(() => compileWhereOf(job, selected, where), ['select'], place)),
    ...(forEach ? parentFindings(forEach, place) : []),
    ...Object.entries(join).flatMap(([name, { list: id, filters }]) => {
      const joined = operationOf(id).list;
      return joined ? queryFindings(joined, { filters }, ['select', 'join', name], place) : [];
    }),
  ];
}

/** Conditions that no item can meet, each with its place. Those that are not valid are reported elsewhere. */
export function uselessConditions(select: PartialSelect, job: AnyJob): [Path, Remark][] {
  if (sourceFaults(select, job).length > 0) return [];
  const { where, for_each: forEach } = select;
  const check = (at: Path, compile: () => Where): [Path, Remark][] => {
    if (expressionFault(compile)) return [];
    const { never } = compile();
    if (!never) return [];
    const [one, other] = never.parts;
    const parts = never.parts.map((part) => `\`${part}\``);
    const message =
      other === undefined
        ? `The condition can never hold: ${parts[0]} is false for every value that the field has.`
        : `The condition can never hold: ${parts.slice(0, -1).join(', ')} and ${parts.at(-1)} exclude each other.`;
    return one === undefined ? [] : [[at, { message, offset: never.offset }]];
  };
  return [
    ...(where === undefined
      ? []
      : check(['select', 'where'], () => compileWhereOf(job, selectedOf(select), where))),
    ...(forEach?.where === undefined
      ? []
      : check(['select', 'for_each', 'where'], () => compileParentWhere(forEach.list, forEach.where ?? ''))),
  ];
}

/** A job that works on whole lists neither chooses among their items nor orders them. */
const itemFindings = (select: PartialSelect, { name }: AnyJob, place: Place): Diagnostic[] =>
  (['where', 'join', 'sort'] as const)
    .filter((key) => select[key] !== undefined)
    .map((key) => {
      const message = `The job ${name} works on whole lists, so "${key}" does not apply to their items.`;
      const suggestion = key === 'where' ? 'use filters, or for_each.where for the sites' : 'remove it';
      return place(['select', key], { at: 'key', message, suggestion });
    });

function parentFindings(
  { list: id, filters, where }: NonNullable<PartialSelect['for_each']>,
  place: Place,
): Diagnostic[] {
  const at = ['select', 'for_each'];
  const { list } = operationOf(id);
  return [
    ...(list ? queryFindings(list, { filters }, at, place) : []),
    ...(where === undefined ? [] : whereFindings(() => compileParentWhere(id, where), at, place)),
  ];
}

/**
 * The job determines the list of candidates; if it works on any list, the policy has to name one. A list that each
 * site has needs `for_each`.
 */
function sourceFault(select: PartialSelect, job: AnyJob): Parameters<Place> | undefined {
  const { from, for_each: forEach } = select;
  if (job.candidates !== 'any') {
    if (forEach) {
      const message = `"for_each" does not apply to the job ${job.name}.`;
      return [['select', 'for_each'], { at: 'key', form: true, message, suggestion: 'remove it' }];
    }
    if (from === undefined || from === job.candidates) return undefined;
    const message = `${whoWorks(job)} on ${job.candidates} only.`;
    return [['select', 'from'], { form: !job.steps, message, suggestion: 'remove "from"' }];
  }
  if (from === undefined) {
    const message = `${whoWorks(job)} on any list; name one with "from", such as listSites.`;
    const suggestion = 'for the account as the one target: from: account';
    return [
      ['select'],
      {
        at: 'key',
        form: !job.steps,
        missing: ['from'],
        message,
        ...(job.takesLists || job.steps ? {} : { suggestion }),
      },
    ];
  }
  if (!isList(from)) {
    if (!job.takesLists) return faultOfAccount(from, select);
    return [['select', 'from'], { message: `${whoWorks(job)} on lists, and ${from} is none.` }];
  }
  const parent = parentListOf(from);
  if (parent === forEach?.list) return undefined;
  if (parent === undefined) {
    const message = `${from} is one list for the whole account, so "for_each" does not apply to it.`;
    return [['select', 'for_each'], { at: 'key', form: true, message, suggestion: 'remove it' }];
  }
  const message = `${from} is a list that each item of ${parent} has.`;
  return [
    ['select', 'from'],
    { form: true, missing: ['for_each'], message, suggestion: `add for_each: ${parent}` },
  ];
}

/** What the account has only one of is not selected from anything. */
function faultOfAccount(from: CandidateSource, select: PartialSelect): [Path, Remark] | undefined {
  const { filters = {}, for_each, sort, timezone, limit, join } = select;
  const given = {
    for_each,
    join,
    filters: Object.keys(filters).length > 0 ? filters : undefined,
    sort,
    timezone,
    limit,
  };
  const [key] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (key === undefined) return undefined;
  const message = `The account has only one ${subjectOf(from)}, so "${key}" does not apply to it.`;
  return [['select', key], { at: 'key', message, suggestion: 'remove it' }];
}

/** Names of variables, and conditions that say which items belong together. */
function joinFaults({ join = {}, ...select }: PartialSelect, job: AnyJob): [Path, Remark][] {
  if (job.candidates !== 'any' && Object.keys(join).length > 0) {
    const message = `"join" does not apply to the job ${job.name}.`;
    return [[['select', 'join'], { at: 'key', message, suggestion: 'remove it' }]];
  }
  const selected = selectedOf(select);
  const taken = [...Object.keys(sourceOf(job, selected).variables), 'now', 'run'];
  return Object.entries(join).flatMap(([name, { list, on }]): [Path, Remark][] => {
    const at = ['select', 'join', name];
    if (taken.includes(name)) {
      const message = `"${name}" is the name of another variable.`;
      return [[at, { at: 'key', message, suggestion: 'choose another name' }]];
    }
    if (taken.includes(candidateLists[list])) {
      const message = `${list} is where candidates come from, and cannot be joined to itself.`;
      return [[[...at, 'list'], { message }]];
    }
    const fault = expressionFault(() => sourceOf(job, { ...selected, join: { [name]: { list, on } } }));
    return fault ? [[[...at, 'on'], fault]] : [];
  });
}

interface Query {
  filters?: PartialSelect['filters'];
  sort?: string;
}

function queryFindings(list: List, query: Query, at: Path, place: Place): Diagnostic[] {
  const { filters = {} } = query;
  const { names, wrong } = namesInFilters(list, filters);
  const faults = checkListQuery(list, { ...query, filters: withoutNames(filters, { names, wrong }) });
  const plain = withoutNames(filters, { names: [], wrong: [...names, ...wrong] });
  return [
    ...faults.map((fault) => place([...at, ...fault.path], faultRemark(fault, query, list))),
    ...wrong.map(({ path, message }) => place([...at, 'filters', ...path], { message })),
    ...(faults.length === 0 ? contradictions(list, plain) : []).map(({ path, message }) =>
      place([...at, ...path], { message }),
    ),
  ];
}

type AtPath = { path: (string | number)[] };

/** Filters with an id for each of `names`, and without the conditions that have one of `wrong`. */
function withoutNames(
  filters: NonNullable<Query['filters']>,
  { names, wrong }: { names: readonly AtPath[]; wrong: readonly AtPath[] },
): NonNullable<ListQuery['filters']> {
  const filled = withIds(
    filters,
    names.map(({ path }) => ({ path, id: '1' })),
  );
  const isWrong = (field: string, operator: string) =>
    wrong.some(({ path }) => path[0] === field && path[1] === operator);
  const entries = Object.entries(filled).map(([field, conditions]) => [
    field,
    Object.fromEntries(Object.entries(conditions).filter(([operator]) => !isWrong(field, operator))),
  ]);
  return Object.fromEntries(entries);
}

function faultRemark({ path, message, allowed, suggestion }: QueryFault, query: Query, list?: List): Remark {
  const [part, field = '', operator] = path;
  const isName = part === 'filters' && (operator === undefined || isNoOperator(list, field, operator));
  const subject = message.startsWith('must ') ? `"${field || part}" ` : '';
  const sentence = `${subject}${message}.`;
  return {
    at: isName ? 'key' : 'value',
    form: true,
    message: sentence.charAt(0).toUpperCase() + sentence.slice(1),
    suggestion:
      suggestion ??
      (operator === undefined ? undefined : hintOnName(list, query, field, operator)) ??
      (allowed && suggestionFor(wrongWord(path, query, isName), allowed)),
  };
}

/** What to write in place of `client_id: { name: Acme }`, where a name is at the place of an operator or of a list. */
function hintOnName(
  list: List | undefined,
  { filters }: Query,
  field: string,
  operator: string,
): string | undefined {
  const filter = list && Object.hasOwn(list.filters, field) ? list.filters[field] : undefined;
  const given: unknown = filters?.[field]?.[operator];
  const one: unknown = Array.isArray(given) ? given[0] : given;
  const name = nameIn(operator === 'name' ? { name: one } : one);
  if (!filter?.idOf || !hasNames(filter.idOf) || name === undefined) return undefined;
  const isRefused = isNoOperator(list, field, operator) || Array.isArray(given) !== (operator === 'in');
  return isRefused ? `write ${conditionOn(field, filter, name)}` : undefined;
}

/** A condition on this field, as in a policy: `tags: { in: [{ name: Premium }] }`. */
export function conditionOn(field: string, { operators, idOf, values }: Filter, name?: string): string {
  const [operator = 'eq'] = operators;
  const named = name === undefined ? '{ name: ... }' : nameAsWritten(name);
  const value = idOf && hasNames(idOf) ? named : (values?.[0] ?? '...');
  return `${field}: { ${operator}: ${operator === 'in' ? `[${value}]` : value} }`;
}

const isNoOperator = (list: List | undefined, field: string, operator: string) =>
  !list ||
  !Object.hasOwn(list.filters, field) ||
  !list.filters[field]?.operators.some((one) => one === operator);

function wrongWord([part, field = '', operator = '']: readonly string[], query: Query, isName: boolean) {
  if (part === 'sort') return query.sort?.split(',')[0] ?? '';
  if (isName) return operator || field;
  const value = query.filters?.[field]?.[operator];
  return String(Array.isArray(value) ? value[0] : value);
}

function whereFindings(compile: () => unknown, at: Path, place: Place): Diagnostic[] {
  const fault = expressionFault(compile);
  return fault ? [place([...at, 'where'], fault)] : [];
}

export function expressionFault(compile: () => unknown): Remark | undefined {
  try {
    compile();
    return undefined;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message, suggestion, offset } = error;
    return { message, suggestion, ...(offset !== undefined && { offset }) };
  }
}

const whoWorks = ({ name, steps }: AnyJob): string => (steps ? 'The steps work' : `The job ${name} works`);
