import { version } from '../../app/version.ts';
import { isoMinute } from '../../clock.ts';
import { toPlanReport } from '../../engine/plan/plan-report.ts';
import type { Preview } from '../../engine/plan/preview.ts';
import { EXPIRES, expiryOf, type SavedPlan } from '../../engine/plan/saved-plan.ts';
import type { Policy } from '../../policy/policy.ts';
import { accountOf } from '../../settings/account.ts';
import type { Settings } from '../../settings/settings.ts';
import { countOf, visibleLine } from '../../text.ts';
import { shortFile } from '../../yaml/diagnostic.ts';
import { formatDuration } from '../../yaml/duration.ts';
import { type GlobalOptions, policyNamed, settingsOf, withCaretaker } from '../context.ts';
import { exit, explain, UsageError } from '../exit.ts';
import { clockOf } from '../io.ts';
import { formatRequests } from '../output/format-requests.ts';
import { foldSame } from '../output/group-rows.ts';
import { isForPeople, type OutputOption, show } from '../output/show.ts';
import { clockTime, formatInterval } from '../output/show-run.ts';
import { printSavedPlan } from '../output/show-saved-plan.ts';
import { type Terminal, table } from '../output/terminal.ts';
import { atOf } from '../parse-end-time.ts';
import { readSavedPlan, writeSavedPlan } from '../saved-plan-file.ts';

/** The maximum number of rows that are printed without `--all`. */
const MAX_ROWS = 50;

export interface PlanOptions extends GlobalOptions {
  target?: string[];
  /** Print every target on its own line, in place of the first 50 and of groups. */
  all?: boolean;
}

export interface SavingOptions {
  /** The file to save the plan in. */
  out?: string;
  expires?: string;
  /** Show this saved plan. */
  show?: string;
  detailedExitcode?: true;
}

/** Shows what a policy would do, and saves it with `--out`. Costs the requests of planning, and changes nothing. */
export async function plan(
  terminal: Terminal,
  name: string | undefined,
  options: PlanOptions & SavingOptions & { inventory?: string; at?: string },
): Promise<number> {
  return planExitCode(terminal, options, () => planned(terminal, name, options));
}

/** The exit code of a plan, by its content with `--detailed-exitcode`. */
export async function planExitCode(
  terminal: Terminal,
  { detailedExitcode }: Pick<SavingOptions, 'detailedExitcode'>,
  planning: () => Promise<Planned>,
): Promise<number> {
  if (!detailedExitcode) return (await planning()).code;
  try {
    const { hasWork, code } = await planning();
    return code === exit.ok && hasWork ? exit.badInput : code;
  } catch (error) {
    explain(error, terminal);
    return exit.notAllWell;
  }
}

/** What was planned: `hasWork` says whether applying it would do anything. */
export interface Planned {
  code: number;
  hasWork: boolean;
}

async function planned(
  terminal: Terminal,
  name: string | undefined,
  options: PlanOptions & SavingOptions & { inventory?: string; at?: string },
): Promise<Planned> {
  const { inventory, out, show: file, expires } = options;
  if (file !== undefined) return showFile(terminal, file, name, options);
  if (name === undefined)
    throw new UsageError('Name the policy to plan, or a file with a saved plan: --show FILE.');
  checkOptions(options);
  const settings = settingsOf(terminal, options);
  const policy = await policyNamed(name, settings, terminal);
  if (inventory !== undefined) return planOver(terminal, policy, settings, { ...options, inventory });
  const { baseUrl } = accountOf(settings, policy.account);
  if (out === undefined) {
    const preview = await withCaretaker(terminal, options, settings, ({ engine }) =>
      engine.preview(policy, options.target),
    );
    await showPlan(preview, terminal, options);
    return { code: exit.ok, hasWork: preview.targets.length > 0 };
  }
  const expiresMs = needExpiry(expires);
  const saving = { only: options.target, expiresMs, baseUrl, version };
  const made = await withCaretaker(terminal, options, settings, ({ engine }) =>
    engine.planToSave(policy, saving),
  );
  return saveAndShow(made, out, terminal, options);
}

/** @throws {UsageError} for options that need others. */
export function checkOptions({
  inventory,
  at,
  out,
  expires,
}: SavingOptions & { inventory?: string; at?: string }): void {
  if (expires !== undefined && out === undefined)
    throw new UsageError('--expires is for a plan that is saved: give --out too.');
  if (inventory !== undefined && out !== undefined)
    throw new UsageError('A plan over a saved inventory cannot be applied, so --out cannot be used with it.');
  if (at !== undefined && inventory === undefined)
    throw new UsageError('--at is for a plan over a saved inventory: give --inventory too.');
}

