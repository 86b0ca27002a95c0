import { describe, expect, test } from 'vitest';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { canMove, endedCount, finalStatus, isFinal, sourcesOf } from '../../src/run/moves.ts';
import { type Counts, runStatuses } from '../../src/run/run.ts';

const counts = (changes: Partial<Counts>): Counts => ({
  planned: 10,
  succeeded: 0,
  failed: 0,
  skipped: 0,
  cancelled: 0,
  ...changes,
});

describe('the status of a run', () => {
  test('goes from queued through planning and running to a final status, and no further', () => {
    expect(canMove('queued', 'planning')).toBe(true);
    expect(canMove('planning', 'running')).toBe(true);
    expect(canMove('running', 'succeeded')).toBe(true);
    expect(canMove('queued', 'running')).toBe(false);
    expect(canMove('running', 'planning')).toBe(false);
  });

  test('does not change once it is final', () => {
    const final = runStatuses.filter(isFinal);
    expect(final).toEqual(['succeeded', 'partial', 'failed', 'cancelled', 'skipped', 'stopped']);
    for (const from of final) for (const to of runStatuses) expect(canMove(from, to)).toBe(false);
  });

  test('continues when its account accepts requests again', () => {
    expect(sourcesOf('blocked')).toEqual(['planning', 'running']);
    expect(canMove('blocked', 'planning')).toBe(true);
    expect(canMove('blocked', 'running')).toBe(true);
  });

  test('can become cancelled from any status that is not final', () => {
    expect(sourcesOf('cancelled')).toEqual(runStatuses.filter((status) => !isFinal(status)));
  });
});

describe('the final status of a run', () => {
  test.each([
    ['is succeeded when nothing failed', { succeeded: 10 }, 'succeeded'],
    ['is succeeded when all was skipped', { skipped: 10 }, 'succeeded'],
    ['is succeeded when there was nothing to do', { planned: 0 }, 'succeeded'],
    ['is partial when something failed and something succeeded', { succeeded: 9, failed: 1 }, 'partial'],
    ['is failed when all failed', { failed: 10 }, 'failed'],
    ['is failed when nothing that was attempted succeeded', { failed: 7, skipped: 3 }, 'failed'],
  ])('%s', (_, changes, status) => {
    expect(finalStatus({ counts: counts(changes) })).toBe(status);
  });

  test('is partial at best on a list that is known to be incomplete', () => {
    const remarks = [{ is: 'list', severity: 'error', about: 'list listSites', message: 'x' } as const];
    expect(finalStatus({ counts: counts({ succeeded: 10 }), remarks })).toBe('partial');
    expect(finalStatus({ counts: counts({ failed: 10 }), remarks })).toBe('failed');
  });

  test('is cancelled for a cancelled run, whatever the outcomes of its targets', () => {
    const mixed = counts({ succeeded: 5, failed: 1, cancelled: 4 });
    expect(finalStatus({ ending: 'cancelled', counts: mixed })).toBe('cancelled');
    expect(finalStatus({ ending: 'safety-limit', counts: mixed })).toBe('stopped');
  });

  test('is due when every target has its outcome', () => {
    expect(endedCount(counts({ succeeded: 4, failed: 3, skipped: 2, cancelled: 1 }))).toBe(10);
  });
});

test('each reason is explained in one sentence', async () => {
  for (const [code, { text: sentence }] of (await loadJobs()).reasons) {
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(sentence).toMatch(/^[A-Z].*\.$/);
  }
});
