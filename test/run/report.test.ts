import { expect, test } from 'vitest';
import { toReport, toSummary } from '../../src/run/report.ts';
import type { Run, Target } from '../../src/run/run.ts';

const run: Run = {
  id: 'nightly-sync.20260801T000000Z',
  policy: 'nightly-sync',
  job: 'site-sync',
  account: 'default',
  status: 'running',
  trigger: 'schedule',
  scheduledFor: Date.UTC(2026, 7, 1),
  createdAt: Date.UTC(2026, 7, 1),
  requests: 7,
  requestsByOperation: { syncSite: 4, listSites: 3 },
  counts: { planned: 2, succeeded: 1, failed: 0, skipped: 0, cancelled: 0 },
  policyJson: '{}',
  policyHash: 'x',
};
const ended: Target = {
  id: '12',
  label: 'a.example',
  state: 'ended',
  fence: 4,
  attempts: 1,
  waits: 0,
  startedAt: Date.UTC(2026, 7, 1, 0, 0, 1),
  finishedAt: Date.UTC(2026, 7, 1, 0, 2),
  outcome: 'succeeded',
  reason: 'done',
  taskId: 't-9',
};

test('a run is printed with the terms of the command line, and unknown values are null', () => {
  const waiting: Target = { id: '13', label: 'b.example', state: 'pending', fence: 0, attempts: 0, waits: 0 };

  expect(toReport(run, [ended, waiting])).toEqual({
    run: 'nightly-sync.20260801T000000Z',
    policy: 'nightly-sync',
    job: 'site-sync',
    status: 'running',
    trigger: 'schedule',
    scheduled_for: '2026-08-01T00:00:00.000Z',
    started_at: null,
    finished_at: null,
    requests: 7,
    requests_by_operation: { syncSite: 4, listSites: 3 },
    counts: { planned: 2, succeeded: 1, failed: 0, skipped: 0, cancelled: 0 },
    targets: [
      {
        id: '12',
        label: 'a.example',
        outcome: 'succeeded',
        reason: 'done',
        detail: null,
        task_id: 't-9',
        attempts: 1,
        started_at: '2026-08-01T00:00:01.000Z',
        finished_at: '2026-08-01T00:02:00.000Z',
      },
      {
        id: '13',
        label: 'b.example',
        outcome: null,
        reason: null,
        detail: null,
        task_id: null,
        attempts: 0,
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