/** Saves a plan in a file, and shows it. */
export async function saveAndShow(
  { saved, preview }: { saved: SavedPlan; preview: Preview },
  out: string,
  terminal: Terminal,
  options: PlanOptions,
): Promise<Planned> {
  writeSavedPlan(out, saved);
  await showPlan(preview, terminal, options, { file: out, hash: saved.hash, expires_at: saved.expires_at });
  if (isForPeople(options)) printSaved(terminal, saved, out);
  return { code: exit.ok, hasWork: saved.targets.some(({ requests }) => requests.length > 0) };
}

function printSaved({ message }: Terminal, { totals, expires_at }: SavedPlan, file: string): void {
  const what = `${countOf(totals.requests, 'request')} for ${countOf(totals.targets, 'target')}`;
  message(
    `Saved as ${shortFile(file)}: ${what}. It can be applied until ${isoMinute(Date.parse(expires_at))}.`,
  );
  if (totals.targets > 0) message(`Apply exactly this: caretaker apply ${shortFile(file)}`);
}

/** @throws {UsageError} */
export function needExpiry(text: string = EXPIRES): number {
  const ms = expiryOf(text);
  if (ms !== undefined) return ms;
  throw new UsageError(`--expires must be a duration from 1s to 30d, such as 3d, not "${text}".`);
}

/** Shows a saved plan. Uses neither the service nor Redis. */
async function showFile(
  terminal: Terminal,
  file: string,
  name: string | undefined,
  { all, output, out, inventory, target }: PlanOptions & SavingOptions & { inventory?: string },
): Promise<Planned> {
  if (name !== undefined || out !== undefined || inventory !== undefined || target !== undefined)
    throw new UsageError('--show only shows a saved plan: give the file and nothing else.');
  const saved = readSavedPlan(file);
  await show(
    terminal,
    { output },
    {
      value: saved,
      rows: saved.targets,
      columns: ['id', 'label', 'requests', 'preconditions', 'cost'],
      text: () => printSavedPlan(saved, terminal, all ? { rows: Number.POSITIVE_INFINITY } : {}),
    },
  );
  return { code: exit.ok, hasWork: saved.targets.some(({ requests }) => requests.length > 0) };
}

/** Shows what a policy would do with the content of an inventory. Uses neither the service nor Redis. */
async function planOver(
  terminal: Terminal,
  policy: Policy,
  settings: Settings,
  { inventory: file, at, target, ...options }: PlanOptions & { inventory: string; at?: string },
): Promise<Planned> {
  const [{ readInventory }, { planOverInventory }, { usualBudget }, { loadJobs }] = await Promise.all([
    import('../../offline/inventory/file.ts'),
    import('../../offline/inventory/plan.ts'),
    import('../../offline/offline-plan.ts'),
    import('../../app/load-jobs.ts'),
  ]);
  const now = atOf(at, clockOf(terminal.io).now());
  const inventory = readInventory(file);
  const budget = settings.accounts[policy.account]?.budget ?? usualBudget;
  const over = { inventory, name: shortFile(file), registry: await loadJobs(), budget };
  const preview = await planOverInventory(policy, { ...over, ...(now === undefined ? {} : { now }) }, target);
  if (inventory.account !== policy.account)
    terminal.message(
      `The inventory is from the account "${inventory.account}", but the policy is for "${policy.account}".`,
    );
  terminal.message(
    `Planned with ${shortFile(file)} (saved ${isoMinute(inventory.savedAt)}) for the time ${isoMinute(now ?? inventory.savedAt)}. Earlier runs are not taken into account.`,
  );
  await showPlan(preview, terminal, options);
  return { code: exit.ok, hasWork: preview.targets.length > 0 };
}

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
      shrink: [
        { column: 3, min: 16 },
        { column: 1, min: 16 },
      ],
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
  const why = headings.length - 1;
  const { rows: all, folded } =
    maxRows === Number.POSITIVE_INFINITY ? { rows: given, folded: false } : foldSame(given, groupedBefore);
  const shown = table(headings, all.slice(0, maxRows), paint, {
    columns: dataColumns,
    // The id is never cut, because it is needed to find the target.
    shrink: [
      { column: 1, min: 16 },
      { column: why, min: 24 },
      { column: 1, min: 6 },
      { column: why, min: 8 },
    ],
  });
  if (all.length > maxRows) return `${shown}\n… and ${all.length - maxRows} more (plan --all lists them)`;
  return folded ? `${shown}\n(plan --all lists each target)` : shown;
}
