import type { Caretaker } from '../../app/caretaker.ts';
import type { OpenRecords } from '../../app/open-records.ts';
import { isoTime } from '../../clock.ts';
import type { Policy } from '../../policy/policy.ts';
import { pauseAt } from '../../records/policy-store.ts';
import type { Run } from '../../run/run.ts';
import { type BackfillTime, planBackfill, queued, type Reprocess } from '../../schedule/backfill.ts';
import { edgeOf, type Span, wallTime } from '../../schedule/wall-time.ts';
import { accountOf } from '../../settings/account.ts';
import { countOf } from '../../text.ts';
import { needWorker } from '../active-process.ts';
import {
  type GlobalOptions,
  hasRecords,
  policyNamed,
  settingsOf,
  withCaretaker,
  withRecords,
} from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { formatPause } from '../output/pause.ts';
import { isForPeople, show } from '../output/show.ts';
import { type Terminal, table } from '../output/terminal.ts';
import { dayNote } from '../parse-end-time.ts';
import { watchRun } from '../watch-run.ts';

interface BackfillOptions extends GlobalOptions {
  from: string;
  to?: string;
  dryRun?: boolean;
  reprocess: Reprocess;
  detach?: boolean;
  ignoreFreeze?: true;
}

type Planned = BackfillTime & { run?: Run };

/**
 * Starts runs of a policy for past scheduled times in a range, one after the other. `--dry-run` only lists
 * them.
 */
export async function backfill(terminal: Terminal, name: string, options: BackfillOptions): Promise<number> {
  const settings = settingsOf(options);
  const policy = await policyNamed(name, settings, terminal);
  accountOf(settings, policy.account);
  const planned = async (opened?: Pick<OpenRecords, 'records' | 'clock'>) => {
    const now = opened?.clock.now() ?? Date.now();
    const span = spanOf(policy, options, now);
    const scheduledTimes = await planBackfill(opened?.records, policy, span, options.reprocess, now);
    return { span, scheduledTimes };
  };
  if (options.dryRun) {
    // A dry run does not start the embedded Redis.
    const { span, scheduledTimes } = await (hasRecords(settings)
      ? withRecords(options, settings, planned)
      : planned());
    return print(terminal, policy, span, scheduledTimes, options);
  }
  return withCaretaker(options, settings, async (caretaker) => {
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
  if (isForPeople(options)) printTimes(terminal, policy, scheduledTimes, options);
  const made = await fireAll(caretaker, policy, scheduledTimes, options);
  const code = options.detach ? exit.ok : await watchAll(caretaker, made, terminal, options);
  const value = asJson(policy, span, await withPresentState(caretaker, made), options);
  const text = () => {
    if (options.detach) for (const { run } of made) if (run) terminal.data(run.id);
  };
  await show(terminal, options, { value, rows: value.scheduled_times, text });
  return code;
}

const withPresentState = ({ records }: Caretaker, made: readonly Planned[]): Promise<Planned[]> =>
  Promise.all(
    made.map(async (one) => {
      const run = one.run && (await records.runs.get(one.run.id));
      return run ? { ...one, run } : one;
    }),
  );

function spanOf({ schedule }: Policy, { from, to }: BackfillOptions, now: number): Span {
  const zone = schedule?.timezone ?? 'UTC';
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

/** Fires the oldest time first: queued runs start in the order of their creation. */
async function fireAll(
  { engine }: Caretaker,
  policy: Policy,
  scheduledTimes: readonly BackfillTime[],
  { ignoreFreeze }: BackfillOptions,
): Promise<Planned[]> {
  const made: Planned[] = [];
  for (const one of scheduledTimes) {
    if (!one.fires) made.push(one);
    else {
      const { scheduledFor, attempt, afterRun } = one;
      const firing = {
        trigger: 'backfill' as const,
        scheduledFor,
        attempt,
        ...(afterRun === undefined ? {} : { afterRun }),
        ...(ignoreFreeze ? { ignoreFreeze } : {}),
      };
      made.push({ ...one, run: await engine.fire(queued(policy), firing) });
    }
  }
  return made;
}

async function watchAll(
  caretaker: Caretaker,
  made: readonly Planned[],
  terminal: Terminal,
  options: GlobalOptions,
): Promise<number> {
  const silent = !isForPeople(options);
  let worst: number = exit.ok;
  for (const { run } of made) {
    if (!run) continue;
    const code = await watchRun(caretaker, run, terminal, { silent, cancelIfRefused: false });
    worst = Math.max(worst, code);
    if (code === exit.interrupted || code === exit.unreachable) break;
  }
  return worst;
}

async function print(
  terminal: Terminal,
  policy: Policy,
  span: Span,
  scheduledTimes: readonly BackfillTime[],
  options: BackfillOptions,
): Promise<number> {
  const value = asJson(policy, span, scheduledTimes, options);
  const text = () => printTimes(terminal, policy, scheduledTimes, options);
  await show(terminal, options, { value, rows: value.scheduled_times, text });
  return exit.ok;
}

function printTimes(
  terminal: Terminal,
  policy: Policy,
  scheduledTimes: readonly BackfillTime[],
  options: BackfillOptions,
): void {
  const zone = policy.schedule?.timezone ?? 'UTC';
  const fires = scheduledTimes.filter((one) => one.fires).length;
  const rows = scheduledTimes.map((one) => [
    `${wallTime(one.scheduledFor, zone)} ${zone}`,
    one.fires ? terminal.paint('green', 'run') : terminal.paint('dim', 'skip'),
    one.because,
  ]);
  if (rows.length > 0)
    terminal.data(table(['scheduled time', 'backfill', 'current state'], rows, terminal.paint));
  const order = policy.schedule?.overlap === 'allow' ? 'all at once (overlap: allow)' : 'one after the other';
  const what =
    fires === 0 ? 'There is nothing to backfill.' : `${countOf(fires, 'run')} of ${policy.name}, ${order}.`;
  terminal.message(options.dryRun && fires > 0 ? `${what} This was a dry run: no run was started.` : what);
}

const asJson = (
  policy: Policy,
  { from, to }: Span,
  scheduledTimes: readonly Planned[],
  { reprocess, dryRun = false }: BackfillOptions,
) => ({
  policy: policy.name,
  from: isoTime(from),
  to: isoTime(to),
  reprocess,
  dry_run: dryRun,
  scheduled_times: scheduledTimes.map(({ scheduledFor, fires, because, run }) => ({
    scheduled_for: isoTime(scheduledFor),
    wall_time: wallTime(scheduledFor, policy.schedule?.timezone ?? 'UTC'),
    fires,
    because,
    run: run?.id ?? null,
    status: run?.status ?? null,
  })),
});
