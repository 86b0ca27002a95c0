/** Output: tables that fit, lines for spreadsheets, and what blocks a run. */

import { beforeAll, describe, expect, test } from 'vitest';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { blockerOf } from '../../src/cli/blockers.ts';
import { operationByOtherVerb } from '../../src/cli/commands/api.ts';
import { policyTable } from '../../src/cli/commands/policies.ts';
import { foldSame } from '../../src/cli/output/list.ts';
import { formatLostWork, retryAdvice } from '../../src/cli/output/run-advice.ts';
import { factLines, formatSpread, targetTable } from '../../src/cli/output/show-run.ts';
import { type Terminal, table } from '../../src/cli/output/terminal.ts';
import { isoClock } from '../../src/clock.ts';
import type { Reason, Reasons } from '../../src/run/reasons.ts';
import type { Run } from '../../src/run/run.ts';
import { countOf } from '../../src/text.ts';
import { aPolicy, aSchedule, aTarget } from '../support/builders.ts';

describe('the table of targets', () => {
  const target = aTarget('site-0047', {
    label: 'https://a-rather-long-name-of-a-site.old-town-dental-47.example',
    ...{ state: 'ended', outcome: 'failed', reason: 'unknown-effect', finishedAt: 1 },
    detail: 'The service no longer knows the sync: its snapshot is not found (HTTP 404).',
  });
  const shown = (dataColumns: number | undefined) =>
    targetTable([target], { dataColumns, paint: (_, text) => text } as Terminal).split('\n');

  test.each([60, 80, 120])('does not wrap at %d columns, and never cuts an id or a reason', (columns) => {
    const lines = shown(columns);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    expect(lines[1]).toContain('site-0047');
    expect(lines[1]).toContain('unknown-effect');
  });
  test('cuts nothing at a pipe', () => {
    expect(shown(undefined)[1]).toContain(target.label);
    expect(shown(undefined)[1]).toContain(target.detail);
  });
});

test('a run shows the ids that the names in its policy stand for, each once', () => {
  const looked = (kind: string, name: string, id: string) => ({ path: ['select'], kind, name, id });
  const names = [
    looked('tag', 'Premium', '12'),
    looked('tag', 'Premium', '12'),
    looked('client', 'ACME Ltd', '31'),
  ];
  expect(factLines({ names } as Run)).toEqual(['Names: tag "Premium" is 12, client "ACME Ltd" is 31']);
  expect(factLines({} as Run)).toEqual([]);
});

describe('many targets with the same result', () => {
  const row = (at: number, why: string) => [`site-${at}`, `https://${at}.example`, 'skipped', why];
  const paused = [1, 2, 3, 4, 5, 6].map((at) => row(at, 'It is paused.'));
  const locked = row(7, 'It is locked.');

  test('share one row with their count, at the place of the first; the other rows are kept', () => {
    expect(foldSame([...paused.slice(0, 2), locked, ...paused.slice(2)])).toEqual({
      folded: true,
      rows: [['6 targets', 'https://1.example and 5 more', 'skipped', 'It is paused.'], locked],
    });
  });
  test('that differ only in why share a row too, which says that its reason is that of the first', () => {
    const synced = [1, 2, 3, 4, 5, 6].map((at) => row(at, `Synced ${at} h ago.`));
    expect(foldSame(synced, 3)).toEqual({
      folded: true,
      rows: [['6 targets', 'https://1.example and 5 more', 'skipped', 'The first: Synced 1 h ago.']],
    });
  });
  test('have separate rows if there are only five', () => {
    const few = [locked, ...paused.slice(1)];
    expect(foldSame(few)).toEqual({ folded: false, rows: few });
  });
});

describe('a retry', () => {
  let reasons: Reasons;
  beforeAll(async () => {
    ({ reasons } = await loadJobs());
  });
  const ended = (id: string, outcome: 'failed' | 'skipped', reason: Reason) =>
    aTarget(id, { state: 'ended', outcome, reason, finishedAt: 1 });
  const adviceFor = (...failures: Reason[]) =>
    retryAdvice(
      { id: 'p.1' },
      failures.map((reason, at) => ended(`site-${at}`, 'failed', reason)),
      reasons,
    );

  test('is advised when a target failed for a temporary reason', () => {
    expect(adviceFor('undelivered', 'timeout')).toEqual([
      'Retry the failed targets: caretaker runs retry p.1',
    ]);
  });
  test('is not advised when all targets would fail again until the cause is fixed', () => {
    expect(adviceFor('undelivered', 'rejected', 'not-eligible', 'update-failed', 'uncovered')).toEqual([]);
  });
  test('is not advised when it might repeat a change; a check of the account is advised instead', () => {
    const look =
      'It is unknown whether 2 targets changed (unknown-effect). Check the account before you retry.';
    expect(adviceFor('unknown-effect', 'unknown-effect')).toEqual([look]);
    expect(adviceFor('unknown-effect', 'internal', 'unknown-effect')).toEqual([
      look,
      'Retry the failed targets: caretaker runs retry p.1',
    ]);
  });
  test('is not advised for skipped targets', () => {
    expect(retryAdvice({ id: 'p.1' }, [ended('s', 'skipped', 'timeout')], reasons)).toEqual([]);
  });
});

