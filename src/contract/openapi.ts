/** The interface as an OpenAPI 3.1 document, generated from the table that client and sandbox use. */
import { z } from 'zod';
import type { Filters, List } from './list.ts';
import { type Operation, pathParameters } from './operation.ts';
import { type OperationId, operations } from './operations.ts';
import { published } from './schema.ts';

type Json = Record<string, unknown>;

/** What each error status means (spec 7). */
const errorMeanings: Readonly<Record<number, string>> = {
  400: 'Filters or sort are invalid, or the request is malformed.',
  401: 'Authentication is required.',
  403: 'The account is inactive.',
  404: 'There is no such item.',
  409: 'Another change that excludes this one is in progress.',
  422: 'It cannot be carried out in the present state.',
  429: 'The rate limit is used up.',
  503: 'The storage provider is temporarily unavailable.',
};

/** The whole interface, closed: nothing else is accepted or returned. Pure; returns a new object. */
export function openApiDocument(serverUrl: string): Json {
  return {
    openapi: '3.1.0',
    info: { title: 'Site Management Service API', version: '6.0.0' },
    servers: [{ url: serverUrl }],
    security: [{ token: [] }],
    paths: paths(),
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      headers: rateLimitHeaders,
      responses: Object.fromEntries(
        Object.entries(errorMeanings).map(([status, description]) => [`Error${status}`, { description }]),
      ),
    },
  };
}

const rateLimitHeaders = {
  'X-RateLimit-Limit': { description: 'Requests allowed per minute.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left in this window.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'Seconds until the window resets.', schema: { type: 'integer' } },
};

function paths(): Record<string, Json> {
  const all: Record<string, Json> = {};
  for (const [id, operation] of Object.entries(operations) as [OperationId, Operation][]) {
    all[operation.path] = { ...all[operation.path], [operation.method.toLowerCase()]: entry(id, operation) };
  }
  return all;
}

function entry(id: OperationId, operation: Operation): Json {
  const parameters = [
    ...pathParameters(operation.path).map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: identifier,
    })),
    ...(operation.list ? listParameters(operation.list) : []),
    ...queryParameters(operation.query),
  ];
  return {
    operationId: id,
    summary: operation.summary,
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body && {
      requestBody: { required: operation.bodyRequired ?? false, content: json(operation.body, 'input') },
    }),
    responses: responses(operation),
  };
}

const identifier = { type: 'string', minLength: 1 };

function responses({ success, answer, answers, errors }: Operation): Json {
  const refer = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
  const content = answer ? json(published(answer), 'output') : undefined;
  return {
    [success]: {
      description: success === 204 ? 'Done, without a body.' : 'Done.',
      headers: Object.fromEntries(
        Object.keys(rateLimitHeaders).map((name) => [name, refer('headers', name)]),
      ),
      ...(content && { content }),
      ...(answers === 'pdf' && { content: { 'application/pdf': {} } }),
    },
    ...Object.fromEntries(errors.map((status) => [status, refer('responses', `Error${status}`)])),
  };
}

function json(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...shape } = z.toJSONSchema(schema, { io });
  return { 'application/json': { schema: shape } };
}

function listParameters(list: List): Json[] {
  const query = (name: string, schema: Json) => ({ name, in: 'query', schema });
  return [
    ...(list.paged
      ? [
          query('page', { type: 'integer', minimum: 1, default: 1 }),
          query('perPage', { type: 'integer', minimum: 1, maximum: 100, default: 100 }),
        ]
      : []),
    ...(list.timezone ? [query('timezone', { type: 'string', default: 'UTC' })] : []),
    ...(list.sorts.length > 0 ? [query('sort', sortSchema(list))] : []),
    ...filterParameters(list.filters),
  ];
}

const sortSchema = (list: List): Json => ({
  type: 'string',
  enum: list.sorts.flatMap((field) => [`${field},asc`, `${field},desc`]),
  ...(list.defaultSort && { default: list.defaultSort }),
});

/** `filters[field:operator]=value`; `in` repeats `filters[field:in][]` (spec 4.1). */
const filterParameters = (filters: Filters): Json[] =>
  Object.entries(filters).flatMap(([field, { kind, values, operators }]) =>
    operators.map((operator) => {
      const value = operator === 'present' ? valueSchemas.boolean : valueSchemas[kind];
      const one = values ? { ...value, enum: values } : value;
      return operator === 'in'
        ? {
            name: `filters[${field}:in][]`,
            in: 'query',
            style: 'form',
            explode: true,
            schema: { type: 'array', items: one },
          }
        : { name: `filters[${field}:${operator}]`, in: 'query', schema: one };
    }),
  );

const valueSchemas = {
  text: { type: 'string' },
  boolean: { type: 'boolean' },
  timestamp: { type: 'string', format: 'date-time' },
  day: { type: 'string', format: 'date' },
  version: { type: 'string', pattern: '^\\d+(\\.\\d+){0,2}$' },
};

const queryParameters = (query: z.ZodObject | undefined): Json[] =>
  Object.entries(query?.shape ?? {}).map(([name, field]) => ({
    name,
    in: 'query',
    required: !(field instanceof z.ZodOptional),
    schema: { type: 'string' },
  }));
