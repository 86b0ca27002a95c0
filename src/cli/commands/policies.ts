import { stringify } from 'yaml';
import { loadJobs } from '../../app/load-jobs.ts';
import { isoMinute } from '../../clock.ts';
import {
  type PolicyDefinition,
  readStoredPolicy,
  toPolicyDefinition,
} from '../../control/policy-definition.ts';
import { asWritten } from '../../policy/as-written.ts';
import {
  type ChainNode,
  chainFault,
  chainsOf,
  formatAfter,
  linkOf,
  linksByName,
} from '../../policy/chains.ts';
import type { Policy, Schedule } from '../../policy/policy.ts';
import { effectOf, type Freeze, formatFreeze, formatFrozen } from '../../records/freeze-store.ts';
import { type Pause, pauseAt } from '../../records/policy-store.ts';
import type { Run } from '../../run/run.ts';
import { nextFiringAt, type PolicyReport, toPolicyReport } from '../../schedule/policy-report.ts';
import { DISABLED, formatSkipCause } from '../../schedule/skip-cause.ts';
import type { Settings } from '../../settings/settings.ts';
import { shortFile } from '../../yaml/diagnostic.ts';
import {
  type GlobalOptions,
  hasRecords,
  noSuchPolicy,
  policiesOf,
  printFindings,
  printIgnored,
  settingsOf,
  withRecords,
} from '../context.ts';
import { formatKept, type Kept, keptByDaemons, type ShownKept } from '../effective-policies.ts';
import { exit } from '../exit.ts';
import { freezeIn, keptIn, pauseIn } from '../from-answers.ts';
import { clockOf } from '../io.ts';
import { formatPause, printFreezes } from '../output/pause.ts';
import { type OutputOption, show } from '../output/show.ts';
import { paintStatus } from '../output/show-run.ts';
import { type Terminal, table } from '../output/terminal.ts';

/** What the list shows of a policy. */
export interface PolicyRow {
  policy: Pick<Policy, 'name' | 'job'> & { schedule?: ShownSchedule };
  pause: Pause | undefined;
  last: Pick<Run, 'status' | 'createdAt'> | undefined;
  nextAt: number | undefined;
  /** Not before then; of a policy that follows another. */
  afterAt?: number | undefined;
  /** So many policies come before it in its chain; shown by indentation. */
  depth?: number;
  /** Set while its file has errors. */
  kept: ShownKept | undefined;
  report: PolicyReport;
}

interface ShownSchedule extends Pick<Schedule, 'cron' | 'timezone' | 'disabled'> {
  after?: Parameters<typeof formatAfter>[0];
}

/** Lists policies with their next and last runs, including those that a daemon keeps active. */
export async function listPolicies(
  terminal: Terminal,
  options: GlobalOptions & { graph?: boolean },
): Promise<number> {
  const settings = settingsOf(terminal, options);
  const { policies, findings, ignored } = await policiesOf(settings);
  const { rows, freezes } = await rowsOf(terminal, policies, settings, options);
  const none = `There are no policies in ${settings.policiesDir}.`;
  await showPolicies(rows, none, terminal, options);
  printFindings(findings, terminal);
  printFreezes(freezes, terminal);
  printKept(rows, terminal);
  printIgnored(ignored, terminal);
  return findings.length > 0 ? exit.badInput : exit.ok;
}

/** Shows policies as a list or as chains; `none` is what is printed when there are none. */
export async function showPolicies(
  given: readonly PolicyRow[],
  none: string,
  terminal: Terminal,
  options: OutputOption & { graph?: boolean },
): Promise<void> {
  const rows = withChainTimes(given);
  const reports = rows.map(({ report }) => report);
  const text = () => {
    if (rows.length === 0) terminal.message(none);
    else terminal.data(policyTable(options.graph ? indented(rows) : rows, terminal));
  };
  await show(terminal, options, {
    value: options.graph ? nested(rows) : reports,
    rows: reports,
    columns: policyColumns,
    text,
  });
}

/** Prints which policies daemons keep active although their files have errors. */
export function printKept(rows: readonly PolicyRow[], terminal: Terminal, nameOf = shortFile): void {
  for (const sentence of formatKept(
    rows.flatMap(({ kept }) => kept ?? []),
    nameOf,
  ))
    terminal.message(sentence);
}

const policyColumns = [
  ...['name', 'description', 'job', 'account', 'cron', 'timezone', 'after.policy', 'enabled', 'next'],
  ...['paused.by', 'paused.reason', 'paused.until', 'last_run.run', 'last_run.status', 'kept.error'],
  'owner',
];

