import { expect, test } from 'vitest';
import { openApiDocument } from '../../src/contract/openapi.ts';
import { type OperationId, operationOf, operations } from '../../src/contract/operations.ts';

interface Entry {
  operationId: OperationId;
  parameters?: { name: string; in: string; schema: Record<string, unknown> }[];
  requestBody?: { required: boolean };
  responses: Record<string, Record<string, unknown>>;
}
interface Document {
  openapi: string;
  servers: unknown;
  security: unknown;
  paths: Record<string, Record<string, Entry>>;
  components: Record<string, Record<string, unknown>>;
}

const document = openApiDocument('http://127.0.0.1:4010/api/v6') as unknown as Document;
const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, entry]) => ({ path, method, entry, id: entry.operationId })),
);
const entryOf = (id: OperationId) => entries.find((one) => one.id === id)?.entry;

test('the document shows every operation once, under its own name', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(document.servers).toEqual([{ url: 'http://127.0.0.1:4010/api/v6' }]);
  expect(entries.map(({ id }) => id).sort()).toEqual(Object.keys(operations).sort());
});

test('every request needs the token', () => {
  expect(document.security).toEqual([{ token: [] }]);
  expect(document.components['securitySchemes']).toEqual({ token: { type: 'http', scheme: 'bearer' } });
});

test.each(entries)(
  '$id is shown at its address, with its body, answer and errors',
  ({ path, method, entry, id }) => {
    const operation = operationOf(id);

    expect([path, method]).toEqual([operation.path, operation.method.toLowerCase()]);
    expect(entry.requestBody?.required).toBe(operation.body && (operation.bodyRequired ?? false));
    expect(Object.keys(entry.responses).map(Number)).toEqual([operation.success, ...operation.errors]);
    expect('content' in (entry.responses[operation.success] ?? {})).toBe(operation.success !== 204);
    for (const name of entry.parameters ?? []) {
      if (name.in === 'path') expect(path).toContain(`{${name.name}}`);
    }
  },
);

test('filters are shown as the service takes them in an address', () => {
  const names = entryOf('listSites')?.parameters?.map(({ name }) => name);
  const paging = ['page', 'perPage', 'timezone', 'sort'];

  expect(names).toEqual(expect.arrayContaining([...paging, 'filters[tags:in][]', 'filters[url:contains]']));
});

test('sorting offers both directions of every field, and the default among them', () => {
  const sort = entryOf('listTasks')?.parameters?.find(({ name }) => name === 'sort')?.schema;

  expect(sort).toMatchObject({ default: 'created_at,desc' });
  expect(sort?.['enum']).toHaveLength(6);
});

test('answers are shown strictly, with only the fields of the spec', () => {
  expect(entryOf('showTag')?.responses['200']).toMatchObject({
    content: {
      'application/json': {
        schema: {
          required: ['tag'],
          additionalProperties: false,
          properties: { tag: { required: ['id', 'name', 'color', 'site_ids', 'created_at', 'updated_at'] } },
        },
      },
    },
  });
});

test('the document holds nothing that JSON cannot carry', () => {
  expect(JSON.parse(JSON.stringify(document))).toEqual(document);
});
