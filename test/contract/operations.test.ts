import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkListQuery } from '../../src/contract/list.ts';
import { type Operation, pathParameters } from '../../src/contract/operation.ts';
import { isOperationId, operations } from '../../src/contract/operations.ts';

const table = Object.entries(operations) as [string, Operation][];
const lists = table.flatMap(([id, { list, ...rest }]) => (list ? [{ id, list, ...rest }] : []));

describe('the table of operations', () => {
  test('has all 106 operations of the service', () => {
    expect(table).toHaveLength(106);
  });

  test('has only one operation for each path and method', () => {
    const addresses = table.map(([, { method, path }]) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`);

    expect(new Set(addresses).size).toBe(addresses.length);
  });

  test('has an operation only under its own name', () => {
    expect(isOperationId('syncSite')).toBe(true);
    expect(isOperationId('syncsite')).toBe(false);
    expect(isOperationId('constructor')).toBe(false);
  });

  test.each(table)('%s is declared completely', (_id, operation) => {
    const { path, success, answer, answers, errors, method, body, effect, section, summary } = operation;

    expect(path).toMatch(/^\/[a-z/{}_-]+$/);
    expect(new Set(pathParameters(path)).size).toBe(pathParameters(path).length);
    expect(section).toMatch(/^4\.\d+$/);
    expect(summary).toMatch(/^[A-Z].*\.$/);
    expect(success === 204).toBe(answer === undefined && answers === undefined);
    expect([...errors]).toEqual([...new Set(errors)].sort((a, b) => a - b));
    expect(errors).toEqual(expect.arrayContaining([401, 403, 429]));
    expect(effect === undefined).toBe(method === 'GET');
    if (method !== 'POST') expect(body).toBeUndefined();
    if (operation.bodyRequired) expect(body).toBeDefined();
    if (method === 'DELETE') expect(success).toBe(204);
    if (success === 201) expect(effect).toBe('once');
  });

  test.each(lists)(
    '$id finds its items in its own answer, and sorts by what it offers',
    ({ list, answer, method }) => {
      expect(method).toBe('GET');
      const shape = answer instanceof z.ZodObject ? answer.shape : {};
      expect(shape[list.key]).toBeInstanceOf(z.ZodArray);
      expect('meta' in shape).toBe(list.paged);
      expect(list.defaultSort !== undefined).toBe(list.sorts.length > 0);
      expect(checkListQuery(list, list.defaultSort ? { sort: list.defaultSort } : {})).toEqual([]);
      for (const filter of Object.values(list.filters)) expect(filter.operators.length).toBeGreaterThan(0);
    },
  );
});

describe('rows that other rooms rely on', () => {
  test('only a test of a backup destination may find the storage provider unavailable', () => {
    expect(table.filter(([, { errors }]) => errors.includes(503)).map(([id]) => id)).toEqual([
      'testBackupDestination',
    ]);
  });

  test('operations that send, start, extend or replace are never repeated without a check', () => {
    const once = table.filter(([, { effect }]) => effect === 'once').map(([id]) => id);

    expect(once).toEqual(
      expect.arrayContaining([
        'syncSite',
        'sendReportEmail',
        'createReport',
        'startSiteBackupUpload',
        'extendStagingSiteExpiry',
        'resendTeamMemberInvitation',
        'updateTeamMember',
        'rotateSenderEmailDkim',
        'updateSiteNote',
      ]),
    );
  });
});
