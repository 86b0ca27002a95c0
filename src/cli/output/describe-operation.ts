/** Describes the input and the response of an operation, from the contract. */
import { z } from 'zod';
import { openApiDocument } from '../../contract/openapi.ts';
import { type Operation, pathParameters } from '../../contract/operation.ts';
import { type OperationId, operationOf } from '../../contract/operations.ts';

/** The operation as in `/openapi.json`. */
export function describeAsJson(id: OperationId): unknown {
  const { method, path } = operationOf(id);
  const paths = openApiDocument('')['paths'] as Record<string, Record<string, object>>;
  return { method, path, ...paths[path]?.[method.toLowerCase()] };
}

/** The operation as text: what it does, its input by command-line option, its response, and an example. */
export function describeOperation(id: OperationId): string {
  const operation = operationOf(id);
  const { method, path, summary, list } = operation;
  const sections: [string, string[]][] = [
    ['Parameters: --param name=value', parameters(operation)],
    ['Filters: --filter field:operator=value', filters(operation)],
    ['Sorts: --sort field,asc or field,desc', list ? sorts(list) : []],
    [`Body: --body file, ${operation.bodyRequired ? 'required' : 'optional'}`, body(operation)],
    ['Response', response(operation)],
    ['Effect', effect(operation)],
    ['Example', [exampleOf(id, operation)]],
  ];
  const parts = sections
    .filter(([, lines]) => lines.length > 0)
    .map(([heading, lines]) => [heading, ...lines.map((line) => `  ${line}`)].join('\n'));
  return [`${id}: ${method} ${path}\n${summary}`, ...parts].join('\n\n');
}

function parameters({ path, query, list }: Operation): string[] {
  const fields = Object.entries(query?.shape ?? {}).map(([name, schema]): [string, string] => {
    const optional = z.safeParse(schema as z.ZodType, undefined).success;
    return [name, `${sketch(jsonSchema(schema as z.ZodType))}${optional ? '' : ', required'}`];
  });
  return columns([
    ...pathParameters(path).map((name): [string, string] => [name, 'part of the path, required']),
    ...fields,
    ...(list?.paged
      ? ([
          ['page', 'page number, from 1; --all reads all pages'],
          ['perPage', 'items per page, 1 to 100'],
        ] as [string, string][])
      : []),
    ...(list?.timezone
      ? ([['timezone', 'time zone of the times in the response, such as Europe/Berlin']] as [
          string,
          string,
        ][])
      : []),
  ]);
}

function filters({ list }: Operation): string[] {
  return columns(
    Object.entries(list?.filters ?? {}).map(([field, { kind, values, operators }]) => {
      const value = values ? `one of ${values.join(', ')}` : kind;
      return [`${field}:${operators.join('|')}`, value];
    }),
  );
}

const sorts = ({ sorts: fields, defaultSort }: NonNullable<Operation['list']>): string[] =>
  fields.length === 0 ? [] : [`${fields.join(', ')}${defaultSort ? ` (default ${defaultSort})` : ''}`];

const body = ({ body: schema }: Operation): string[] => (schema ? sketchOf(schema).split('\n') : []);

function response({ success, answer, answers: form, errors, list }: Operation): string[] {
  const names = answer instanceof z.ZodObject ? Object.keys(answer.shape).join(', ') : '';
  const good =
    form === 'pdf'
      ? 'a PDF, written to the file of --file'
      : list
        ? `JSON: ${names}, with the items in ${list.key}`
        : names
          ? `JSON: ${names}`
          : 'nothing';
  return [`${success}: ${good}`, `errors: ${errors.join(', ')}`];
}

const effects = {
  once: ['changes the account with every request'],
  repeatable: ['changes the account; a repeated request has the same effect'],
};
const effect = ({ effect: kind }: Operation): string[] => (kind ? effects[kind] : []);

/** A command that calls the operation. */
export function exampleOf(id: OperationId, { path, list, bodyRequired, answers: form }: Operation): string {
  const [field, filter] = Object.entries(list?.filters ?? {}).find(([, { values }]) => values) ?? [];
  const [operator] = filter?.operators ?? [];
  return [
    `caretaker api ${id}`,
    ...pathParameters(path).map((name) => `--param ${name}=ID`),
    ...(field ? [`--filter ${field}:${operator}=${filter?.values?.[0]}`] : []),
    ...(bodyRequired ? ['--body body.json'] : []),
    ...(form === 'pdf' ? ['--file report.pdf'] : []),
  ].join(' ');
}

function columns(rows: [string, string][]): string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, says]) => `${name.padEnd(width)}  ${says}`);
}

interface Shape {
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  items?: Shape;
  properties?: Record<string, Shape>;
  required?: string[];
  anyOf?: Shape[];
  oneOf?: Shape[];
}

const jsonSchema = (schema: z.ZodType): Shape =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape;

/** The JSON that a schema accepts, with types in place of values. */
export const sketchOf = (schema: z.ZodType): string => sketch(jsonSchema(schema));

function sketch(shape: Shape, indent = ''): string {
  const choices = shape.anyOf ?? shape.oneOf;
  if (choices) return choices.map((one) => sketch(one, indent)).join(' | ');
  if (shape.enum) return shape.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  if (shape.type === 'array') return `[ ${sketch(shape.items ?? {}, indent)}, ... ]`;
  if (shape.type === 'object' && shape.properties) {
    const inner = `${indent}  `;
    const lines = Object.entries(shape.properties).map(([name, value]) => {
      const optional = shape.required?.includes(name) ? '' : ' (optional)';
      return `${inner}"${name}": ${sketch(value, inner)}${optional}`;
    });
    return `{\n${lines.join(',\n')}\n${indent}}`;
  }
  return shape.format ?? [shape.type ?? 'any'].flat().join(' | ');
}
