import { stringify } from 'yaml';
import { loadJobs } from '../../app/jobs.ts';
import { isoMinute, isoTime } from '../../clock.ts';
import { asWritten } from '../../policy/as-written.ts';
import {
  type ChainNode,
  chainFault,
  chainsOf,
  formatAfter,
  linkOf,
  linksByName,
} from '../../policy/chains.ts';
import type { Policy } from '../../policy/policy.ts';
import { concerns } from '../../records/freeze-scope.ts';
import { effectOf, type Freeze, formatFreeze, formatFrozen } from '../../records/freeze-store.ts';
import { type Pause, type PolicyState, pauseAt } from '../../records/policy-store.ts';
import type { Records } from '../../records/records.ts';
import type { Run } from '../../run/run.ts';
import {
  firingsAhead,
  keptReport,
  nextFiringAt,
  pauseReport,
  toPolicyReport,
} from '../../schedule/policy-report.ts';
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
import { formatKept, type Kept, keptByDaemons } from '../effective-policies.ts';
import { exit } from '../exit.ts';
import { formatPause, printFreezes } from '../output/pause.ts';
import { show } from '../output/show.ts';
import { paintStatus } from '../output/show-run.ts';
import { type Terminal, table } from '../output/terminal.ts';

interface Row {
  policy: Policy;
  pause: Pause | undefined;
  last: Run | undefined;
  nextAt: number | undefined;
  /** Not before then; of a policy that follows another. */
  afterAt?: number | undefined;
  /** So many policies come before it in its chain; shown by indentation. */
  depth?: number;
  kept: Kept | undefined;
}

interface ReportedRow extends Row {
  report: ReturnType<typeof toPolicyReport>;
}

/** Lists policies with their next and last runs, including those that a daemon keeps active. */
export async function listPolicies(
  terminal: Terminal,
  options: GlobalOptions & { graph?: boolean },
): Promise<number> {
  const settings = settingsOf(options);
  const { policies, findings, ignored } = await policiesOf(settings);
  const { rows, freezes } = await rowsOf(policies, settings, options);
  const reports = rows.map(({ report }) => report);
  const text = () => {
    if (rows.length === 0) terminal.message(`There are no policies in ${settings.policiesDir}.`);
    else terminal.data(policyTable(options.graph ? indented(rows) : rows, terminal));
  };
  await show(terminal, options, {
    value: options.graph ? nested(rows) : reports,
    rows: reports,
    columns,
    text,
  });
  printFindings(findings, terminal);
  printFreezes(freezes, terminal);
  for (const sentence of formatKept(rows.flatMap(({ kept }) => kept ?? []))) terminal.message(sentence);
  printIgnored(ignored, terminal);
  return findings.length > 0 ? exit.badInput : exit.ok;
}

const columns = [
  ...['name', 'description', 'job', 'account', 'cron', 'timezone', 'after.policy', 'enabled', 'next'],
  ...['paused.by', 'paused.reason', 'paused.until', 'last_run.run', 'last_run.status', 'kept.error'],
];

type Tree = ChainNode<Policy>[];
const treeOf = (rows: readonly ReportedRow[]): Tree => chainsOf(rows.map(({ policy }) => policy));

/** In the order of their chains: each policy below the one that it follows. */
function indented(rows: readonly ReportedRow[]): ReportedRow[] {
  const rowOf = new Map(rows.map((row) => [row.policy, row]));
  const walk = (nodes: Tree, depth: number): ReportedRow[] =>
    nodes.flatMap(({ policy, followers }) => {
      const row = rowOf.get(policy);
      return [...(row ? [{ ...row, depth }] : []), ...walk(followers, depth + 1)];
    });
  return walk(treeOf(rows), 0);
}

/** The same as JSON: `followed_by` holds the policies that follow. */
function nested(rows: readonly ReportedRow[]): object[] {
  const rowOf = new Map(rows.map((row) => [row.policy, row]));
  const walk = (nodes: Tree): object[] =>
    nodes.map(({ policy, followers }) => ({ ...rowOf.get(policy)?.report, followed_by: walk(followers) }));
  return walk(treeOf(rows));
}

/** When the first policy of each chain is due next: no other one of the chain can start before. */
function withChainTimes(rows: readonly ReportedRow[]): ReportedRow[] {
  const rowOf = new Map(rows.map((row) => [row.policy.name, row]));
  const links = linksByName(rows.map(({ policy }) => linkOf(policy)));
  return rows.map((row) => {
    if (chainFault(linkOf(row.policy), links)) return row;
    let first: ReportedRow | undefined = row;
    for (let steps = 0; first?.policy.schedule?.after && steps < rows.length; steps += 1)
      first = rowOf.get(first.policy.schedule.after.policy);
    return first === row ? row : { ...row, afterAt: first?.nextAt };
  });
}

async function rowsOf(
  policies: readonly Policy[],
  settings: Settings,
  options: GlobalOptions,
): Promise<{ rows: ReportedRow[]; freezes: Freeze[] }> {
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
      rows: withChainTimes(policies.map((policy) => row(policy, { failures: 0 }, undefined, Date.now()))),
      freezes: [],
    };
  return withRecords(options, settings, async ({ records, clock }) => {
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
    return { rows: withChainTimes(rows), freezes: await records.freeze.active(now) };
  });
}

