import { stringify } from 'yaml';
import { loadJobs } from '../../app/load-jobs.ts';
import { isoMinute } from '../../clock.ts';
import { listFreezes, noFreezes } from '../../control/commands/list-freezes.ts';
import {
  listPolicies as listAll,
  showPolicy as showDefinition,
} from '../../control/commands/list-policies.ts';
import { type PolicyDefinition, toPolicyDefinition } from '../../control/policy-definition.ts';
import {
  type ChainNode,
  chainFault,
  chainsOf,
  formatAfter,
  linkOf,
  linksByName,
} from '../../policy/chains.ts';
import { hasLabels } from '../../policy/labels.ts';
import type { Policy, Schedule } from '../../policy/policy.ts';
import { effectOf, formatFreeze, formatFrozen } from '../../records/freeze-store.ts';
import type { Pause } from '../../records/policy-store.ts';
import type { Run } from '../../run/run.ts';
import { type PolicyReport, policyColumns, toPolicyReport } from '../../schedule/policy-report.ts';
import { DISABLED, formatSkipCause } from '../../schedule/skip-cause.ts';
import { shortFile } from '../../yaml/diagnostic.ts';
import { isOnServer, withReader } from '../client.ts';
import {
  type GlobalOptions,
  noSuchPolicy,
  policiesOf,
  printFindings,
  printIgnored,
  settingsOf,
} from '../context.ts';
import { formatKept, type ShownKept } from '../effective-policies.ts';
import { exit } from '../exit.ts';
import { freezeIn, keptIn, pauseIn } from '../from-answers.ts';
import { type List, listTable, showList } from '../output/list.ts';
import { formatPause, printFreezes, printNoScheduler } from '../output/pause.ts';
import { type OutputOption, show } from '../output/show.ts';
import { paintStatus } from '../output/show-run.ts';
import type { Terminal } from '../output/terminal.ts';
import { policyOnServer } from '../read-policies.ts';

/** What the list shows of a policy. */
export interface PolicyRow {
  policy: Pick<Policy, 'name' | 'job'> & { schedule?: ShownSchedule };
  pause: Pause | undefined;
  last: Pick<Run, 'status' | 'createdAt'> | undefined;
  nextAt: number | undefined;
  /** Not before then; of a policy that follows another. */
  afterAt?: number | undefined;
  /** How many policies come before it in its chain; shown by indentation. */
  depth?: number;
  /** Set while its file has errors. */
  kept: ShownKept | undefined;
  report: PolicyReport;
}

interface ShownSchedule extends Pick<Schedule, 'cron' | 'timezone' | 'disabled'> {
  after?: Parameters<typeof formatAfter>[0];
}

/** Lists policies with their next and last runs, including those that a daemon keeps active. */
export const listPolicies = (
  terminal: Terminal,
  options: GlobalOptions & { graph?: boolean; label?: string[] | undefined },
): Promise<number> =>
  withReader('policies', terminal, options, async (client) => {
    const settings = isOnServer(terminal, options) ? undefined : settingsOf(terminal, options);
    const loaded = settings && (await policiesOf(settings));
    const { policies, schedulers } = await client.read(listAll, { label: options.label }, () => ({
      schedulers: 0,
      policies: (loaded?.policies ?? [])
        .filter(({ labels }) => hasLabels(labels, options.label))
        .map((policy) => toPolicyReport(policy, { failures: 0 }, undefined, client.clock.now())),
    }));
    const own = new Set(loaded?.policies.map(({ name }) => name));
    // A daemon that keeps a policy has not read its corrected file yet.
    const rows = policies.map((report) => rowOf(own.has(report.name) ? { ...report, kept: null } : report));
    const everything = settings
      ? `There are no policies in ${settings.policiesDir}.`
      : 'The server has no policies that you may see.';
    const none = options.label ? `No policy has the label ${options.label.join(' and ')}.` : everything;
    await showPolicies(rows, none, terminal, options);
    printNoScheduler({ schedulers, areAny: policies.some(({ next }) => next !== null) }, terminal);
    if (loaded) printFindings(loaded.findings, terminal);
    const { freezes } = await client.read(listFreezes, {}, noFreezes);
    printFreezes(freezes.map(freezeIn), terminal);
    const kept = rows.flatMap((row) => row.kept ?? []);
    for (const sentence of formatKept(kept, settings ? shortFile : onServer)) terminal.message(sentence);
    if (loaded) printIgnored(loaded.ignored, terminal);
    return loaded && loaded.findings.length > 0 ? exit.badInput : exit.ok;
  });

