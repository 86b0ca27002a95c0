/**
 * The JSON Schema of `config/policies/*.yaml`, made from the schema of one policy, the jobs and the contract.
 *
 * It refuses a file if and only if `validate` reports an error in its form (`form` of `Diagnostic`). It accepts a
 * placeholder for every value. What a policy requires may be in `defaults` instead: in a file with defaults a
 * policy is partial, and a key is required where the defaults do not have it.
 */
import { type CandidateList, candidateLists } from '../job/candidates.ts';
import type { Registry } from '../job/registry.ts';
import {
  conditionsOf,
  consequenceOf,
  consequenceOfStep,
  definitionsOf,
  hasStep,
  jobNameSchema,
  queryFrom,
} from './job-schema.ts';
import {
  compacted,
  type JsonSchema,
  jsonSchemaOf,
  placeholderDefinitions,
  withPlaceholders,
} from './json-schema.ts';
import { PolicyEntry, PolicyFileOutline } from './policy-file.ts';

const $schema = 'https://json-schema.org/draft/2020-12/schema';

/** One policy, complete and without placeholders; of any job. */
export const policyEntryJsonSchema = () => jsonSchemaOf(PolicyEntry);

/** A whole file, for editors. */
export function policyFileJsonSchema(registry: Registry) {
  const entry = entryOf(registry);
  const { properties = {} } = jsonSchemaOf(PolicyFileOutline);
  const partial = { $ref: '#/$defs/partialPolicy' };
  return compacted({
    $schema,
    type: 'object',
    properties: {
      vars: properties['vars'] && withoutProto(properties['vars']),
      defaults: {
        description: properties['defaults']?.description,
        allOf: [partial],
        properties: { name: false, matrix: false },
      },
      policies: {
        type: 'array',
        description: properties['policies']?.description,
      },
    },
    required: ['policies'],
    additionalProperties: false,
    if: { required: ['defaults'] },
    // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
    then: {
      properties: { policies: { items: { allOf: [partial], required: ['name'] } } },
      allOf: [...needsOf(entry).map(neededUnlessDefault), ...consequencesOfDefaults(registry)],
    },
    else: { properties: { policies: { items: { $ref: '#/$defs/policy' } } } },
    $defs: {
      policy: { ...withPlaceholders(entry, 'complete'), allOf: conditionsOf(registry, 'complete') },
      partialPolicy: { ...withPlaceholders(entry, 'partial'), allOf: conditionsOf(registry, 'partial') },
      ...definitionsOf(registry),
      ...placeholderDefinitions,
    },
  });
}

function entryOf(registry: Registry): JsonSchema {
  const entry = policyEntryJsonSchema();
  const named = ({ type: _, ...job }: JsonSchema = {}): JsonSchema => ({
    ...job,
    ...jobNameSchema(registry),
  });
  const { properties = {} } = entry;
  const { job, steps } = properties;
  const items = { ...steps?.items };
  items.properties = { ...items.properties, job: named(items.properties?.['job']) };
  return { ...entry, properties: { ...properties, job: named(job), steps: { ...steps, items } } };
}

const withoutProto = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  propertyNames: { ...schema.propertyNames, not: { const: '__proto__' }, doNotSuggest: true },
});

/** What follows from the job and the list in `defaults` for policies that do not name them. */
function consequencesOfDefaults(registry: Registry): object[] {
  const forPolicies = (given: object, unless: object, then: object) => ({
    if: { properties: { defaults: given } },
    // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
    then: { properties: { policies: { items: { if: unless, else: then } } } },
  });
  return [
    ...registry.names().flatMap((name) => {
      const job = registry.get(name);
      if (!job) return [];
      const given = { required: ['job'], properties: { job: { const: name } } };
      return [
        forPolicies(given, { required: ['job'] }, consequenceOf(job, 'partial')),
        forPolicies(hasStep(name), { required: ['steps'] }, consequenceOfStep(job, 'partial')),
      ];
    }),
    ...(Object.keys(candidateLists) as CandidateList[]).map((list) => {
      const from = (one: object) => ({
        required: ['select'],
        properties: { select: { type: 'object', required: ['from'], properties: { from: one } } },
      });
      return forPolicies(from({ const: list }), from({}), queryFrom(list));
    }),
  ];
}

interface Need {
  /** The map that needs it. */
  path: readonly string[];
  needs: JsonSchema;
  /** What the defaults match when the policies do not need it. */
  given: object;
}

/** What the maps of a policy need. */
function needsOf(
  { properties = {}, required = [], oneOf }: JsonSchema,
  path: readonly string[] = [],
): Need[] {
  const keys = required.filter((key) => path.length > 0 || key !== 'name');
  return [
    ...keys.map((key) => ({
      path,
      needs: { required: [key] },
      given: within([...path, key], {}, 'present'),
    })),
    ...(oneOf
      ? [
          {
            path,
            needs: { oneOf },
            given: within(path, path.length === 0 ? { anyOf: oneOf } : {}, 'present'),
          },
        ]
      : []),
    ...Object.entries(properties).flatMap(([key, inner]) => needsOf(inner, [...path, key])),
  ];
}

/** A map that is a placeholder or null needs nothing, so only maps are asked. */
const neededUnlessDefault = ({ path, needs, given }: Need) => ({
  if: { properties: { defaults: given } },
  else: {
    properties: {
      policies: {
        items: within(path, { anyOf: [{ not: { type: 'object' } }, needs] }, 'optional'),
      },
    },
  },
});

/** A schema for what is at a path of maps. */
const within = ([key, ...inner]: readonly string[], schema: object, maps: 'present' | 'optional'): object =>
  key === undefined
    ? schema
    : {
        ...(maps === 'present' && { required: [key] }),
        properties: { [key]: within(inner, schema, maps) },
      };
