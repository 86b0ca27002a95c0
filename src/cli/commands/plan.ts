import { isoMinute } from '../../clock.ts';
import type { Preview } from '../../engine/plan/preview.ts';
import type { Policy } from '../../policy/policy.ts';
import { accountOf } from '../../settings/account.ts';
import type { Settings } from '../../settings/settings.ts';
import { countOf, visibleLine } from '../../text.ts';
import { shortFile } from '../../yaml/diagnostic.ts';
import { formatDuration } from '../../yaml/duration.ts';
import { type GlobalOptions, policyNamed, settingsOf, withCaretaker } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { foldSame } from '../output/group-rows.ts';
import { type OutputOption, show } from '../output/show.ts';
import { clockTime, formatInterval } from '../output/show-run.ts';
import { type Terminal, table } from '../output/terminal.ts';
import { dayNote, parseEndTime } from '../parse-end-time.ts';

/** The maximum number of rows that are printed without `--all`. */
const MAX_ROWS = 50;
/** The maximum length of a request in a row. `--json` has the whole. */
const MAX_REQUEST_LENGTH = 400;

interface PlanOptions extends GlobalOptions {
  target?: string[];
  /** Print every target on its own line, in place of the first 50 and of groups. */
  all?: boolean;
}

/** Shows what a policy would do. Costs the requests of planning, and changes nothing. */
export async function plan(
  terminal: Terminal,
  name: string,
  options: PlanOptions & { inventory?: string; at?: string },
): Promise<number> {
  const settings = settingsOf(options);
  const { inventory, at } = options;
  if (at !== undefined && inventory === undefined)
    throw new UsageError('--at is for a plan over a saved inventory: give --inventory too.');
  const policy = await policyNamed(name, settings, terminal);
  if (inventory !== undefined) return planOver(terminal, policy, settings, { ...options, inventory });
  accountOf(settings, policy.account);
  const preview = await withCaretaker(options, settings, ({ engine }) =>
    engine.preview(policy, options.target),
  );
  await showPlan(preview, terminal, options);
  return exit.ok;
}

/** Shows what a policy would do with the content of an inventory. Uses neither the service nor Redis. */
async function planOver(
  terminal: Terminal,
  policy: Policy,
  settings: Settings,
  { inventory: file, at, target, ...options }: PlanOptions & { inventory: string; at?: string },
): Promise<number> {
  const [{ readInventory }, { planOverInventory }, { usualBudget }, { loadJobs }] = await Promise.all([
    import('../../offline/inventory/file.ts'),
    import('../../offline/inventory/plan.ts'),
    import('../../offline/offline-plan.ts'),
    import('../../app/jobs.ts'),
  ]);
  const now = at === undefined ? undefined : parseEndTime(at);
  if (at !== undefined && now === undefined)
    throw new UsageError(
      `--at must be a time such as 2026-12-01 or 2026-12-01T08:00Z, not "${at}"${dayNote(at)}.`,
    );
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
  return exit.ok;
}

