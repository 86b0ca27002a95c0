/** What a policy would do, for people and as rows. */
import { toPlanReport } from '../../engine/plan/plan-report.ts';
import type { Preview } from '../../engine/plan/preview.ts';
import { countOf, visibleLine } from '../../text.ts';
import { formatDuration } from '../../yaml/duration.ts';
import { foldSame } from './list.ts';
import { type OutputOption, show } from './show.ts';
import { clockTime, formatInterval } from './show-run.ts';
import { formatRequests } from './show-saved-plan.ts';
import { type Terminal, table } from './terminal.ts';

/** The maximum number of rows that are printed without `--all`. */
const MAX_ROWS = 50;

/** As rows, every candidate that was looked at, and what follows for it: `work`, an outcome, or `excluded`. */
export const showPlan = (
  preview: Preview,
  terminal: Terminal,
  options: OutputOption & { all?: boolean },
  saved?: { file: string; hash: string; expires_at: string },
) =>
  show(terminal, options, {
    value: { ...toPlanReport(preview), ...(saved ? { saved } : {}) },
    rows: [
      ...preview.targets.map((target) => ({
        ...{ id: target.id, label: target.label, plan: 'work', reason: null, why: formatWork(target) },
      })),
      ...preview.ended.map(({ id, label, outcome, reason, why }) => ({
        ...{ id, label, plan: outcome, reason, why },
      })),
      ...preview.excluded.map(({ id, label, why }) => ({ id, label, plan: 'excluded', reason: null, why })),
    ],
    columns: ['id', 'label', 'plan', 'reason', 'why'],
    text: () => print(preview, terminal, options.all ? Number.POSITIVE_INFINITY : MAX_ROWS),
  });

const findingsOf = ({ ended }: Preview): number =>
  ended.reduce((sum, one) => sum + (one.findings?.length ?? 0), 0);

/** Its findings are then the first thing that is said of it. */
const reportsOnly = (preview: Preview): boolean => preview.targets.length === 0 && findingsOf(preview) > 0;

/** What becomes of the candidates that are no targets, and what stops the run. */
function summaryOf(preview: Preview): string[] {
  const { ended, excluded, warnings, stoppedBy } = preview;
  const others = reportsOnly(preview) ? ended.filter(({ findings = [] }) => findings.length === 0) : ended;
  const skipped = others.filter(({ outcome }) => outcome === 'skipped').length;
  const parts = [
    [others.length, `without a request${skipped > 0 ? ` (${skipped} skipped)` : ''}`],
    [excluded.length, 'excluded'],
    [warnings.length, warnings.length === 1 ? 'warning' : 'warnings'],
  ] as const;
  const counts = parts.flatMap(([count, what]) => (count > 0 ? `${count} ${what}` : []));
  return [
    ...(counts.length > 0 ? [`Also: ${counts.join(', ')}.`] : []),
    ...(stoppedBy === undefined ? [] : ['A limit would stop it before anything is sent; see below.']),
  ];
}

/** The filters that the list is sent, with the names that ids were looked up by. */
function filterLines({ list, filters, names }: Preview): string[] {
  if (filters.length === 0) return [];
  const nameOf = (id: unknown) => names.find((one) => one.id === id && one.at.startsWith('select.filters.'));
  const shown = (value: unknown) => {
    const name = nameOf(value)?.name;
    return name === undefined ? String(value) : `${String(value)} (${name})`;
  };
  const lines = filters.map(({ field, operator, value, where }) => {
    const origin = where === undefined ? '' : `  from select.where: ${where}`;
    return visibleLine(`  ${field} ${operator} ${[value].flat().map(shown).join(', ')}${origin}`);
  });
  return ['', `Filters sent to ${list}:`, ...lines];
}

/** What planning has cost, and what a run would cost in addition. */
function costLine({ cost }: Preview): string {
  const rest = cost.acting + cost.following;
  const beside = [
    ...(cost.runsBeside > 0 ? [`${countOf(cost.runsBeside, 'active run')}`] : []),
    ...(cost.othersPerMinute ? [`other clients: ${countOf(cost.othersPerMinute, 'request')}/min`] : []),
  ].join(', ');
  const load = beside === '' ? '' : ` at the current load (${beside})`;
  const time = cost.takesMs >= 1_000 ? ` and take about ${clockTime(cost.takesMs)}${load}` : '';
  const from = cost.pastRuns > 0 ? ` (based on ${countOf(cost.pastRuns, 'past run')})` : '';
  return `Planning cost ${countOf(cost.planning, 'request')}. A run would cost about ${rest} more${from}${time}.`;
}

