/** Formats a run: its progress line, its result, and the outcomes of its targets. */
import { isoMinute, isoTime } from '../../clock.ts';
import { kinds } from '../../contract/kinds.ts';
import { endedCount, shownCounts, shownOutcomes } from '../../run/moves.ts';
import { coreReasonText } from '../../run/reasons.ts';
import { formatRecordings, kindNames } from '../../run/recordings.ts';
import { formatLate, type RunReport, type RunSummary, targetColumns, toReport } from '../../run/report.ts';
import { formatRollout } from '../../run/rollout-report.ts';
import type { FindingChange, Outcome, Run, RunStatus, Target } from '../../run/run.ts';
import { isFailure, type SentRequest } from '../../run/sent-request.ts';
import { activeStepOf, withTitle } from '../../run/steps.ts';
import { countOf, visibleLine } from '../../text.ts';
import { formatDuration } from '../../yaml/duration.ts';
import { clockOf } from '../io.ts';
import { foldSame, type List, listTable } from './list.ts';
import { type OutputOption, show } from './show.ts';
import { type Terminal, table } from './terminal.ts';

const statusStyles: Record<RunStatus, 'green' | 'yellow' | 'red' | 'cyan' | 'dim'> = {
  queued: 'dim',
  planning: 'cyan',
  'awaiting-approval': 'yellow',
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

/** `3 succeeded, 1 failed`, without zero counts; how many targets there are as long as none has ended. */
export function countsLine({ counts }: Pick<Run, 'counts'>, { paint }: Terminal): string {
  const shown = shownCounts(counts);
  const parts = shownOutcomes
    .filter((outcome) => shown[outcome] > 0)
    .map((outcome) =>
      paint(outcome === 'found' ? 'yellow' : outcomeStyles[outcome], `${shown[outcome]} ${outcome}`),
    );
  return (
    parts.join(', ') || (counts.planned === 0 ? 'no targets' : `none of ${countOf(counts.planned, 'target')}`)
  );
}

/** `3 succeeded, 1 failed of 12 targets`. */
export function outOf(run: Run, terminal: Terminal): string {
  const targets = countOf(run.counts.planned, 'target');
  if (!run.planComplete) return `${targets} planned so far`;
  const ended = endedCount(run.counts) === 0 ? 'none ended' : countsLine(run, terminal);
  return `${ended} of ${targets}`;
}

/** When an active run ends, or for what it waits: `ends about 2026-11-21 03:00Z`, `waits for an approval`. */
export function formatEnd({
  waits,
  expected_end: end,
}: Pick<RunSummary, 'waits' | 'expected_end'>): string | undefined {
  return waits ?? (end ? `ends about ${isoMinute(end)}` : undefined);
}

/** The progress line. The width of the bar depends on the terminal. */
export function progressLine(run: Run, now: number, terminal: Terminal): string {
  const ended = endedCount(run.counts);
  const { planned } = run.counts;
  const time = clockTime(now - (run.startedAt ?? run.createdAt));
  if (!run.planComplete) return `${run.policy}  ${run.status}, ${countOf(planned, 'target')} so far  ${time}`;
  const width = Math.max(10, Math.min(30, terminal.columns - 70));
  const filled = planned === 0 ? width : Math.floor((ended / planned) * width);
  const bar = terminal.paint('green', '█'.repeat(filled)) + terminal.paint('dim', '░'.repeat(width - filled));
  return `${run.policy}  ${bar} ${ended}/${planned}  ${countsLine(run, terminal)}, ${countOf(run.requests, 'request')}  ${time}`;
}

/** The result of a run, in one or two lines. */
export function endLines(run: Run, terminal: Terminal): string[] {
  const took = run.finishedAt === undefined ? '' : ` in ${clockTime(run.finishedAt - run.createdAt)}`;
  const perTarget =
    run.counts.planned > 0 ? `, ${(run.requests / run.counts.planned).toFixed(2)} per target` : '';
  return [
    `${terminal.paint('bold', run.id)} ${paintStatus(run.status, terminal)}${took}: ${countsLine(run, terminal)} (${countOf(run.requests, 'request')}${perTarget})`,
    ...(run.detail ? [visibleLine(run.detail)] : []),
  ];
}

/** The result of a run, its findings compared with earlier ones, and what it wrote to the sites. */
export const resultLines = (run: Run, terminal: Terminal): string[] => [
  ...endLines(run, terminal),
  ...changeLines(run, terminal),
  ...recordingLines(run, terminal),
];

/** The number of findings, and the new and resolved ones; empty when there are none. */
function changeLines({ findings }: Run, { paint }: Terminal): string[] {
  if (!findings) return [];
  const { open, new: added, resolved, firstNew = [], firstResolved = [] } = findings;
  const lines = (word: 'new' | 'resolved', count: number, named: readonly FindingChange[]): string[] => [
    ...named.map(
      ({ label, message: says, since }) =>
        `  ${paint(word === 'new' ? 'yellow' : 'green', word.padEnd('resolved'.length))}  ${visibleLine(label)}: ${visibleLine(says)}${word === 'new' ? '' : ` (since ${isoMinute(since)})`}`,
    ),
    ...(count > named.length ? [`  and ${count - named.length} more ${word}`] : []),
  ];
  return [
    `Findings: ${open} open, ${added} new, ${resolved} resolved`,
    ...lines('new', added, firstNew),
    ...lines('resolved', resolved, firstResolved),
  ];
}

/** How many recordings of a run were written, and why others were not; empty when it has none. */
function recordingLines({ recordings }: Run, { paint }: Terminal): string[] {
  if (!recordings) return [];
  const { first = [], wanted, recorded, failed, left } = recordings;
  const isPending = wanted > recorded + failed + left;
  return [
    `Recordings: ${formatRecordings(recordings)}${isPending ? '; a daemon writes them, a minute later or more' : ''}`,
    ...first.map(
      ({ site, kind, why }) =>
        `  ${paint('yellow', 'not recorded')}  ${visibleLine(site)}, ${kindNames[kind]}: ${visibleLine(why)}`,
    ),
    ...(failed + left > first.length ? [`  and ${failed + left - first.length} more`] : []),
  ];
}

/** What the names in the policy stand for, each once: `tag "Premium" is 12`. */
function namesLine({ names = [] }: Run): string[] {
  const shown = names.map(
    ({ kind, name, id }) => `${isNamed(kind) ? kinds[kind].noun : kind} "${name}" is ${id}`,
  );
  return shown.length === 0 ? [] : [visibleLine(`Names: ${[...new Set(shown)].join(', ')}`)];
}

const isNamed = (kind: string): kind is keyof typeof kinds => Object.hasOwn(kinds, kind);

/** The names, the spread and the requests of a run, if any: `Requests: 60 syncSite, 7 listSites`. */
export function factLines(run: Run): string[] {
  const spread = formatSpread(run);
  const requests = Object.entries(run.requestsByOperation ?? {}).map(([name, count]) => `${count} ${name}`);
  return [
    ...(run.afterRun === undefined ? [] : [`Started by the end of: ${run.afterRun}`]),
    ...deadlineLines(run),
    ...(run.windowEndsAt === undefined
      ? []
      : [`Window: nothing new begins after ${isoMinute(run.windowEndsAt)}`]),
    ...namesLine(run),
    ...formatRollout(run).map(visibleLine),
    ...(spread === undefined ? [] : [`Spread: ${spread}`]),
    ...(requests.length === 0 ? [] : [`Requests: ${requests.join(', ')}`]),
  ];
}

/** The deadline of a run, if it has one. */
export function deadlineLines(run: Run): string[] {
  if (run.dueBy === undefined) return [];
  const late = formatLate(run);
  return [late === undefined ? `Deadline: ${isoMinute(run.dueBy)}` : `Deadline: it ${late}`];
}

/**
 * Formats the spread of a run (`schedule.spread`): `starts 20 targets from 2026-11-21 01:00Z until 2026-11-21
 * 03:00Z, one every 6m`.
 */
export function formatSpread({ spread }: Run): string | undefined {
  if (!spread || spread.targets === 0) return undefined;
  const { from, ms, targets } = spread;
  return `starts ${countOf(targets, 'target')} from ${isoMinute(from)} until ${isoMinute(from + ms)}, one every ${formatInterval(ms / targets)}`;
}

/** `36s`, `1m12s`, or a decimal fraction below one second: `0.5s`. */
export const formatInterval = (ms: number): string =>
  ms < 1000 ? `${(ms / 1000).toPrecision(1)}s` : formatDuration(Math.round(ms / 1000) * 1000);

/**
 * One row for each target: its outcome and why. `stepNames`: those of the policy, to show at which step an
 * unfinished target is.
 */
export const targetTable = (
  targets: readonly Target[],
  terminal: Terminal,
  stepNames: readonly string[] = [],
): string => tableOf(rowsOf(targets, terminal, stepNames), terminal);

/**
 * The same table, but targets with the same result share one row. `folded` is true if there is such a row.
 */
export function foldedTable(
  targets: readonly Target[],
  terminal: Terminal,
): { text: string; folded: boolean } {
  const { rows, folded } = foldSame(rowsOf(targets, terminal));
  return { text: tableOf(rows, terminal), folded };
}

const rowsOf = (
  targets: readonly Target[],
  { paint }: Terminal,
  stepNames: readonly string[] = [],
): string[][] =>
  targets.map((target) => [
    target.id,
    target.label,
    target.outcome ? paint(outcomeStyles[target.outcome], target.outcome) : target.state,
    target.reason ?? '',
    detailOf(target, activeStepOf(stepNames, target)),
  ]);

/** The detail of a target, with the step that it is at. */
function detailOf({ outcome, reason, detail }: Target, step: string | undefined): string {
  const why = detail ?? (reason && outcome !== 'succeeded' ? coreReasonText(reason) : undefined);
  return step === undefined ? (why ?? '') : withTitle(step, why);
}

function tableOf(rows: readonly string[][], terminal: Terminal): string {
  return table(['target', 'label', 'outcome', 'reason', 'detail'], rows, terminal.paint, {
    columns: terminal.dataColumns,
    // The id and the reason are never cut, because they are needed to look up a target.
    shrink: ['label: 16', 'detail: 24', 'label: 6', 'detail: 0', 'label: 0'],
  });
}

/** Formats 75,000 ms as `1:15`. Hours are shown only if there are any. */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** Empty for a target for which no request is recorded. */
export function requestLines({ requests = [], moreRequests }: Target, terminal: Terminal): string[] {
  if (requests.length === 0) return [];
  return [
    '',
    listTable(list, requests, terminal),
    ...(moreRequests === undefined
      ? []
      : [`${countOf(moreRequests, 'more request')} between the first three and the last ones.`]),
  ];
}

const list: List<SentRequest> = {
  table: {
    sent: ({ at }) => isoTime(at),
    operation: ({ operation }) => operation,
    status: (one, { paint }) => paint(isFailure(one) ? 'red' : 'green', String(one.status ?? 'no answer')),
    ms: ({ ms }) => ms,
    'request id': ({ id }) => id,
    error: ({ code, message }) => [code, message].filter((one) => one !== undefined).join(': '),
  },
  shrink: ['error: 24', 'request id: 0', 'error: 0'],
};

/** A run and its targets in every format: the report as a value, the targets as rows. */
interface Reported {
  run: Run;
  targets: readonly Target[];
  /** The public form of both, where it was read. */
  report?: RunReport;
  text(): void;
}

/** Shows a run with these targets; `text` prints it for people. */
export function showReport(
  terminal: Terminal,
  options: OutputOption,
  { run, targets, report = toReport(run, targets, clockOf(terminal.io).now()), text }: Reported,
): Promise<void> {
  const rows = report.targets.map((target) => ({ run: report.run, ...target }));
  return show(terminal, options, { value: report, rows, columns: targetColumns, text });
}
