/**
 * JSON Schemas of what a job and its list determine: `with`, and the filters and the order in `select`.
 *
 * They are conditions: when `job` (or `select.from`) has this value, `with` (or `select`) has this schema.
 */
import { nameSchema } from '../contract/input-schema.ts';
import { hasNames, kinds } from '../contract/kinds.ts';
import { type Filter, filterValueSchema, type List, type Operator } from '../contract/list.ts';
import { type OperationId, operationOf } from '../contract/operations.ts';
import { type CandidateList, candidateLists, parentListOf } from '../job/candidates.ts';
import type { AnyJob } from '../job/job.ts';
import type { Registry } from '../job/registry.ts';
import { type Form, type JsonSchema, jsonSchemaOf, nothing, withPlaceholders } from './json-schema.ts';

export type Conditional = JsonSchema | { if: object; then: object };

const lists = Object.keys(candidateLists) as CandidateList[];

/** What operators mean, for hovers. */
const operatorTexts: Record<Operator, string> = {
  eq: 'Is equal to the value.',
  in: 'Is one of the values.',
  contains: 'Contains the text.',
  gte: 'Is this or later; for a version, this or higher.',
  lte: 'Is this or earlier; for a version, this or lower.',
  gt: 'Is later or higher than this.',
  lt: 'Is earlier or lower than this.',
  present: 'Has a value (true), or has none (false).',
};

/** The names of jobs with what they do. */
export const jobNameSchema = (registry: Registry): JsonSchema => ({
  anyOf: registry.names().map((name) => ({
    type: 'string',
    const: name,
    ...describe(registry.get(name)?.summary),
  })),
});

const describe = (description: string | undefined): JsonSchema =>
  description === undefined ? {} : { description };

/** `$defs` for the options of each job and the query of each list, in both forms. */
export function definitionsOf(registry: Registry): Record<string, JsonSchema> {
  const forms: Form[] = ['complete', 'partial'];
  return Object.fromEntries(
    forms.flatMap((form) => [
      ...registry
        .names()
        .map((name) => [
          optionsName(name, form),
          withPlaceholders(jsonSchemaOf(jobIn(registry, name).options), form),
        ]),
      ...lists.map((list) => [queryName(list, form), withPlaceholders(queryOf(list, form), form)]),
      ...lists.map((list) => [filtersName(list, form), withPlaceholders(filtersOf(list), form)]),
    ]),
  );
}

