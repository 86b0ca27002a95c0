import type { Caretaker } from '../../app/caretaker.ts';
import type { OpenRecords } from '../../app/open-records.ts';
import { isoTime } from '../../clock.ts';
import { carryOut } from '../../control/carry-out.ts';
import { backfillPolicy, type Backfilled as Planned } from '../../control/commands/backfill.ts';
import type { Policy } from '../../policy/policy.ts';
import { pauseAt } from '../../records/policy-store.ts';
import {
  type BackfillReport,
  type BackfillTime,
  planBackfill,
  type Reprocess,
  toBackfillReport,
} from '../../schedule/backfill.ts';
import { edgeOf, type Span } from '../../schedule/wall-time.ts';
import { accountOf } from '../../settings/account.ts';
import { countOf } from '../../text.ts';
import { needWorker } from '../active-process.ts';
import {
  type GlobalOptions,
  hasRecords,
  policyNamed,
  policyToStart,
  type ReasonOption,
  settingsOf,
  withCaretaker,
  withRecords,
} from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { clockOf } from '../io.ts';
import { localActor } from '../local-actor.ts';
import { formatPause } from '../output/pause.ts';
import { isForPeople, show } from '../output/show.ts';
import { type Terminal, table } from '../output/terminal.ts';
import { dayNote } from '../parse-end-time.ts';
import { watchRun } from '../watch-run.ts';

export interface BackfillOptions extends GlobalOptions, ReasonOption {
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
  const settings = settingsOf(terminal, options);
  const policyFor = options.dryRun ? policyNamed : policyToStart;
  const policy = await policyFor(name, settings, terminal);
  accountOf(settings, policy.account);
  const planned = async (opened?: Pick<OpenRecords, 'records' | 'clock'>) => {
    const now = opened?.clock.now() ?? clockOf(terminal.io).now();
    const span = spanOf(policy.schedule?.timezone ?? 'UTC', options, now);
    const scheduledTimes = await planBackfill(opened?.records, policy, span, options.reprocess, now);
    return { span, scheduledTimes };
  };
  if (options.dryRun) {
    // A dry run does not start the embedded Redis.
    const { span, scheduledTimes } = await (hasRecords(settings)
      ? withRecords(terminal, options, settings, planned)
      : planned());
    return showBackfill(toBackfillReport(policy, scheduledTimes), span, terminal, options);
  }
  return withCaretaker(terminal, options, settings, async (caretaker) => {
    const { span, scheduledTimes } = await planned(caretaker);
    return fireAndFollow(caretaker, policy, { span, scheduledTimes }, terminal, options);
  });
}

async function fireAndFollow(
  caretaker: Caretaker,
  policy: Policy,
  { span, scheduledTimes }: { span: Span; scheduledTimes: readonly BackfillTime[] },
  terminal: Terminal,
  options: BackfillOptions,
): Promise<number> {
  const { records, clock } = caretaker;
  const { name } = policy;
  if (options.detach) await needWorker(caretaker);
  const pause = pauseAt(await records.policies.state(name), clock.now());
  if (pause)
    terminal.message(`${name} is ${formatPause(pause)}. The backfill runs anyway, because you requested it.`);
  if (isForPeople(options)) printTimes(toBackfillReport(policy, scheduledTimes), terminal, options);
  const deps = { ...caretaker, policy: () => policy, needAccount: () => undefined };
  const input = {
    policy: name,
    from: isoTime(span.from),
    to: isoTime(span.to),
    reprocess: options.reprocess,
    ignore_freeze: options.ignoreFreeze,
    reason: options.reason,
  };
  const made = await carryOut(backfillPolicy, deps, input, localActor());
  const code = options.detach ? exit.ok : await watchAll(caretaker, made, terminal, options);
  const report = toBackfillReport(policy, await withPresentState(caretaker, made));
  await showBackfilled(report, span, terminal, options);
  return code;
}

const withPresentState = ({ records }: Caretaker, made: readonly Planned[]): Promise<Planned[]> =>
  Promise.all(
    made.map(async (one) => {
      const run = one.run && (await records.runs.get(one.run.id));
      return run ? { ...one, run } : one;
    }),
  );

/** @throws {UsageError} when the options name no range of past times. */
export function spanOf(zone: string, { from, to }: Pick<BackfillOptions, 'from' | 'to'>, now: number): Span {
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

async function watchAll(
  caretaker: Caretaker,
  made: readonly Planned[],
  terminal: Terminal,
  options: GlobalOptions,
): Promise<number> {
  const silent = !isForPeople(options);
  return worstOf(
    made.flatMap(({ run }) => run ?? []),
    (run) => watchRun(caretaker, run, terminal, { silent, cancelIfRefused: false }),
  );
}

/** Watches runs one after the other, until the rest cannot be watched, and returns the worst exit code. */
export async function worstOf<T>(runs: readonly T[], watch: (run: T) => Promise<number>): Promise<number> {
  let worst: number = exit.ok;
  for (const run of runs) {
    const code = await watch(run);
    worst = Math.max(worst, code);
    if (code === exit.interrupted || code === exit.unreachable) break;
  }
  return worst;
}

/** Shows what a backfill would run. */
export async function showBackfill(
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
export async function showBackfilled(
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
export function printTimes(
  { policy, timezone, overlap, scheduled_times: times }: BackfillReport,
  terminal: Terminal,
  { dryRun }: Pick<BackfillOptions, 'dryRun'>,
): void {
  const fires = times.filter((one) => one.fires).length;
  const rows = times.map((one) => [
    `${one.wall_time} ${timezone}`,
    one.fires ? terminal.paint('green', 'run') : terminal.paint('dim', 'skip'),
    one.because,
  ]);
  if (rows.length > 0)
    terminal.data(table(['scheduled time', 'backfill', 'current state'], rows, terminal.paint));
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
