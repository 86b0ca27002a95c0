import { expect, test } from 'vitest';
import { decideOverlap } from '../../src/engine/fire.ts';
import { aPolicy, aRun, aSchedule } from '../support/builders.ts';

test.each([
  ['the older starts', { id: 'a', createdAt: 1 }, { id: 'b', createdAt: 2 }],
  ['the older starts, whatever its name', { id: 'b', createdAt: 1 }, { id: 'a', createdAt: 2 }],
  ['one starts where both are of one moment', { id: 'a', createdAt: 1 }, { id: 'b', createdAt: 1 }],
])('of two queued runs that may not overlap, %s', (_, one, other) => {
  const policy = aPolicy({ schedule: aSchedule({ overlap: 'queue' }) });
  const [first, second] = [aRun({ policy: 'p', ...one }), aRun({ policy: 'p', ...other })];
  const turns = [first, second].map((run) => decideOverlap(run, [second, first], policy));
  expect(turns).toEqual(['start', 'wait']);
});