function print(preview: Preview, terminal: Terminal, maxRows: number): void {
  const { policy, job, targets, ended, excluded, spreadMs, recording, warnings, stoppedBy } = preview;
  const { paint, data } = terminal;
  const does = reportsOnly(preview)
    ? `would report ${countOf(findingsOf(preview), 'finding')}.`
    : `would work on ${countOf(targets.length, 'target')}.`;
  data(`${paint('bold', policy)} (${job}) ${does}`);
  for (const line of [...summaryOf(preview), costLine(preview), ...filterLines(preview)]) data(line);
  if (targets.length > 0) data(`\n${targetRows(targets, terminal, maxRows)}`);
  if (spreadMs !== undefined && targets.length > 1)
    data(
      `\nA scheduled run starts them evenly over ${formatDuration(spreadMs)}: one every ${formatInterval(spreadMs / targets.length)}.`,
    );
  for (const line of rolloutLines(preview, terminal)) data(line);
  if (ended.length > 0) {
    data(`\n${ended.length} would be recorded without a request:`);
    data(
      rows(
        ['target', 'label', 'outcome', 'reason', 'why'],
        ended.map(({ id, label, outcome, reason, why }) => [id, label, outcome, reason, why]),
        terminal,
        maxRows,
        4,
      ),
    );
  }
  if (excluded.length > 0) {
    data(`\n${excluded.length} ${excluded.length === 1 ? 'is' : 'are'} excluded:`);
    data(
      rows(
        ['target', 'label', 'why'],
        excluded.map(({ id, label, why }) => [id, label, why]),
        terminal,
        maxRows,
      ),
    );
  }
  if (recording ?? (warnings.length > 0 || stoppedBy !== undefined)) data('');
  if (recording) data(recordingLine(recording));
  for (const one of warnings) data(`${paint('yellow', 'warning')}: ${one}`);
  if (stoppedBy !== undefined)
    data(paint('red', `It would be stopped before anything is sent: ${stoppedBy}`));
}

/** The batches of the rollout, and the approval that the run would wait for. */
function rolloutLines({ batches, approval, cost }: Preview, { paint, dataColumns }: Terminal): string[] {
  const lines: string[] = [];
  if (batches) {
    const cells = batches.map(({ takes, targets, first }, i) => {
      const more = targets > first.length ? ', ...' : '';
      return [
        String(i + 1),
        visibleLine(takes),
        String(targets),
        first.map(({ id }) => id).join(', ') + more,
      ];
    });
    const shown = table(['batch', 'takes', 'targets', 'first'], cells, paint, {
      columns: dataColumns,
      shrink: ['first: 16', 'takes: 16'],
    });
    const count = batches.length === 1 ? 'one batch' : `${batches.length} batches`;
    lines.push(`\nIt would work in ${count}:`, shown);
    if (cost.checks !== undefined)
      lines.push(
        `About ${countOf(cost.checks, 'request')} of its cost would be spent between the batches: on gates, and on looking at the next targets again.`,
      );
  }
  if (approval) {
    const by = new Intl.ListFormat('en', { type: 'disjunction' }).format(approval.by);
    const first = approval.eachBatch ? 'Before each batch it' : 'It';
    const separate = approval.separate ? ' The user who started it may not approve it.' : '';
    lines.push(
      `\n${first} would wait up to ${formatDuration(approval.expiresMs)} for an approval by ${by}. ${approval.why}${separate}`,
    );
  }
  return lines;
}

function recordingLine({ sites, customWork, note, requests }: NonNullable<Preview['recording']>): string {
  const what = [
    ...(customWork === undefined ? [] : [`custom work (“${visibleLine(customWork)}”)`]),
    ...(note ? ['the living note'] : []),
  ].join(' and ');
  return `It would then record ${what} on at most ${countOf(sites, 'site')}: up to ${countOf(requests, 'request')}, of the class record.`;
}

/** The targets, with what would be done about each. */
const targetRows = (targets: Preview['targets'], terminal: Terminal, maxRows: number): string =>
  rows(
    ['target', 'label', 'would do'],
    targets.map((target) => [target.id, target.label, formatWork(target)]),
    terminal,
    maxRows,
  );

/** What would be done: as the job explains it, or its requests. */
function formatWork({ id, plan, ...found }: Preview['targets'][number]): string {
  if (plan !== undefined) return plan;
  return 'unknown' in found ? found.unknown : formatRequests({ id, ...found });
}

function rows(
  headings: string[],
  given: string[][],
  { paint, dataColumns }: Terminal,
  maxRows: number,
  groupedBefore?: number,
): string {
  const why = headings.at(-1) ?? '';
  const { rows: all, folded } =
    maxRows === Number.POSITIVE_INFINITY ? { rows: given, folded: false } : foldSame(given, groupedBefore);
  const shown = table(headings, all.slice(0, maxRows), paint, {
    columns: dataColumns,
    // The id is never cut, because it is needed to find the target.
    shrink: ['label: 16', `${why}: 24`, 'label: 6', `${why}: 8`],
  });
  if (all.length > maxRows) return `${shown}\n… and ${all.length - maxRows} more (plan --all lists them)`;
  return folded ? `${shown}\n(plan --all lists each target)` : shown;
}
