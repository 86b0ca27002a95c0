/** What a command that follows a rollout prints: one line for each change of a batch. */
import { expect, test } from 'vitest';
import { RolloutLines } from '../../src/cli/output/rollout-lines.ts';
import type { Batch, Rollout } from '../../src/run/rollout.ts';
import type { Run } from '../../src/run/run.ts';
import { aRun } from '../support/builders.ts';

const at = (minute: number): number => Date.UTC(2026, 10, 22, 2, minute);
const [canary, half, rest]: [Batch, Batch, Batch] = [
  { takes: 'where site.tags.exists(t, t.name == "canary")', targets: 1 },
  { takes: '50%', targets: 0 },
  { takes: 'the rest', targets: 4 },
];
const first = 'batch 1 of 3 (where site.tags.exists(t, t.name == "canary"))';
const runOf = (rollout: Rollout, changes: Partial<Run> = {}): Run =>
  aRun({ id: 'sync.1', status: 'running', rollout, ...changes });
const nextOf = (lines: RolloutLines, run: Run) => lines.next(run, at(40));
const open = {
  at: at(35),
  is: 'open',
  done: 1,
  failed: 0,
  unhealthy: 0,
  why: '0 of 1 target failed, and all are healthy.',
} as const;
const closed = {
  ...open,
  is: 'closed',
  unhealthy: 1,
  why: '1 of 1 target is not healthy (rollout.healthy): a.example.',
} as const;
const begun = { ...canary, begunAt: at(0) };
const ended = { ...begun, endedAt: at(5) };

test('each batch, pause, gate and manual decision has one line, once, in the order of time', () => {
  const lines = new RolloutLines();
  expect(nextOf(lines, aRun({ status: 'planning' }))).toEqual([]);

  const running = runOf({ is: 'running', batches: [begun, half, rest] });
  expect(nextOf(lines, running)).toEqual([`B${first.slice(1)} has begun: 1 target.`]);
  expect(nextOf(lines, running)).toEqual([]);

  const pausing = runOf({ is: 'pausing', until: at(35), batches: [ended, half, rest] });
  expect(nextOf(lines, pausing)).toEqual([
    `B${first.slice(1)} has ended. The run pauses until 2026-11-22 02:35Z.`,
  ]);

  // Everything else between two looks.
  const by = { by: 'anna', at: at(30), reason: 'the client agreed' };
  const last = runOf({
    is: 'running',
    batches: [
      { ...ended, pauseSkipped: by, gate: open },
      { ...half, begunAt: at(36), endedAt: at(36) },
      { ...rest, begunAt: at(37) },
    ],
  });
  expect(nextOf(lines, last)).toEqual([
    'anna skipped the pause: the client agreed',
    `The gate after ${first} is open: 0 of 1 target failed, and all are healthy.`,
    'Batch 2 of 3 (50%) has no targets and is passed over.',
    'Batch 3 of 3 (the rest) has begun: 4 targets.',
  ]);
  expect(nextOf(lines, { ...last, status: 'succeeded' })).toEqual([]);
});

test('a closed gate that waits for a person shows until when, and the commands', () => {
  const lines = new RolloutLines();
  nextOf(lines, runOf({ is: 'asking', batches: [ended, half, rest] }));
  expect(
    nextOf(lines, runOf({ is: 'closed', until: at(59), batches: [{ ...ended, gate: closed }, half, rest] })),
  ).toEqual([
    `The gate after ${first} is closed: 1 of 1 target is not healthy (rollout.healthy): a.example. The run waits for a person until 2026-11-22 02:59Z: caretaker runs resume sync.1, or caretaker runs cancel sync.1`,
  ]);
});

test('a closed gate that stopped the run is left to the result, which says the same', () => {
  const lines = new RolloutLines();
  nextOf(lines, runOf({ is: 'asking', batches: [ended, half, rest] }));
  const stopped = runOf({ is: 'closed', until: at(35), batches: [{ ...ended, gate: closed }, half, rest] });
  expect(nextOf(lines, stopped)).toEqual([]);
  expect(nextOf(lines, { ...stopped, ending: 'gate-closed', status: 'stopped' })).toEqual([]);
});

test('a gate that cannot be asked shows why, once', () => {
  const lines = new RolloutLines();
  const asking = runOf(
    { is: 'asking', batches: [ended, half, rest] },
    { detail: 'The gate could not be asked.' },
  );
  expect(nextOf(lines, asking)).toContain('The gate could not be asked.');
  expect(nextOf(lines, asking)).toEqual([]);
});

test('a person who begins to follow a run in the middle sees its last change only', () => {
  const pausing = runOf({ is: 'pausing', until: at(35), batches: [ended, half, rest] });
  expect(nextOf(new RolloutLines(), pausing)).toEqual([
    `B${first.slice(1)} has ended. The run pauses until 2026-11-22 02:35Z.`,
  ]);
});

test('a run without batches has no lines', () => {
  const whole = { is: 'running', batches: [{ takes: 'all targets', targets: 5, begunAt: at(0) }] } as const;
  expect(nextOf(new RolloutLines(), runOf({ ...whole, batches: [...whole.batches] }))).toEqual([]);
  expect(nextOf(new RolloutLines(), aRun({ status: 'running' }))).toEqual([]);
});
