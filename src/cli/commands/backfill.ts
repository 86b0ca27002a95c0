import type { OpenRecords } from '../../app/open-records.ts';
import { isoTime } from '../../clock.ts';
import { backfillPolicy, previewBackfill } from '../../control/commands/backfill.ts';
import { showPolicyReport } from '../../control/commands/list-policies.ts';
import type { Policy } from '../../policy/policy.ts';
import { toRun } from '../../run/from-report.ts';
import type { Run } from '../../run/run.ts';
import {
  type BackfillReport,
  planBackfill,
  type Reprocess,
  toBackfillReport,
} from '../../schedule/backfill.ts';
import { edgeOf, type Span } from '../../schedule/wall-time.ts';
import { accountOf } from '../../settings/account.ts';
import { countOf } from '../../text.ts';
import { needWorker } from '../active-process.ts';
import { isOnServer, type Reader, withClient, withReader } from '../client.ts';
import { type GlobalOptions, policyNamed, policyToStart, type ReasonOption, settingsOf } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { followToEnd } from '../follow-run.ts';
import { pauseIn } from '../from-answers.ts';
import { type List, listTable } from '../output/list.ts';
import { formatPause } from '../output/pause.ts';
import { isForPeople, show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';
import { dayNote } from '../parse-time.ts';
import { policyOnServer } from '../read-policies.ts';
import { readSummary } from '../read-runs.ts';
import { watchRun } from '../watch-run.ts';
import { startable } from './run.ts';

interface BackfillOptions extends GlobalOptions, ReasonOption {
  from: string;
  to?: string;
  dryRun?: boolean;
  reprocess: Reprocess;
  detach?: boolean;
  ignoreFreeze?: true;
}

/**
 * Starts runs of a policy for past scheduled times in a range, one after the other. `--dry-run` only lists
 * them.
 */
export async function backfill(terminal: Terminal, name: string, options: BackfillOptions): Promise<number> {
  const own = isOnServer(terminal, options) ? undefined : await ownPolicy(name, terminal, options);
  const more = own && startable(own);
  const { dryRun, reprocess } = options;
  const preview = async (client: Reader<OpenRecords>) => {
    const zone = own ? own.schedule?.timezone : (await policyOnServer(client, name)).timezone;
    const now = client.clock.now();
    const span = spanOf(zone ?? 'UTC', options, now);
    const input = { policy: name, from: isoTime(span.from), to: isoTime(span.to), reprocess };
    const none = async () =>
      toBackfillReport(own as Policy, await planBackfill(undefined, own as Policy, span, reprocess, now));
    return { span, input, planned: await client.read(previewBackfill, input, none, more) };
  };
  // A dry run does not start the embedded Redis.
  if (dryRun)
    return withReader('records', terminal, options, async (client) => {
      const { planned, span } = await preview(client);
      return showBackfill(planned, span, terminal, options);
    });
  return withClient('caretaker', terminal, options, async (client) => {
    const { here } = client;
    const { span, input, planned } = await preview(client);
    if (here && options.detach) await needWorker(here);
    const { paused } = own
      ? await client.read(showPolicyReport, { policy: name }, noReport, more)
      : await policyOnServer(client, name);
    if (paused)
      terminal.message(
        `${name} is ${formatPause(pauseIn(paused))}. The backfill runs anyway, because you requested it.`,
      );
    if (isForPeople(options)) printTimes(planned, terminal, options);
    const { ignoreFreeze: ignore_freeze, reason } = options;
    const given = { ...input, ignore_freeze, reason, ...(here ? {} : { detach: true }) };
    const made = (await client.start(backfillPolicy, given, more)).scheduled_times;
    const runs = made.flatMap(({ run }) => (run ? [toRun(run)] : []));
    const silent = !isForPeople(options);
    const watch = (run: Run) =>
      here
        ? watchRun(here, run, terminal, { silent, cancelIfRefused: false })
        : followToEnd(client, run, terminal, { silent });
    const code = options.detach ? exit.ok : await worstOf(runs, watch);
    const now = new Map(
      (await Promise.all(runs.map(({ id }) => readSummary(client, id)))).map((run) => [run.id, run.status]),
    );
    const times = planned.scheduled_times.map((time) => {
      const id = made.find((one) => one.scheduled_for === time.scheduled_for)?.run?.run ?? null;
      return { ...time, run: id, status: (id === null ? undefined : now.get(id)) ?? null };
    });
    await showBackfilled({ ...planned, scheduled_times: times }, span, terminal, options);
    return code;
  });
}

const noReport = (): never => {
  throw new Error('A command that starts runs opens the records.');
};

/** @throws {InvalidFilesError} {UsageError} */
async function ownPolicy(name: string, terminal: Terminal, options: BackfillOptions): Promise<Policy> {
  const settings = settingsOf(terminal, options);
  const policy = await (options.dryRun ? policyNamed : policyToStart)(name, settings, terminal);
  accountOf(settings, policy.account);
  return policy;
}

/** @throws {UsageError} when the options name no range of past times. */
function spanOf(zone: string, { from, to }: Pick<BackfillOptions, 'from' | 'to'>, now: number): Span {
  const edge = (option: string, text: string, which: keyof Span) => {
    const at = edgeOf(text, zone, now, which);
    if (at !== undefined) return at;
    throw new UsageError(
      `${option} must be a day, a time or a duration ago, such as 2026-11-01, 2026-11-01T02:00 or 3d, not "${text}"${dayNote(text)}.`,
    );
  };
  const span = {
    from: edge('--from', from, 'from'),
    to: to === undefined ? now : edge('--to', to, 'to'),
  };
  if (span.from > now)
    throw new UsageError('--from is in the future. A backfill is for past scheduled times.');
  if (span.from > span.to) throw new UsageError('--from is later than --to.');
  return span;
}

/** Watches runs one after the other, until the rest cannot be watched, and returns the worst exit code. */
async function worstOf<T>(runs: readonly T[], watch: (run: T) => Promise<number>): Promise<number> {
  let worst: number = exit.ok;
  for (const run of runs) {
    const code = await watch(run);
    worst = Math.max(worst, code);
    if (code === exit.interrupted || code === exit.unreachable) break;
  }
  return worst;
}

/** Shows what a backfill would run. */
async function showBackfill(
  report: BackfillReport,
  span: Span,
  terminal: Terminal,
  options: BackfillOptions,
): Promise<number> {
  const value = asJson(report, span, options);
  await show(terminal, options, {
    value,
    rows: value.scheduled_times,
    text: () => printTimes(report, terminal, options),
  });
  return exit.ok;
}

/** Shows the runs of a backfill; for people, only those that were left to a daemon. */
async function showBackfilled(
  report: BackfillReport,
  span: Span,
  terminal: Terminal,
  options: BackfillOptions,
): Promise<void> {
  const value = asJson(report, span, options);
  const text = () => {
    if (options.detach) for (const { run } of report.scheduled_times) if (run) terminal.data(run);
  };
  await show(terminal, options, { value, rows: value.scheduled_times, text });
}

/** Prints the times, and what becomes of each. */
function printTimes(
  { policy, timezone, overlap, scheduled_times: times }: BackfillReport,
  terminal: Terminal,
  { dryRun }: Pick<BackfillOptions, 'dryRun'>,
): void {
  const fires = times.filter((one) => one.fires).length;
  const list: List<(typeof times)[number]> = {
    table: {
      'scheduled time': (one) => `${one.wall_time} ${timezone}`,
      backfill: ({ fires: is }, { paint }) => (is ? paint('green', 'run') : paint('dim', 'skip')),
      'current state': ({ because }) => because,
    },
  };
  if (times.length > 0) terminal.data(listTable(list, times, terminal));
  const order = overlap ? 'all at once (overlap: allow)' : 'one after the other';
  const what =
    fires === 0 ? 'There is nothing to backfill.' : `${countOf(fires, 'run')} of ${policy}, ${order}.`;
  terminal.message(dryRun && fires > 0 ? `${what} This was a dry run: no run was started.` : what);
}

const asJson = (
  { policy, scheduled_times }: BackfillReport,
  { from, to }: Span,
  { reprocess, dryRun = false }: BackfillOptions,
) => ({
  policy,
  from: isoTime(from),
  to: isoTime(to),
  reprocess,
  dry_run: dryRun,
  scheduled_times,
});