/** One row for each policy. The name is never cut; "policies show" has what a narrow terminal omits. */
export function policyTable(rows: readonly Row[], terminal: Terminal): string {
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

function cellsOf(row: Row, { paint, ...terminal }: Terminal): string[] {
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

function formatSchedule({ schedule }: Policy): string {
  if (!schedule) return 'manual';
  return schedule.after ? formatAfter(schedule.after) : `${schedule.cron.join(' and ')} ${schedule.timezone}`;
}

const NEXT_SHOWN = 3;
const RUNS_SHOWN = 5;

/**
 * Shows one policy as YAML with all defaults, with its last and next runs. With `expanded`, shows only the
 * YAML, which is a valid file for the same policy.
 */
export async function showPolicy(
  terminal: Terminal,
  name: string,
  options: GlobalOptions & { expanded?: boolean },
): Promise<number> {
  const settings = settingsOf(options);
  const loaded = await policiesOf(settings);
  const own = loaded.policies.find((policy) => policy.name === name);
  if (options.expanded) {
    if (!own) throw noSuchPolicy(name, settings, loaded);
    const file = { policies: [asWritten(own, await loadJobs())] };
    await show(terminal, options, {
      value: file,
      rows: file.policies,
      text: () => terminal.data(yamlOf(file)),
    });
    return exit.ok;
  }
  const stored = hasRecords(settings)
    ? await withRecords(options, settings, ({ records, clock }) =>
        readStored(records, name, own, clock.now()),
      )
    : { state: undefined, pause: undefined, freezes: [], runs: [], kept: undefined, now: Date.now() };
  const policy = own ?? stored.kept?.policy;
  if (!policy) throw noSuchPolicy(name, settings, loaded);
  const firings = firingsAhead(policy, stored.state, stored.now, NEXT_SHOWN).map(({ at }) => at);
  const written = asWritten(policy, await loadJobs());
  const followedBy = loaded.policies
    .filter(({ schedule }) => schedule?.after?.policy === policy.name)
    .map((one) => one.name);
  const shown = { ...stored, followedBy };
  await show(terminal, options, {
    value: showReport(policy, written, firings, shown),
    text: () => terminal.data(showText(policy, written, firings, shown)),
  });
  return exit.ok;
}

interface StoredState {
  state: PolicyState | undefined;
  pause: Pause | undefined;
  /** Those that hold for the policy, or for some of its targets. */
  freezes: Freeze[];
  runs: Run[];
  kept: Kept | undefined;
  now: number;
}

type Shown = StoredState & { followedBy: readonly string[] };

async function readStored(
  records: Records,
  name: string,
  own: Policy | undefined,
  now: number,
): Promise<StoredState> {
  const [runs, kept] = await Promise.all([
    records.runs.list({ policy: name, limit: RUNS_SHOWN }),
    own ? [] : keptByDaemons(records, now),
  ]);
  const policy = own ?? kept.find((one) => one.name === name)?.policy;
  const [state, freezes] = await Promise.all([
    records.policies.state(policy ?? name),
    records.freeze.active(now),
  ]);
  return {
    state,
    pause: pauseAt(state, now),
    freezes: freezes.filter(({ scope }) => !scope || (policy && concerns(scope, policy))),
    runs,
    kept: kept.find((one) => one.name === name),
    now,
  };
}

const showReport = (
  policy: Policy,
  written: object,
  firings: number[],
  { pause, runs, kept, followedBy }: Shown,
) => ({
  policy: written,
  file: policy.file,
  next: firings.map(isoTime),
  followed_by: followedBy,
  paused: pause ? pauseReport(pause) : null,
  last_runs: runs.map((run) => ({ run: run.id, status: run.status, created_at: isoTime(run.createdAt) })),
  kept: kept ? keptReport(kept) : null,
});

const yamlOf = (file: object): string =>
  stringify(file, { flowCollectionPadding: true, lineWidth: 110 }).trimEnd();

const formatNever = ({ schedule }: Policy): string =>
  schedule?.disabled
    ? formatSkipCause(DISABLED)
    : schedule?.after
      ? formatAfter(schedule.after)
      : schedule
        ? 'never'
        : 'manual';

/** A policy file with this policy. Other information follows as comments. */
function showText(
  policy: Policy,
  written: object,
  firings: number[],
  { pause, freezes, runs, kept, followedBy }: Shown,
): string {
  const notes = [
    ...(kept ? formatKept([kept]) : []),
    ...freezes.map((freeze) => `${formatFrozen(freeze)} is ${formatFreeze(freeze)}: ${effectOf(freeze)}`),
    ...(pause ? [`${formatPause(pause)}`] : []),
    `next: ${firings.map(isoMinute).join(', ') || formatNever(policy)}`,
    ...(followedBy.length > 0 ? [`followed by: ${followedBy.join(', ')}`] : []),
    ...runs.map((run) => `run:  ${run.id} ${run.status}`),
    ...(runs.length === 0 ? ['no runs'] : []),
  ];
  return [
    `# ${shortFile(policy.file)}, with all defaults`,
    yamlOf({ policies: [written] }),
    ...notes.map((note) => `# ${note}`),
  ].join('\n');
}
