/** `GET /api/v1/openapi.json`: the OpenAPI 3.1 document, made from the commands and the schemas of what is read. */
import { z } from 'zod';
import { RunAnswer } from '../../control/answers.ts';
import { type AnyCommand, methodOf } from '../../control/command.ts';
import { commands } from '../../control/commands.ts';
import { outcomes } from '../../run/run.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { API } from './commands.ts';
import { sendJson } from './json.ts';
import { ProblemDocument } from './problem-document.ts';
import { RunsQuery } from './runs.ts';
import { TargetsQuery } from './targets.ts';

type Json = Record<string, unknown>;

const Policy = z
  .looseObject({ name: z.string(), description: z.string().nullable(), job: z.string(), account: z.string() })
  .meta({ id: 'Policy', description: 'The object of `caretaker policies --json`.' });
const Target = z
  .looseObject({
    id: z.string(),
    label: z.string(),
    outcome: z.enum(outcomes).nullable(),
    reason: z.string().nullable(),
    detail: z.string().nullable(),
    requests: z
      .array(
        z.object({
          operation: z.string(),
          at: z.string(),
          ms: z.number().describe('From sending the request to the begin of its answer.'),
          status: z.int().nullable().describe('The HTTP status; null when no answer came.'),
          request_id: z.string().nullable().describe('The id that the service gave the request.'),
          error: z.object({ code: z.string().nullable(), message: z.string().nullable() }).nullable(),
        }),
      )
      .optional()
      .describe('The first and the last requests that were sent for the target alone.'),
    more_requests: z.int().optional().describe('How many more were sent between them.'),
  })
  .meta({ id: 'Target' });

/** What is read without a command. */
interface Read {
  path: string;
  name: string;
  summary: string;
  query?: z.ZodType;
  answer: z.ZodType;
  mediaType?: string;
}

const reads: readonly Read[] = [
  {
    path: '/policies',
    name: 'policies.list',
    summary: 'Lists the active policies.',
    answer: z.object({ policies: z.array(Policy) }),
  },
  { path: '/policies/{name}', name: 'policies.get', summary: 'Shows an active policy.', answer: Policy },
  {
    path: '/runs',
    name: 'runs.list',
    summary: 'Lists runs, newest first. The header Link has the next page.',
    query: RunsQuery(0),
    answer: z.object({ runs: z.array(RunAnswer) }),
  },
  {
    path: '/runs/{id}',
    name: 'runs.get',
    summary: 'Shows a run with all its targets.',
    query: z.object({
      targets: z.enum(['true', 'false']).default('true').describe('Whether to show the targets.'),
    }),
    answer: RunAnswer.extend({ targets: z.array(Target).optional() }),
  },
  {
    path: '/runs/{id}/targets',
    name: 'runs.targets',
    summary: 'Lists the targets of a run by the page.',
    query: TargetsQuery,
    answer: z.object({ targets: z.array(Target), next: z.int().nullable() }),
  },
  {
    path: '/targets/{account}/{id}',
    name: 'targets.get',
    summary: 'Shows the results of a target in its last twenty runs.',
    answer: z.object({
      runs: z.array(z.object({ run: z.string(), policy: z.string(), status: z.string(), target: Target })),
    }),
  },
  {
    path: '/events',
    name: 'events.stream',
    summary: 'Streams the names of runs and policies that changed, as server-sent events.',
    answer: z.string(),
    mediaType: 'text/event-stream',
  },
  {
    path: '/openapi.json',
    name: 'openapi.get',
    summary: 'Describes this API.',
    answer: z.looseObject({ openapi: z.string() }),
  },
];

export const sendOpenApi = (c: Exchange, { publicUrl }: DashboardContext): Response =>
  sendJson(c, openApiDocument(publicUrl));

/** The document. Every address under `/api/v1` is in it. */
export function openApiDocument(server = '/'): Json {
  const components: Json = {};
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output') => shared(schema, io, components);
  const problem = {
    description: 'A problem (RFC 9457).',
    content: { 'application/problem+json': { schema: schemaOf(ProblemDocument, 'output') } },
  };
  const answerOf = (schema: z.ZodType, mediaType = 'application/json') => ({
    200: { description: 'Done.', content: { [mediaType]: { schema: schemaOf(schema, 'output') } } },
    default: problem,
  });
  const paths: Record<string, Json> = {};
  const add = (path: string, method: 'get' | 'post', operation: Json) => {
    const address = `${API}${path}`;
    paths[address] = { ...paths[address], [method]: operation };
  };
  for (const { path, name, summary, query, answer, mediaType } of reads)
    add(path, 'get', {
      operationId: name,
      summary,
      parameters: [...pathParameters(path), ...(query ? queryParameters(query, schemaOf) : [])],
      responses: answerOf(answer, mediaType),
    });
  for (const command of commands)
    add(command.path, methodOf(command) === 'GET' ? 'get' : 'post', {
      operationId: command.name,
      summary: command.summary,
      description: `Needs the role \`${command.role}\`.`,
      ...inputOf(command, schemaOf),
      responses: answerOf(command.answer),
    });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Caretaker',
      version: '1',
      description: 'What people and programs can do with policies and runs. docs/http-api.md has examples.',
    },
    servers: [{ url: server }],
    security: [{ token: [] }],
    paths,
    components: {
      schemas: components,
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  };
}

type SchemaOf = (schema: z.ZodType, io: 'input' | 'output') => Json;

const namesIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

const pathParameters = (path: string, descriptions: Json = {}): Json[] =>
  namesIn(path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...(typeof descriptions[name] === 'string' ? { description: descriptions[name] } : {}),
  }));

function queryParameters(query: z.ZodType, schemaOf: SchemaOf, without: readonly string[] = []): Json[] {
  const { properties = {}, required = [] } = schemaOf(query, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties)
    .filter(([name]) => !without.includes(name))
    .map(([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: required.includes(name),
      schema,
      ...(description === undefined ? {} : { description }),
    }));
}

const keyHeader = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  description:
    'Any text. Requests with the same key within 24 hours are carried out once, and get the same answer.',
};

function inputOf(command: AnyCommand, schemaOf: SchemaOf): Json {
  const { path, input } = command;
  const inPath = namesIn(path);
  const schema = schemaOf(input, 'input') as { properties?: Record<string, Json>; required?: string[] };
  const descriptions = Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, { description }]) => [name, description]),
  );
  const parameters = pathParameters(path, descriptions);
  if (methodOf(command) === 'GET')
    return { parameters: [...parameters, ...queryParameters(input, schemaOf, inPath)] };
  const properties = Object.fromEntries(
    Object.entries(schema.properties ?? {}).filter(([name]) => !inPath.includes(name)),
  );
  const required = (schema.required ?? []).filter((name) => !inPath.includes(name));
  return {
    parameters: command.reads ? parameters : [...parameters, keyHeader],
    requestBody: {
      required: required.length > 0,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties,
            additionalProperties: false,
            ...(required.length > 0 ? { required } : {}),
          },
        },
      },
    },
  };
}

/** The JSON Schema of a schema. Parts with a name are put into the components, and referred to. */
function shared(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const made = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json;
  const moved = JSON.parse(JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
  const { $schema: _dialect, $defs: parts = {}, id, ...rest } = moved;
  for (const [name, part] of Object.entries(parts as Record<string, Json>)) {
    const { id: _name, ...named } = part;
    components[name] = named;
  }
  if (typeof id !== 'string') return rest;
  components[id] = rest;
  return { $ref: `#/components/schemas/${id}` };
}
