/** `GET /api/v1/openapi.json`: the OpenAPI 3.1 document, made from the commands. */
import { z } from 'zod';
import { type AnyCommand, methodOf } from '../../control/command.ts';
import { commands } from '../../control/commands.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { API } from './commands.ts';
import { sendJson } from './json.ts';
import { ProblemDocument } from './problem-document.ts';

type Json = Record<string, unknown>;

/** What is no command. */
const others = [
  {
    path: '/events',
    name: 'events.stream',
    summary: 'Streams the names of runs and policies that changed, as server-sent events.',
    answer: z.string(),
    mediaType: 'text/event-stream',
  },
  {
    path: '/openapi.json',
    name: 'openapi.show',
    summary: 'Describes this API.',
    answer: z.looseObject({ openapi: z.string() }),
    mediaType: 'application/json',
  },
];

/** The groups of endpoints, which the first words of their names are. A test finds those that lack a line. */
const tags: Readonly<Record<string, string>> = {
  rings: 'The rings of a policy with the job update-rings: what each waits for, holds, releases.',
  announcements: 'Changes that are announced on the sites before they are made.',
  approvals: 'Runs that wait for the approval of a person.',
  audit: 'What people, programs and the daemon did.',
  budgets: 'The requests that an account may send, and who used them.',
  events: 'What changes, while it does.',
  findings: 'What is wrong in the fleet.',
  freezes: 'Times in which no run starts.',
  notifications: 'Messages to receivers, and whether they arrived.',
  openapi: 'This document.',
  plans: 'Plans that are saved, and applied later.',
  policies: 'What is done, where and when.',
  queues: 'The work that waits and is active.',
  runs: 'Each execution of a policy.',
  schedule: 'The scheduled times to come.',
  sites: 'What is known of each site.',
  status: 'Everything at a glance.',
  targets: 'The sites and other things that runs worked on.',
};

export const sendOpenApi = (c: Exchange, { publicUrl }: DashboardContext): Response =>
  sendJson(c, openApiDocument(publicUrl));

/** The document. Every address under `/api/v1` is in it. */
export function openApiDocument(server = '/'): Json {
  const components: Json = {};
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output') => shared(schema, io, components);
  const problemOf = (description: string) => ({
    description,
    content: { 'application/problem+json': { schema: schemaOf(ProblemDocument, 'output') } },
  });
  const answersOf = (schema: z.ZodType, statuses: readonly (keyof typeof problems)[], mediaType: string) => ({
    200: {
      description: 'Done.',
      ...(isPaged(schema) ? { headers: { Link: linkHeader } } : {}),
      content: { [mediaType]: { schema: schemaOf(schema, 'output') } },
    },
    ...Object.fromEntries(statuses.map((status) => [status, problemOf(problems[status])])),
    default: problemOf('A problem (RFC 9457).'),
  });
  const paths: Record<string, Json> = {};
  const add = (path: string, method: 'get' | 'post', operation: Json) => {
    const address = `${API}${path}`;
    paths[address] = { ...paths[address], [method]: operation };
  };
  for (const { path, name, summary, answer, mediaType } of others)
    add(path, 'get', {
      operationId: name,
      tags: [tagOf(name)],
      summary,
      responses: answersOf(answer, [401], mediaType),
    });
  for (const command of commands)
    add(command.path, methodOf(command) === 'GET' ? 'get' : 'post', {
      operationId: command.name,
      tags: [tagOf(command.name)],
      summary: command.summary,
      description: `Needs the role \`${command.role}\`.`,
      ...inputOf(command, schemaOf),
      responses: answersOf(command.answer, statusesOf(command), 'application/json'),
    });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Caretaker',
      version: '1',
      license: { name: 'MIT', identifier: 'MIT' },
      description: 'What people and programs can do with policies and runs. docs/http-api.md has examples.',
    },
    servers: [{ url: server }],
    security: [{ token: [] }],
    tags: [...new Set([...commands, ...others].map(({ name }) => tagOf(name)))]
      .sort()
      .map((name) => ({ name, description: tags[name] })),
    paths,
    components: {
      schemas: components,
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  };
}

/** What an endpoint can answer that is no success. */
const problems = {
  400: 'The request is not valid.',
  401: 'The request has no token, or one that is not accepted.',
  403: 'The token has no role that permits it.',
  404: 'There is no such thing, or the token may not see it.',
  409: 'The present state does not permit it.',
  415: 'The body is not sent as JSON.',
  422: 'The idempotency key was used for another request.',
  503: 'Redis is away, or refuses to write.',
} as const;

function statusesOf(command: AnyCommand): (keyof typeof problems)[] {
  const hasBody = methodOf(command) === 'POST';
  const isFound = command.path.includes('{');
  return [
    400,
    401,
    403,
    ...(isFound ? ([404] as const) : []),
    ...(command.reads ? [] : ([409] as const)),
    ...(hasBody ? ([415] as const) : []),
    ...(command.reads ? [] : ([422] as const)),
    503,
  ];
}

/** `runs` of `runs.cancel`. */
const tagOf = (name: string): string => name.split('.')[0] ?? name;

const isPaged = (schema: z.ZodType): boolean => schema instanceof z.ZodObject && 'next' in schema.shape;
const linkHeader = {
  description: 'The address of the next page, with rel="next"; missing at the end.',
  schema: { type: 'string' },
};

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
