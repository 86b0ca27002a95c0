import { expect, test } from 'vitest';
import { z } from 'zod';
import { ConflictError, GoneError, RejectedError, UnreadableError } from '../../src/client/errors.ts';
import { defineJob } from '../../src/job/job.ts';
import { problemWith } from '../../src/job/problem.ts';
import { createRegistry } from '../../src/job/registry.ts';

const aJob = (name: string) =>
  defineJob({
    name,
    summary: 'Does nothing.',
    options: z.strictObject({}),
    candidates: 'listTags',
    target: (tag) => ({ id: tag.id, label: tag.name }),
    requestsPerTarget: 0,
    act: async () => ({ is: 'done', reason: 'already-done' }),
    reconcile: async () => ({ is: 'absent' }),
  });

test('a job is found by its name, and the names are sorted', () => {
  const [b, a] = [aJob('b-job'), aJob('a-job')];
  const registry = createRegistry([b, a]);
  expect(registry.names()).toEqual(['a-job', 'b-job']);
  expect(registry.get('b-job')).toBe(b);
  expect(registry.get('c-job')).toBeUndefined();
});

test('two jobs with the same name are an error at once', () => {
  expect(() => createRegistry([aJob('twice'), aJob('twice')])).toThrow('Two jobs are called "twice".');
});

test('a job receives conflicts, rejections and missing items, and no other errors', () => {
  const problem = { code: 'busy', message: 'Try later.' };
  expect(problemWith(new ConflictError('syncSite', problem))).toEqual({ conflict: problem });
  expect(problemWith(new RejectedError('syncSite', 422, problem))).toEqual({ rejected: problem });
  expect(problemWith(new GoneError('syncSite', problem))).toEqual({ gone: problem });
  expect(problemWith(new UnreadableError('deleteTag', 200, new Error('It is empty.')))).toEqual({
    made: true,
  });
  expect(problemWith('anything')).toEqual({});
});