const optionsName = (job: string, form: Form): string => `with-${job}-${form}`;
const queryName = (list: CandidateList, form: Form): string => `select-${list}-${form}`;
const filtersName = (list: CandidateList, form: Form): string => `filters-${list}-${form}`;
const reference = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` });

function jobIn(registry: Registry, name: string): AnyJob {
  const job = registry.get(name);
  if (!job) throw new Error(`There is no job "${name}".`);
  return job;
}

/** What follows for a policy from the job that it names, and from the list that it names. */
export const conditionsOf = (registry: Registry, form: Form): Conditional[] => [
  ...registry.names().map((name) => ({
    if: { required: ['job'], properties: { job: { const: name } } },
    // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
    then: consequenceOf(jobIn(registry, name), form),
  })),
  ...lists.map((list) => ({
    if: {
      required: ['select'],
      properties: { select: { type: 'object', required: ['from'], properties: { from: { const: list } } } },
    },
    // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
    then: { properties: { select: reference(queryName(list, form)) } },
  })),
  ...registry.names().map((name) => ({
    if: hasStep(name),
    // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
    then: consequenceOfStep(jobIn(registry, name), form),
  })),
  { properties: { steps: { items: stepOf(registry) } } },
  { properties: { select: { properties: { join: { additionalProperties: joinedBy(form) } } } } },
];

/** The filters of a joined list. */
const joinedBy = (form: Form): JsonSchema => ({
  allOf: lists.map((list) => ({
    if: { type: 'object', required: ['list'], properties: { list: { const: list } } },
    // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
    then: { properties: { filters: ifMap(reference(filtersName(list, form))) } },
  })),
});

/** Whether a policy has a step with this job. */
export const hasStep = (name: string): object => ({
  required: ['steps'],
  properties: { steps: { type: 'array', contains: ofJob(name) } },
});

const ofJob = (name: string): object => ({
  type: 'object',
  required: ['job'],
  properties: { job: { const: name } },
});

/** What follows for the selection of a policy from the job of one of its steps. */
export const consequenceOfStep = ({ candidates }: AnyJob, form: Form): object =>
  candidates === 'any' ? {} : { properties: { select: ifMap(ownList(candidates, form)) } };

/** What follows for a step from its job. */
const stepOf = (registry: Registry): JsonSchema => ({
  allOf: registry.names().map((name) => {
    const { required = [] } = jsonSchemaOf(jobIn(registry, name).options);
    return {
      if: ofJob(name),
      // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
      then: {
        ...(required.length > 0 && { required: ['with'] }),
        properties: { with: ifMap(reference(optionsName(name, 'complete'))) },
      },
    };
  }),
});

/** What follows for a policy from its job. */
export function consequenceOf(job: AnyJob, form: Form): object {
  const { required = [] } = jsonSchemaOf(job.options);
  const isAny = job.candidates === 'any';
  const needs = [...(required.length > 0 ? ['with'] : []), ...(isAny ? ['select'] : [])];
  return {
    ...(form === 'complete' && needs.length > 0 && { required: needs }),
    properties: {
      with: ifMap(reference(optionsName(job.name, form))),
      select: job.candidates === 'any' ? anyList(form) : ifMap(ownList(job.candidates, form)),
    },
  };
}

/** For a list that only `defaults` name: what follows for a policy that names none itself. */
export const queryFrom = (list: CandidateList): object => ({
  properties: { select: ifMap(reference(queryName(list, 'partial'))) },
});

/** A schema for a map; a placeholder or null can be there instead. */
const ifMap = (schema: object): object => ({
  if: { type: 'object' },
  // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
  then: schema,
});

const anyList = (form: Form): object => (form === 'complete' ? ifMap({ required: ['from'] }) : {});

const ownList = (list: CandidateList, form: Form): object => ({
  allOf: [
    reference(queryName(list, form)),
    { properties: { from: { anyOf: [{ not: { enum: lists } }, { const: list }] } } },
  ],
});

/** The parts of `select` that a list determines. */
function queryOf(id: CandidateList, form: Form): JsonSchema {
  const list = listOf(id);
  const parent = parentListOf(id);
  return {
    ...(parent && { required: ['for_each'] }),
    properties: {
      for_each: parent ? forEachOf(parent, form) : nothing,
      filters: reference(filtersName(id, form)),
      sort: list.sorts.length > 0 ? { description: sortText(list), enum: sortsOf(list) } : nothing,
      ...(!list.timezone && { timezone: nothing }),
    },
  };
}

function listOf(id: OperationId): List {
  const { list } = operationOf(id);
  if (!list) throw new Error(`${id} is not a list.`);
  return list;
}

const filtersOf = (id: OperationId): JsonSchema => ({
  type: 'object',
  description: `The filters of ${id}: ${operationOf(id).summary}`,
  properties: Object.fromEntries(
    Object.entries(listOf(id).filters).map(([field, filter]) => [field, filterOf(field, filter)]),
  ),
  additionalProperties: false,
});

/** The list whose items each have the list of candidates, by its name or with its filters. */
const forEachOf = (parent: CandidateList, form: Form): JsonSchema => ({
  anyOf: [
    { const: parent },
    {
      type: 'object',
      properties: { list: { const: parent }, filters: reference(filtersName(parent, form)) },
    },
  ],
});

const sortsOf = ({ sorts }: List): string[] => sorts.flatMap((field) => [`${field},asc`, `${field},desc`]);
const sortText = ({ defaultSort }: List): string =>
  `Field and direction.${defaultSort === undefined ? '' : ` The API's own order is ${defaultSort}.`}`;

function filterOf(field: string, filter: Filter): JsonSchema {
  const value = jsonSchemaOf(filterValueSchema(filter));
  const { idOf } = filter;
  const one: JsonSchema = idOf && hasNames(idOf) ? { anyOf: [value, nameSchema(idOf)] } : value;
  const valueFor = (operator: Operator): JsonSchema => {
    if (operator === 'present') return jsonSchemaOf(filterValueSchema({ kind: 'boolean' }));
    return operator === 'in' ? ({ type: 'array', items: one, minItems: 1 } as JsonSchema) : one;
  };
  return {
    type: 'object',
    description: `\`${field}\`: ${kindText(filter)} Operators: ${filter.operators.join(', ')}.`,
    properties: Object.fromEntries(
      filter.operators.map((operator) => [
        operator,
        { ...valueFor(operator), description: operatorTexts[operator] },
      ]),
    ),
    additionalProperties: false,
  };
}

function kindText({ kind, values, idOf }: Filter): string {
  if (idOf)
    return hasNames(idOf)
      ? `a ${kinds[idOf].noun}: its id, or { name: ... }.`
      : `the id of a ${kinds[idOf].noun}.`;
  if (values) return `one of ${values.join(', ')}.`;
  return {
    text: 'a text.',
    boolean: 'true or false.',
    timestamp: 'a time such as 2026-11-21T02:00:00Z, or a day.',
    day: 'a day such as 2026-11-21.',
    version: 'a version such as 8 or 8.1.',
  }[kind];
}