/** As rows, every candidate that was looked at, and what follows for it: `work`, an outcome, or `excluded`. */
const showPlan = (preview: Preview, terminal: Terminal, options: OutputOption & { all?: boolean }) =>
  show(terminal, options, {
    value: asJson(preview),
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

function asJson({
  policy,
  job,
  names,
  list,
  filters,
  targets,
  ended,
  excluded,
  spreadMs,
  recording,
  warnings,
  stoppedBy,
  cost,
}: Preview) {
  return {
    policy,
    job,
    names,
    list,
    filters: filters.map(({ where, ...filter }) => ({ ...filter, where: where ?? null })),
    targets: targets.map(({ id, label, plan, ...first }) => ({
      ...{ id, label, ...(plan === undefined ? {} : { plan }) },
      ...('requests' in first
        ? { requests: first.requests, unknown: null }
        : { requests: null, unknown: first.unknown }),
    })),
    settled: ended,
    excluded,
    spread_seconds: spreadMs === undefined ? null : spreadMs / 1000,
    recording: recording
      ? {
          sites: recording.sites,
          custom_work: recording.customWork ?? null,
          note: recording.note ? 'living' : null,
          requests: recording.requests,
        }
      : null,
    warnings,
    stopped_by: stoppedBy ?? null,
    cost: {
      planning: cost.planning,
      acting: cost.acting,
      following: cost.following,
      past_runs: cost.pastRuns,
      at_least_seconds: cost.atLeastMs / 1000,
      takes_seconds: Math.round(cost.takesMs / 1000),
      other_clients_per_minute: cost.othersPerMinute ?? null,
    },
  };
}

/** What becomes of the candidates that are no targets, and what stops the run. */
function summaryOf({ ended, excluded, warnings, stoppedBy }: Preview): string[] {
  const skipped = ended.filter(({ outcome }) => outcome === 'skipped').length;
  const parts = [
    [ended.length - skipped, 'without a request'],
    [skipped, 'skipped'],
    [excluded.length, 'excluded'],
    [warnings.length, warnings.length === 1 ? 'warning' : 'warnings'],
  ] as const;
  const counts = parts.flatMap(([count, what]) => (count > 0 ? `${count} ${what}` : []));
  return [
    ...(counts.length > 0 ? [`Besides: ${counts.join(', ')}.`] : []),
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

function print(preview: Preview, terminal: Terminal, maxRows: number): void {
  const { policy, job, targets, ended, excluded, spreadMs, recording, warnings, stoppedBy, cost } = preview;
  const { paint, data } = terminal;
  const findings = ended.reduce((sum, one) => sum + (one.findings?.length ?? 0), 0);
  const does =
    targets.length === 0 && findings > 0
      ? `would report ${countOf(findings, 'finding')}.`
      : `would work on ${countOf(targets.length, 'target')}.`;
  data(`${paint('bold', policy)} (${job}) ${does}`);
  for (const line of [...summaryOf(preview), ...filterLines(preview)]) data(line);
  if (targets.length > 0) data(`\n${targetRows(targets, terminal, maxRows)}`);
  if (spreadMs !== undefined && targets.length > 1)
    data(
      `\nA scheduled run starts them evenly over ${formatDuration(spreadMs)}: one every ${formatInterval(spreadMs / targets.length)}.`,
    );
  if (ended.length > 0) {
    data(`\n${ended.length} would be recorded without a request:`);
    data(
      rows(
        ['target', 'label', 'outcome', 'reason', 'why'],
        ended.map(({ id, label, outcome, reason, why }) => [id, label, outcome, reason, why]),
        terminal,
        maxRows,
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
  const rest = cost.acting + cost.following;
  const beside = [
    ...(cost.runsBeside > 0 ? [`${countOf(cost.runsBeside, 'active run')}`] : []),
    ...(cost.othersPerMinute ? [`other clients: ${countOf(cost.othersPerMinute, 'request')}/min`] : []),
  ].join(', ');
  const load = beside === '' ? '' : ` beside the current load (${beside})`;
  const time = cost.takesMs >= 1_000 ? ` and take about ${clockTime(cost.takesMs)}${load}` : '';
  const from = cost.pastRuns > 0 ? ` (based on ${countOf(cost.pastRuns, 'past run')})` : '';
  data(
    `\nPlanning cost ${countOf(cost.planning, 'request')}. A run would cost about ${rest} more${from}${time}.`,
  );
  if (recording) data(recordingLine(recording));
  for (const one of warnings) data(`${paint('yellow', 'warning')}: ${one}`);
  if (stoppedBy !== undefined)
    data(paint('red', `It would be stopped before anything is sent: ${stoppedBy}`));
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

/** What would be done: as the job explains it, or its requests, without the id of the target itself. */
function formatWork({ id, plan, ...first }: Preview['targets'][number]): string {
  if (plan !== undefined) return plan;
  if ('unknown' in first) return first.unknown;
  const texts = first.requests.map(({ operation, params, body }) => {
    const others = Object.entries(params).filter(
      ([, value]) => value !== id && !id.split('/').includes(String(value)),
    );
    const parts = [
      ...others.map(([name, value]) => `${name}=${String(value)}`),
      ...(body === undefined ? [] : [JSON.stringify(body)]),
    ];
    return [operation, ...parts].join(' ');
  });
  const text = visibleLine(texts.join('; '));
  return text.length > MAX_REQUEST_LENGTH ? `${text.slice(0, MAX_REQUEST_LENGTH - 1)}…` : text;
}

function rows(
  headings: string[],
  given: string[][],
  { paint, dataColumns }: Terminal,
  maxRows: number,
): string {
  const why = headings.length - 1;
  const { rows: all, folded } =
    maxRows === Number.POSITIVE_INFINITY ? { rows: given, folded: false } : foldSame(given);
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
