import { expect, test } from 'vitest';
import { stepNamesIn, toRun, toTarget } from '../../src/run/from-report.ts';
import { attemptsOf, toReport, toSummary } from '../../src/run/report.ts';
import type { Run, Target } from '../../src/run/run.ts';
import { aRun, aTarget } from '../support/builders.ts';

const run = aRun({
  id: 'nightly-sync.20260801T000000Z',
  policy: 'nightly-sync',
  account: 'default',
  status: 'running',
  scheduledFor: Date.UTC(2026, 7, 1),
  createdAt: Date.UTC(2026, 7, 1),
  requests: 7,
  requestsByOperation: { syncSite: 4, listSites: 3 },
  counts: { planned: 2, succeeded: 1, failed: 0, skipped: 0, cancelled: 0 },
  policyJson: '{}',
});
const ended: Target = aTarget('12', {
  ...{ label: 'a.example', state: 'ended', fence: 4, attempts: 1 },
  startedAt: Date.UTC(2026, 7, 1, 0, 0, 1),
  finishedAt: Date.UTC(2026, 7, 1, 0, 2),
  taskId: 't-9',
});
const waiting: Target = aTarget('13', { label: 'b.example' });

test('a run is printed with the terms of the command line, and unknown values are null', () => {
  expect(toReport(run, [ended, waiting])).toEqual({
    run: 'nightly-sync.20260801T000000Z',
    policy: 'nightly-sync',
    job: 'site-sync',
    account: 'default',
    status: 'running',
    trigger: 'schedule',
    scheduled_for: '2026-08-01T00:00:00.000Z',
    created_at: '2026-08-01T00:00:00.000Z',
    started_at: null,
    finished_at: null,
    plan_complete: false,
    requests: 7,
    requests_by_operation: { syncSite: 4, listSites: 3 },
    counts: { planned: 2, succeeded: 1, failed: 0, skipped: 0, cancelled: 0 },
    targets: [
      {
        id: '12',
        label: 'a.example',
        state: 'ended',
        outcome: 'succeeded',
        reason: 'done',
        detail: null,
        task_id: 't-9',
        attempts: 2,
        failed_attempts: 1,
        started_at: '2026-08-01T00:00:01.000Z',
        finished_at: '2026-08-01T00:02:00.000Z',
      },
      {
        id: '13',
        label: 'b.example',
        state: 'pending',
        outcome: null,
        reason: null,
        detail: null,
        task_id: null,
        attempts: 0,
        failed_attempts: 0,
        started_at: null,
        finished_at: null,
      },
    ],
  });
});

test('a run with a message shows it, and a summary has no targets', () => {
  const blocked = toSummary({ ...run, status: 'blocked', detail: 'The account refuses us.', startedAt: 1 });

  expect(blocked).toMatchObject({ status: 'blocked', detail: 'The account refuses us.' });
  expect(blocked.started_at).toBe('1970-01-01T00:00:00.001Z');
  expect(blocked).not.toHaveProperty('targets');
  expect(toSummary(run)).not.toHaveProperty('detail');
});

test('a report that is read back is the same report', () => {
  const since = Date.UTC(2026, 6, 1);
  const change = {
    target: '12',
    label: 'a.example',
    about: 'plugin',
    severity: 'error',
    message: 'Old',
    since,
  } as const;
  const full: Run = {
    ...run,
    status: 'partial',
    detail: 'Something failed.',
    startedBy: { kind: 'user', name: 'anna' },
    afterRun: 'other.20260801T000000Z',
    startedAt: since + 1,
    finishedAt: since + 2,
    planComplete: true,
    spread: { from: since, ms: 60_000, targets: 2 },
    dueBy: since + 1,
    late: { is: 'missed', at: since + 1, expected: since + 3 },
    findings: { open: 1, new: 1, resolved: 1, firstNew: [change], firstResolved: [change] },
    rollout: {
      is: 'pausing',
      until: since + 9,
      batches: [
        {
          ...{ takes: '10%', targets: 1, begunAt: since + 1, endedAt: since + 2 },
          gate: { at: since + 3, is: 'closed', done: 1, failed: 0, unhealthy: 1, why: 'Not healthy.' },
          pauseSkipped: { by: 'anna', at: since + 3, reason: 'in a hurry' },
          resumed: { by: 'ben', at: since + 4 },
        },
        { takes: 'the rest', targets: 1 },
      ],
    },
    approvals: [
      {
        ...{ hash: 'h', since, expires: since + 5, why: 'Always.', from: 1, to: 2, requests: 3 },
        destructive: ['deleteSite'],
        rejected: [{ by: 'anna', at: since + 1, reason: 'in use', targets: 1 }],
        decided: { is: 'approved', by: 'ben', at: since + 2, upTo: 1 },
      },
      { hash: 'y', since, expires: since + 5, why: 'Every batch.', from: 2, to: 2 },
    ],
    recordings: {
      ...{ wanted: 2, recorded: 0, failed: 1, left: 1, requests: 4 },
      first: [{ site: '12', kind: 'work', state: 'failed', why: 'It was refused.' }],
    },
    held: { at: since + 4, since },
    ending: 'gate-closed',
    planHash: 'abc',
    names: [{ path: [], kind: 'tag', name: 'Premium', id: '12' }],
    policyJson: '{"steps":[{"name":"note"},{"name":"sync"}]}',
  };
  const targets: Target[] = [
    { ...ended, steps: [{ reason: 'done', at: since, taskId: 't-1' }] },
    {
      ...ended,
      outcome: 'failed',
      reason: 'timeout',
      detail: 'Late',
      steps: [{ reason: 'done', at: since }],
    },
    waiting,
    {
      ...{ id: '14', label: 'c', state: 'following', fence: 0, attempts: 0, waits: 0, lostAt: since },
      watch: { kind: 'task', of: { id: 't' } },
    } as unknown as Target,
  ];
  const report = toReport(full, targets);
  const again = toReport(toRun(report, stepNamesIn(report.targets)), report.targets.map(toTarget));
  expect(again).toEqual(report);
  expect(toSummary(toRun(toSummary(run)))).toEqual(toSummary(run));
});

test.each([
  ['that was never started', {}, 0],
  ['whose request was answered', { state: 'ended', reason: 'done' }, 1],
  ['that succeeded after a failure', { state: 'ended', reason: 'done', attempts: 1 }, 2],
  ['that waits after a failure', { state: 'waiting', attempts: 1 }, 1],
  ['that waits for another run', { state: 'waiting' }, 1],
  ['that was given up', { state: 'ended', reason: 'unavailable', attempts: 4 }, 4],
])('of a target %s the attempts are counted', (_what, changes, times) => {
  const begun = times === 0 ? {} : { startedAt: 1 };
  const target = { ...waiting, ...begun, ...changes };
  expect(attemptsOf(target as Target)).toBe(times);
});