describe('the table of policies', () => {
  const schedule = aSchedule({ cron: ['0 2 * * *'], timezone: 'America/Argentina/Buenos_Aires' });
  const at = Date.UTC(2026, 10, 21, 2);
  const reason = 'the agency moves house until the first of December';
  const row = {
    policy: aPolicy({ name: 'monthly-reports', schedule }),
    pause: { at, by: 'anna', until: at, reason },
    last: undefined,
    nextAt: at,
    kept: undefined,
  };
  const shown = (dataColumns: number | undefined) =>
    policyTable([row], { dataColumns, paint: (_, text) => text } as Terminal).split('\n');

  test.each([60, 80, 120])(
    'does not wrap at %d columns, and shows the next time of a paused policy',
    (columns) => {
      const lines = shown(columns);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
      expect(lines[1]).toContain('monthly-reports');
      expect(lines[1]).toContain('2026-11-21 02:00Z, paused');
    },
  );
  test('cuts nothing at a pipe', () => {
    expect(shown(undefined)[1]).toContain(reason);
  });
});

describe('a table in a narrow terminal', () => {
  const rows = [['nightly-sync-of-every-site', 'site-sync', 'Mondays', 'succeeded']];
  const shown = (columns: number) =>
    table(['policy', 'job', 'schedule', 'last run'], rows, (_, text) => text, {
      columns,
      shrink: ['job: 0', 'schedule: 0', 'last run: 0'],
    });

  test('names the hidden columns', () => {
    expect(shown(50)).toBe(
      'policy                      schedule  last run\nnightly-sync-of-every-site  Mondays   succeeded\n(hidden, too narrow: job; --json shows all)',
    );
  });
  test('keeps the name whole, however narrow it is', () => {
    expect(shown(20)).toContain('nightly-sync-of-every-site');
    expect(shown(20)).toContain('hidden, too narrow');
  });
  test('has no notice when all columns are shown', () => {
    expect(shown(120)).not.toContain('hidden, too narrow');
  });
});

test('a policy keeps its whole name in a list at 20 columns', () => {
  const name = 'a-policy-with-quite-a-long-name';
  const row = { policy: aPolicy({ name }), pause: undefined, last: undefined, nextAt: 0, kept: undefined };
  expect(policyTable([row], { dataColumns: 20, paint: (_, text) => text } as Terminal)).toContain(name);
});

describe('an operation with another verb of the same meaning', () => {
  test.each([
    ['getSite', 'showSite'],
    ['getSites', 'listSites'],
    ['addSite', 'createSite'],
    ['removeTag', 'deleteTag'],
  ])('is suggested for %s', (word, meant) => {
    expect(operationByOtherVerb(word, ['listSites', 'showSite', 'createSite', 'deleteTag'])).toBe(meant);
  });
  test('is not suggested if it does not exist', () => {
    expect(operationByOtherVerb('getMoon', ['showSite'])).toBeUndefined();
  });
});

test('a count of one is singular', () => {
  expect([0, 1, 2].map((count) => countOf(count, 'request'))).toEqual([
    '0 requests',
    '1 request',
    '2 requests',
  ]);
});

describe('work that the service no longer knows', () => {
  const at = Date.parse('2026-11-21T12:00:00Z');
  const target = (id: string, lostAt?: number) =>
    aTarget(id, { state: 'following', watch: { kind: 'task', since: at }, lostAt });
  test('is reported with the time of the next search', () => {
    const targets = [target('a', at + 5_000), target('b', at), target('c')];
    expect(formatLostWork(targets, at + 10_000)).toBe(
      `2 targets wait for work that the service no longer knows. Caretaker searches for it again from ${isoClock(at + 60_000)} on; targets whose work is not found then end as unknown-effect.`,
    );
    expect(formatLostWork([target('a', at)], at + 60_000)).toContain('1 target waits');
    expect(formatLostWork([target('a', at)], at + 60_000)).toContain('again now;');
  });
  test('is not reported where there is none', () => {
    expect(formatLostWork([target('a')], at)).toBeUndefined();
  });
});

test('a run with a spread shows from when, until when and how often targets start', () => {
  const spread = { from: Date.UTC(2026, 10, 21, 1), ms: 7_200_000, targets: 20 };
  expect(formatSpread({ spread } as Run)).toBe(
    'starts 20 targets from 2026-11-21 01:00Z until 2026-11-21 03:00Z, one every 6m',
  );
  expect(formatSpread({} as Run)).toBeUndefined();
  expect(formatSpread({ spread: { ...spread, targets: 0 } } as Run)).toBeUndefined();
});

describe('what blocks a run', () => {
  const now = 1_000_000;
  const well = { now, watchedSince: now - 60_000, limit: 200, spent: false, resetsAt: now + 30_000, own: 50 };
  test('is nothing while the service responds and requests are left', () => {
    expect(blockerOf(well)).toBeUndefined();
  });
  test('is the service, once it has not responded for ten seconds', () => {
    const failing = { ...well, failedAt: now - 1_000 };
    expect(blockerOf({ ...failing, failingSince: now - 9_000 })).toBeUndefined();
    const unavailable = { is: 'unavailable', since: now - 10_000 };
    expect(blockerOf({ ...failing, failingSince: now - 10_000 })).toEqual(unavailable);
  });
  test('is not the service when it has not failed since the run is watched', () => {
    const before = { ...well, failingSince: now - 600_000, failedAt: now - 60_001 };
    expect(blockerOf(before)).toBeUndefined();
    expect(blockerOf({ ...before, failedAt: now - 60_000 })).toMatchObject({ is: 'unavailable' });
  });
  test('is another client that uses up the budget, but not the run itself', () => {
    const exhausted = { ...well, spent: true, own: 20 };
    expect(blockerOf(exhausted)).toEqual({ is: 'exhausted', limit: 200, until: now + 30_000 });
    expect(blockerOf({ ...exhausted, own: 150 })).toBeUndefined();
    expect(blockerOf({ ...exhausted, resetsAt: now + 5_000 })).toBeUndefined();
  });
});