type Tree = ChainNode<PolicyRow['policy']>[];
const treeOf = (rows: readonly PolicyRow[]): Tree => chainsOf(rows.map(({ policy }) => policy));

/** In the order of their chains: each policy below the one that it follows. */
function indented(rows: readonly PolicyRow[]): PolicyRow[] {
  const rowOf = new Map(rows.map((row) => [row.policy, row]));
  const walk = (nodes: Tree, depth: number): PolicyRow[] =>
    nodes.flatMap(({ policy, followers }) => {
      const row = rowOf.get(policy);
      return [...(row ? [{ ...row, depth }] : []), ...walk(followers, depth + 1)];
    });
  return walk(treeOf(rows), 0);
}

/** The same as JSON: `followed_by` holds the policies that follow. */
function nested(rows: readonly PolicyRow[]): object[] {
  const rowOf = new Map(rows.map((row) => [row.policy, row]));
  const walk = (nodes: Tree): object[] =>
    nodes.map(({ policy, followers }) => ({ ...rowOf.get(policy)?.report, followed_by: walk(followers) }));
  return walk(treeOf(rows));
}

/** When the first policy of each chain is due next: no other one of the chain can start before. */
function withChainTimes(rows: readonly PolicyRow[]): PolicyRow[] {
  const rowOf = new Map(rows.map((row) => [row.policy.name, row]));
  const links = linksByName(rows.map(({ policy }) => linkOf(policy)));
  return rows.map((row) => {
    if (chainFault(linkOf(row.policy), links)) return row;
    let first: PolicyRow | undefined = row;
    for (let steps = 0; first?.policy.schedule?.after && steps < rows.length; steps += 1)
      first = rowOf.get(first.policy.schedule.after.policy);
    return first === row ? row : { ...row, afterAt: first?.nextAt };
  });
}

async function rowsOf(
  terminal: Terminal,
  policies: readonly Policy[],
  settings: Settings,
  options: GlobalOptions,
): Promise<{ rows: PolicyRow[]; freezes: Freeze[] }> {
  const row = (
    policy: Policy,
    state: Parameters<typeof toPolicyReport>[1],
    last: Run | undefined,
    now: number,
    kept?: Kept,
  ) => ({
    policy,
    pause: pauseAt(state, now),
    last,
    nextAt: nextFiringAt(policy, state, now),
    kept,
    report: toPolicyReport(policy, state, last, now, kept),
  });
  // A command that only reads does not start the embedded Redis.
  if (!hasRecords(settings))
    return {
      rows: policies.map((policy) => row(policy, { failures: 0 }, undefined, clockOf(terminal.io).now())),
      freezes: [],
    };
  return withRecords(terminal, options, settings, async ({ records, clock }) => {
    const now = clock.now();
    const names = new Set(policies.map(({ name }) => name));
    const kept = (await keptByDaemons(records, now)).filter(({ name }) => !names.has(name));
    const rows = await Promise.all(
      [...policies, ...kept.map(({ policy }) => policy)].map(async (policy) => {
        const [state, [last]] = await Promise.all([
          records.policies.state(policy),
          records.runs.list({ policy: policy.name, limit: 1 }),
        ]);
        return row(
          policy,
          state,
          last,
          now,
          kept.find(({ name }) => name === policy.name),
        );
      }),
    );
    return { rows, freezes: await records.freeze.active(now) };
  });
}

/** One row for each policy. The name is never cut; "policies show" has what a narrow terminal omits. */
export function policyTable(rows: readonly Omit<PolicyRow, 'report'>[], terminal: Terminal): string {
  const cells = rows.map((row) => cellsOf(row, terminal));
  return table(['policy', 'job', 'schedule', 'next', 'last run'], cells, terminal.paint, {
    columns: terminal.dataColumns,
    shrink: [
      { column: 3, min: 26 },
      { column: 1, min: 0 },
      { column: 2, min: 0 },
      { column: 4, min: 10 },
      { column: 3, min: 17 },
      { column: 4, min: 0 },
      { column: 3, min: 0 },
    ],
  });
}

function cellsOf(row: Omit<PolicyRow, 'report'>, { paint, ...terminal }: Terminal): string[] {
  const { policy, pause, last, nextAt, kept, depth = 0 } = row;
  const { schedule } = policy;
  const next = schedule?.disabled ? formatSkipCause(DISABLED) : formatNext(nextAt, row.afterAt);
  const name = `${'  '.repeat(depth)}${policy.name}`;
  return [
    kept ? `${name} ${paint('yellow', '(kept active: its file has errors)')}` : name,
    policy.job,
    formatSchedule(policy),
    pause ? `${next && `${next}, `}${paint('yellow', formatPause(pause))}` : next,
    last ? `${paintStatus(last.status, { paint, ...terminal })} ${isoMinute(last.createdAt)}` : '',
  ];
}