/** A file of the server, which has no place relative to a folder of this machine. */
const onServer = (file: string): string => file;

function rowOf(report: PolicyReport): PolicyRow {
  const { name, job, cron, timezone, after, enabled, paused, last_run, next, kept } = report;
  const schedule = {
    cron,
    timezone: timezone ?? 'UTC',
    ...(after ? { after } : {}),
    ...(enabled ? {} : { disabled: true as const }),
  };
  return {
    policy: { name, job, ...(enabled === null ? {} : { schedule }) },
    pause: paused ? pauseIn(paused) : undefined,
    last: last_run ? { status: last_run.status, createdAt: Date.parse(last_run.created_at) } : undefined,
    nextAt: next === null ? undefined : Date.parse(next),
    kept: kept ? keptIn(name, kept) : undefined,
    report,
  };
}

/** Shows policies as a list or as chains; `none` is what is printed when there are none. */
async function showPolicies(
  given: readonly PolicyRow[],
  none: string,
  terminal: Terminal,
  options: OutputOption & { graph?: boolean },
): Promise<void> {
  const rows = withChainTimes(given);
  const reports = rows.map(({ report }) => report);
  await showList(terminal, options, list, {
    rows: options.graph ? indented(rows) : rows,
    value: options.graph ? nested(rows) : reports,
    lines: reports,
    none,
  });
}

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

type ShownRow = Omit<PolicyRow, 'report'>;

/** One row for each policy. The name is never cut; "policies show" has what a narrow terminal omits. */
const list: List<ShownRow> = {
  table: {
    policy: ({ policy, depth = 0, kept }, { paint }) => {
      const name = `${'  '.repeat(depth)}${policy.name}`;
      return kept ? `${name} ${paint('yellow', '(kept active: its file has errors)')}` : name;
    },
    job: ({ policy }) => policy.job,
    schedule: ({ policy }) => formatSchedule(policy),
    next: ({ policy, pause, nextAt, afterAt }, { paint }) => {
      const next = policy.schedule?.disabled ? formatSkipCause(DISABLED) : formatNext(nextAt, afterAt);
      return pause ? `${next && `${next}, `}${paint('yellow', formatPause(pause))}` : next;
    },
    'last run': ({ last }, terminal) =>
      last && `${paintStatus(last.status, terminal)} ${isoMinute(last.createdAt)}`,
  },
  shrink: ['next: 26', 'job: 0', 'schedule: 0', 'last run: 10', 'next: 17', 'last run: 0', 'next: 0'],
  csv: policyColumns,
};

export const policyTable = (rows: readonly ShownRow[], terminal: Terminal): string =>
  listTable(list, rows, terminal);

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
export const showPolicy = (
  terminal: Terminal,
  name: string,
  options: GlobalOptions & { expanded?: boolean },
): Promise<number> =>
  withReader('policies', terminal, options, async (client) => {
    const settings = isOnServer(terminal, options) ? undefined : settingsOf(terminal, options);
    const loaded = settings && (await policiesOf(settings));
    const own = loaded?.policies.find((policy) => policy.name === name);
    const isKnown = own || client.here?.policy(name);
    if (settings && loaded && !(options.expanded ? own : isKnown)) throw noSuchPolicy(name, settings, loaded);
    if (!settings) await policyOnServer(client, name);
    const registry = await loadJobs();
    const found = await client.read(
      showDefinition,
      { policy: name },
      () =>
        toPolicyDefinition(
          own as Policy,
          { now: client.clock.now() },
          { registry, policies: loaded?.policies ?? [] },
        ),
      { registry },
    );
    const definition = own ? { ...found, kept: null } : found;
    const file = { policies: [definition.policy] };
    const nameOf = settings ? shortFile : onServer;
    await show(
      terminal,
      options,
      options.expanded
        ? { value: file, rows: file.policies, text: () => terminal.data(yamlOf(file)) }
        : { value: definition, text: () => terminal.data(definitionText(definition, nameOf)) },
    );
    return exit.ok;
  });

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
  const times = next.map((time) => isoMinute(time)).join(', ');
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
