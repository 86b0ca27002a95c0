/** How a run looks to a person: its line of progress, its end, and what became of its targets. */
import { endedCount } from '../run/moves.ts';
import { reasons } from '../run/reasons.ts';
import type { Outcome, Run, RunStatus, Target } from '../run/run.ts';
import { type Terminal, table } from './terminal.ts';

const statusStyles: Record<RunStatus, 'green' | 'yellow' | 'red' | 'cyan' | 'dim'> = {
  queued: 'dim',
  planning: 'cyan',
  running: 'cyan',
  blocked: 'red',
  succeeded: 'green',
  partial: 'yellow',
  failed: 'red',
  cancelled: 'yellow',
  skipped: 'dim',
  stopped: 'red',
};
const outcomeStyles: Record<Outcome, 'green' | 'yellow' | 'red' | 'dim'> = {
  succeeded: 'green',
  failed: 'red',
  skipped: 'yellow',
  cancelled: 'dim',
};

export const paintStatus = (status: RunStatus, { paint }: Terminal): string =>
  paint(statusStyles[status], status);

/** `3 succeeded, 1 failed`: only what there is. */
export function countsLine({ counts }: Run, { paint }: Terminal): string {
  const parts = (['succeeded', 'failed', 'skipped', 'cancelled'] as const)
    .filter((outcome) => counts[outcome] > 0)
    .map((outcome) => paint(outcomeStyles[outcome], `${counts[outcome]} ${outcome}`));
  return parts.join(', ') || 'no targets';
}

/** One line of progress; the bar is as wide as the terminal allows. */
export function progressLine(run: Run, now: number, terminal: Terminal): string {
  const ended = endedCount(run.counts);
  const { planned } = run.counts;
  const time = clockTime(now - (run.startedAt ?? run.createdAt));
  if (!run.planComplete) return `${run.policy}  ${run.status}, ${planned} targets so far  ${time}`;
  const width = Math.max(10, Math.min(30, terminal.columns - 70));
  const filled = planned === 0 ? width : Math.floor((ended / planned) * width);
  const bar = terminal.paint('green', '█'.repeat(filled)) + terminal.paint('dim', '░'.repeat(width - filled));
  return `${run.policy}  ${bar} ${ended}/${planned}  ${countsLine(run, terminal)}, ${run.requests} requests  ${time}`;
}

/** The end of a run in two lines or three. */
export function endLines(run: Run, terminal: Terminal): string[] {
  const took = run.finishedAt === undefined ? '' : ` in ${clockTime(run.finishedAt - run.createdAt)}`;
  const perTarget =
    run.counts.planned > 0 ? `, ${(run.requests / run.counts.planned).toFixed(2)} a target` : '';
  return [
    `${terminal.paint('bold', run.id)} ${paintStatus(run.status, terminal)}${took}: ${countsLine(run, terminal)} (${run.requests} requests${perTarget})`,
    ...(run.detail ? [run.detail] : []),
  ];
}

/** A row a target: what became of it and why. */
export function targetTable(targets: readonly Target[], terminal: Terminal): string {
  const rows = targets.map((target) => [
    target.id,
    target.label,
    target.outcome ? terminal.paint(outcomeStyles[target.outcome], target.outcome) : target.state,
    target.reason ?? '',
    target.detail ?? (target.reason && target.outcome !== 'succeeded' ? reasons[target.reason] : ''),
  ]);
  return table(['target', 'label', 'outcome', 'reason', 'detail'], rows, terminal.paint);
}

/** 75,000 ms as `1:15`, hours only when there are any. */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** A moment as a person reads it, in UTC, to the minute: `2026-11-21 02:00Z`. */
export const moment = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')}Z`;