function formatNext(nextAt: number | undefined, afterAt: number | undefined): string {
  if (nextAt !== undefined) return isoMinute(nextAt);
  return afterAt === undefined ? '' : `after ${isoMinute(afterAt)}`;
}

function formatSchedule({ schedule }: PolicyRow['policy']): string {
  if (!schedule) return 'manual';
  return schedule.after ? formatAfter(schedule.after) : `${schedule.cron.join(' and ')} ${schedule.timezone}`;
}

/**
 * Shows one policy as YAML with all defaults, with its last and next runs. With `expanded`, shows only the
 * YAML, which is a valid file for the same policy.
 */
export async function showPolicy(
  terminal: Terminal,
  name: string,
  options: GlobalOptions & { expanded?: boolean },
): Promise<number> {
  const settings = settingsOf(terminal, options);
  const loaded = await policiesOf(settings);
  const own = loaded.policies.find((policy) => policy.name === name);
  if (options.expanded) {
    if (!own) throw noSuchPolicy(name, settings, loaded);
    await showExpanded(asWritten(own, await loadJobs()), terminal, options);
    return exit.ok;
  }
  const registry = await loadJobs();
  // A command that only reads does not start the embedded Redis.
  const definition = hasRecords(settings)
    ? await withRecords(terminal, options, settings, async ({ records, clock }) => {
        const kept = own
          ? undefined
          : (await keptByDaemons(records, clock.now())).find((one) => one.name === name);
        const policy = own ?? kept?.policy;
        if (!policy) throw noSuchPolicy(name, settings, loaded);
        const stored = await readStoredPolicy(records, policy, clock.now());
        return toPolicyDefinition(policy, { ...stored, kept }, { registry, policies: loaded.policies });
      })
    : own &&
      toPolicyDefinition(own, { now: clockOf(terminal.io).now() }, { registry, policies: loaded.policies });
  if (!definition) throw noSuchPolicy(name, settings, loaded);
  await showDefinition(definition, terminal, options);
  return exit.ok;
}

/** Shows a policy with its last and next runs. `nameOf`: how its file is named; it may be on another machine. */
export const showDefinition = (
  definition: PolicyDefinition,
  terminal: Terminal,
  options: OutputOption,
  nameOf = shortFile,
): Promise<void> =>
  show(terminal, options, {
    value: definition,
    text: () => terminal.data(definitionText(definition, nameOf)),
  });

/** Shows the policy alone, as a valid file. */
export function showExpanded(
  policy: PolicyDefinition['policy'],
  terminal: Terminal,
  options: OutputOption,
): Promise<void> {
  const file = { policies: [policy] };
  return show(terminal, options, {
    value: file,
    rows: file.policies,
    text: () => terminal.data(yamlOf(file)),
  });
}

const yamlOf = (file: object): string =>
  stringify(file, { flowCollectionPadding: true, lineWidth: 110 }).trimEnd();

/** The part of a policy, as it is written, that says when it runs. */
interface WrittenSchedule {
  enabled?: boolean;
  after?: Parameters<typeof formatAfter>[0];
}

function formatNever(schedule: WrittenSchedule | undefined): string {
  if (!schedule) return 'manual';
  if (schedule.enabled === false) return formatSkipCause(DISABLED);
  return schedule.after ? formatAfter(schedule.after) : 'never';
}

/** A policy file with this policy. Other information follows as comments. */
function definitionText(
  { policy, file, next, followed_by, paused, last_runs, kept, freezes }: PolicyDefinition,
  nameOf: (file: string) => string,
): string {
  const times = next.map((time) => isoMinute(Date.parse(time))).join(', ');
  const notes = [
    ...(kept ? formatKept([keptIn(String(policy['name']), kept)], nameOf) : []),
    ...freezes
      .map(freezeIn)
      .map((freeze) => `${formatFrozen(freeze)} is ${formatFreeze(freeze)}: ${effectOf(freeze)}`),
    ...(paused ? [formatPause(pauseIn(paused))] : []),
    `next: ${times || formatNever(policy['schedule'] as WrittenSchedule | undefined)}`,
    ...(followed_by.length > 0 ? [`followed by: ${followed_by.join(', ')}`] : []),
    ...last_runs.map(({ run, status }) => `run:  ${run} ${status}`),
    ...(last_runs.length === 0 ? ['no runs'] : []),
  ];
  return [
    `# ${nameOf(file)}, with all defaults`,
    yamlOf({ policies: [policy] }),
    ...notes.map((note) => `# ${note}`),
  ].join('\n');
}
