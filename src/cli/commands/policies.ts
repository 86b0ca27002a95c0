import { stringify } from 'yaml';
import { loadJobs } from '../../app/jobs.ts';
import { isoMinute, isoTime } from '../../clock.ts';
import { asWritten } from '../../policy/as-written.ts';
import type { Policy } from '../../policy/policy.ts';
import { type Freeze, formatFreeze, freezeAt } from '../../records/freeze-store.ts';
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
import { formatPause, printFreeze } from '../output/pause.ts';
import { paintStatus } from '../output/show-run.ts';
import { type Terminal, table } from '../output/terminal.ts';

interface Row {
  policy: Policy;
  pause: Pause | undefined;
  last: Run | undefined;
  nextAt: number | undefined;
  kept: Kept | undefined;
}

interface ReportedRow extends Row {
  report: ReturnType<typeof toPolicyReport>;
}

/** Lists policies with their next and last runs, including those that a daemon keeps active. */
export async function listPolicies(terminal: Terminal, options: GlobalOptions): Promise<number> {
  const settings = settingsOf(options);
  const { policies, findings, ignored } = await policiesOf(settings);
  const { rows, freeze } = await rowsOf(policies, settings, options);
  if (options.json) {
    terminal.json(rows.map(({ report }) => report));
  } else if (rows.length === 0) terminal.message(`There are no policies in ${settings.policiesDir}.`);
  else terminal.data(policyTable(rows, terminal));
  printFindings(findings, terminal);
  printFreeze(freeze, terminal);
  for (const sentence of formatKept(rows.flatMap(({ kept }) => kept ?? []))) terminal.message(sentence);
  printIgnored(ignored, terminal);
  return findings.length > 0 ? exit.badInput : exit.ok;
}

async function rowsOf(
  policies: readonly Policy[],
  settings: Settings,
  options: GlobalOptions,
): Promise<{ rows: ReportedRow[]; freeze?: Freeze | undefined }> {
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
    return { rows: policies.map((policy) => row(policy, { failures: 0 }, undefined, Date.now())) };
  return withRecords(options, settings, async ({ records, clock }) => {
    const now = clock.now();
    const names = new Set(policies.map(({ name }) => name));
    const kept = (await keptByDaemons(records, now)).filter(({ name }) => !names.has(name));
    const rows = await Promise.all(
      [...policies, ...kept.map(({ policy }) => policy)].map(async (policy) => {
        const [state, [last]] = await Promise.all([
          records.policies.state(policy.name),
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
    return { rows, freeze: await records.freeze.at(now) };
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

function cellsOf({ policy, pause, last, nextAt, kept }: Row, { paint, ...terminal }: Terminal): string[] {
  const { schedule } = policy;
  const next = schedule?.disabled ? formatSkipCause(DISABLED) : nextAt === undefined ? '' : isoMinute(nextAt);
  return [
    kept ? `${policy.name} ${paint('yellow', '(kept active: its file has errors)')}` : policy.name,
    policy.job,
    schedule ? `${schedule.cron.join(' and ')} ${schedule.timezone}` : 'manual',
    pause ? `${next && `${next}, `}${paint('yellow', formatPause(pause))}` : next,
    last ? `${paintStatus(last.status, { paint, ...terminal })} ${isoMinute(last.createdAt)}` : '',
  ];
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
    if (options.json) terminal.json(file);
    else terminal.data(yamlOf(file));
    return exit.ok;
  }
  const stored = hasRecords(settings)
    ? await withRecords(options, settings, ({ records, clock }) =>
        readStored(records, name, own, clock.now()),
      )
    : { state: undefined, pause: undefined, freeze: undefined, runs: [], kept: undefined, now: Date.now() };
  const policy = own ?? stored.kept?.policy;
  if (!policy) throw noSuchPolicy(name, settings, loaded);
  const firings = firingsAhead(policy, stored.state, stored.now, NEXT_SHOWN).map(({ at }) => at);
  const written = asWritten(policy, await loadJobs());
  if (options.json) terminal.json(showReport(policy, written, firings, stored));
  else terminal.data(showText(policy, written, firings, stored));
  return exit.ok;
}

interface StoredState {
  state: PolicyState | undefined;
  pause: Pause | undefined;
  freeze: Freeze | undefined;
  runs: Run[];
  kept: Kept | undefined;
  now: number;
}

async function readStored(
  records: Records,
  name: string,
  own: Policy | undefined,
  now: number,
): Promise<StoredState> {
  const [state, runs, kept] = await Promise.all([
    records.policies.state(name),
    records.runs.list({ policy: name, limit: RUNS_SHOWN }),
    own ? [] : keptByDaemons(records, now),
  ]);
  return {
    state,
    pause: pauseAt(state, now),
    freeze: freezeAt(state, now),
    runs,
    kept: kept.find((one) => one.name === name),
    now,
  };
}

const showReport = (
  policy: Policy,
  written: object,
  firings: number[],
  { pause, runs, kept }: StoredState,
) => ({
  policy: written,
  file: policy.file,
  next: firings.map(isoTime),
  paused: pause ? pauseReport(pause) : null,
  last_runs: runs.map((run) => ({ run: run.id, status: run.status, created_at: isoTime(run.createdAt) })),
  kept: kept ? keptReport(kept) : null,
});

const yamlOf = (file: object): string =>
  stringify(file, { flowCollectionPadding: true, lineWidth: 110 }).trimEnd();

const formatNever = ({ schedule }: Policy): string =>
  schedule?.disabled ? formatSkipCause(DISABLED) : schedule ? 'never' : 'manual';

/** A policy file with this policy. Other information follows as comments. */
function showText(
  policy: Policy,
  written: object,
  firings: number[],
  { pause, freeze, runs, kept }: StoredState,
): string {
  const notes = [
    ...(kept ? formatKept([kept]) : []),
    ...(freeze ? [`everything is ${formatFreeze(freeze)}`] : []),
    ...(pause ? [`${formatPause(pause)}`] : []),
    `next: ${firings.map(isoMinute).join(', ') || formatNever(policy)}`,
    ...runs.map((run) => `run:  ${run.id} ${run.status}`),
    ...(runs.length === 0 ? ['no runs'] : []),
  ];
  return [
    `# ${shortFile(policy.file)}, with all defaults`,
    yamlOf({ policies: [written] }),
    ...notes.map((note) => `# ${note}`),
  ].join('\n');
}
