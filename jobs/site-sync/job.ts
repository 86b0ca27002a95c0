/**
 * Starts an on-demand sync of each site and follows it until its snapshot is complete (spec 4.15). With
 * `mode: stale` it syncs only sites that the service's own daily sync has not synced recently. It can also
 * spread the daily syncs over a window.
 *
 * A sync that is already running is adopted, because the site then gets the sync that the policy asks for.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { refusalOf } from '../../src/contract/answers.ts';
import type { Item } from '../../src/contract/operations.ts';
import type { Answer, End } from '../../src/job/answer.ts';
import type { Api } from '../../src/job/api.ts';
import { type Acting, defineJob, type Evaluation } from '../../src/job/job.ts';
import { duration } from '../../src/job/options.ts';
import { problemWith } from '../../src/job/problem.ts';
import { findSync, lastSyncFailed } from '../../src/job/reconcile/find-sync.ts';
import { shown } from '../../src/job/shown.ts';
import { hasEnded } from '../../src/job/watch/sync.ts';

// Times of day in UTC, as the service writes them: `03:17Z`.

const DAY = 24 * 60;
const timeFormat = /^([01]\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?Z?$/;

/** Minutes since midnight; `undefined` when the text is not a time of day. */
function minuteOf(text: string): number | undefined {
  const match = timeFormat.exec(text);
  return match ? Number(match[1]) * 60 + Number(match[2]) : undefined;
}

const timeAt = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}Z`;

const windowBound = (description: string) =>
  z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\dZ?$/, 'must be a time of day in UTC such as 01:00')
    .describe(description);

/** Part of the day, in UTC. A window whose end is earlier than its start goes over midnight. */
export const DayWindow = z
  .strictObject({
    from: windowBound('Start of the window, in UTC, such as 01:00.'),
    to: windowBound(
      'End of the window (exclusive), in UTC, such as 05:00. If earlier than `from`, it is on the next day.',
    ),
  })
  .refine(({ from, to }) => minuteOf(from) !== minuteOf(to), {
    path: ['to'],
    error: 'must differ from "from": the window would be empty',
  });
export type DayWindow = z.output<typeof DayWindow>;

/** The minute of the window that is assigned to `id`. It never changes, and many ids are spread evenly. */
export function assignedTime({ from, to }: DayWindow, id: string): string {
  const [begin = 0, end = 0] = [minuteOf(from), minuteOf(to)];
  const length = (end - begin + DAY) % DAY;
  return timeAt((begin + (createHash('sha256').update(id).digest().readUInt32BE() % length)) % DAY);
}

/** Whether two texts name the same minute of the day. False when one of them is not a time of day. */
export const isSameTime = (one: string, other: string | null | undefined): boolean =>
  minuteOf(one) !== undefined && minuteOf(one) === minuteOf(other ?? '');

const HOUR = 3_600_000;
const MAX_AGE_MS = 20 * HOUR;
/** The largest difference between the clocks of the service that is allowed for. */
const CLOCKS_DIFFER_MS = HOUR;
/** A failed sync is not retried earlier than this: consecutive runs must not use up a site's daily syncs. */
const RETRY_AFTER_MS = HOUR;

const Options = z
  .strictObject({
    mode: z
      .enum(['all', 'stale'])
      .default('all')
      .describe(
        '`all` syncs every selected site; `stale` only those whose last successful sync is too long ago. Default `all`.',
      ),
    max_age: z
      .optional(duration(60_000))
      .describe(
        'With `mode: stale`: a site whose last successful sync is older than this is stale. Default 20h.',
      ),
    spread_daily_sync: z
      .optional(DayWindow)
      .describe(
        "Moves the service's own daily sync of each site to a fixed minute in this window. Default: not moved.",
      ),
    message: z
      .string()
      .max(500)
      .optional()
      .describe('A message for the snapshot of the sync, for people who look at it. Default none.'),
  })
  .refine(({ mode, max_age }) => mode === 'stale' || max_age === undefined, {
    path: ['max_age'],
    error: 'applies only to "mode: stale"; with "mode: all" every site is synced',
  });
type Options = z.output<typeof Options>;

const State = z.object({
  /** Sync the site, follow a sync that was running when the plan was made, or move the daily sync. */
  step: z.enum(['sync', 'follow', 'move']),
  /** For `follow`: when the plan was made and the sync was running. */
  since: z.number().optional(),
  /** The present and the new time of the daily sync. Moving it is the last step. */
  move: z.object({ from: z.string(), to: z.string() }).optional(),
  /** For `move`: why the site was not synced before, and the detail of that outcome. */
  skipped: z.enum(['daily-limit', 'maintenance', 'not-eligible']).optional(),
  detail: z.string().optional(),
});
type State = z.output<typeof State>;
type Step = Acting<Options, State>;
type Sync = NonNullable<Item<'listSites'>['sync']>;

export const siteSync = defineJob({
  name: 'site-sync',
  summary: 'Syncs all sites, or only sites with a stale sync, and follows each sync to its snapshot.',
  options: Options,
  candidates: 'listSites',
  state: State,
  target: (site) => ({ id: site.id, label: site.url }),
  evaluate(site, { options, now, serviceNow, retry }): Evaluation<State> {
    const status = shown(site.connection?.status, 'site.connection.status');
    if (status === 'disconnected') return { is: 'ineligible', why: 'The site is disconnected.' };
    const sync = shown(site.sync, 'site.sync');
    if (shown(sync.paused, 'site.sync.paused'))
      return { is: 'ineligible', why: 'Syncing is paused on the site.' };
    if (shown(site.locked, 'site.locked')) return { is: 'ineligible', why: 'The site is locked.' };
    const move = plannedMove(site.id, sync, options);
    if (sync.in_progress) {
      return { is: 'target', state: { step: 'follow', since: now, ...move } };
    }
    const end = options.mode === 'stale' ? endWithoutSync(sync, options, serviceNow) : undefined;
    if (end?.is === 'failed' && !retry) return { is: 'ended', end };
    if (end?.is === 'done') {
      if (!move.move) return { is: 'ended', end };
      return { is: 'target', state: { step: 'move', ...move, detail: end.detail } };
    }
    return move.move ? { is: 'target', state: { step: 'sync', ...move } } : { is: 'target' };
  },
  requestsPerTarget: 1,
  changes: () => ['syncSite', 'updateSite'],

  // Whether a sync was in progress only decides how a site is synced, and `act` looks at that.
  verify: async () => ({ differs: () => undefined }),

  async act(acting): Promise<Answer<State>> {
    const { state } = acting;
    if (state?.step === 'move') return moveDailySync(acting, state);
    return state?.step === 'follow' ? followOrSync(acting, state) : sync(acting);
  },

  async reconcile(acting, intent) {
    const { api, target, state, ended } = acting;
    if (intent.operation !== 'updateSite' || !state?.move) {
      const found = await findSync(acting, target.id, intent);
      return found.is === 'following' ? thenMove(found, state) : found;
    }
    const { site } = await api.showSite({ site_id: target.id });
    if (!site.sync?.daily_sync_time)
      return { is: 'unknown', detail: 'The service does not show the daily sync time.' };
    return isSameTime(state.move.to, site.sync.daily_sync_time)
      ? endAfterMove(state, ended)
      : { is: 'absent' };
  },
});

/** The move of a site's daily sync to its assigned time in the window; empty when no move is needed. */
function plannedMove(
  siteId: string,
  sync: Sync,
  { spread_daily_sync: window }: Options,
): Pick<State, 'move'> {
  const from = window && shown(sync.daily_sync_time, 'site.sync.daily_sync_time');
  if (!window || !from) return {};
  const to = assignedTime(window, siteId);
  return isSameTime(to, from) ? {} : { move: { from, to } };
}

/**
 * The end of a site that needs no sync, or whose last sync failed too recently to try again. `undefined` for
 * a stale site.
 */
function endWithoutSync(sync: Sync, options: Options, now: number): (End & { detail: string }) | undefined {
  const ageMs = now - Date.parse(shown(sync.last_sync_at, 'site.sync.last_sync_at') ?? '');
  // The age of a site that was never synced is NaN, so this comparison is false and the site is stale. A sync that is to
  // come shows nothing either.
  if (!(ageMs < (options.max_age ?? MAX_AGE_MS) && ageMs > -CLOCKS_DIFFER_MS)) return undefined;
  shown(sync.last_sync_status, 'site.sync.last_sync_status');
  if (!lastSyncFailed(sync)) return { is: 'done', reason: 'already-done', detail: `Synced ${ago(ageMs)}.` };
  if (ageMs >= RETRY_AFTER_MS) return undefined;
  const why = sync.last_sync_error ?? 'without a message.';
  return { is: 'failed', reason: 'task-failed', detail: `The last sync, ${ago(ageMs)}, failed: ${why}` };
}

function ago(ms: number): string {
  if (ms < 60_000) return 'just now';
  return ms < HOUR ? `${Math.floor(ms / 60_000)} min ago` : `${Math.floor(ms / HOUR)} h ago`;
}

/**
 * Follows the sync that the list showed as running, or one that has ended since. A list may lag behind: when the sync had
 * ended before the plan was made, the site is synced. Costs one request, and one more to sync.
 */
async function followOrSync(acting: Step, state: State): Promise<Answer<State>> {
  const { api, target, serviceTime } = acting;
  const since = state.since ?? acting.now;
  const { sync: shownSync } = (await api.showSite({ site_id: target.id })).site;
  const isFollowed = shownSync?.in_progress || (shownSync && hasEnded(shownSync, await serviceTime(since)));
  if (!isFollowed) return sync(acting);
  const watch = { kind: 'sync', siteId: target.id, since, adopted: true } as const;
  return thenMove({ is: 'following', watch }, state);
}

async function sync({ api, target, options, state, now }: Step): Promise<Answer<State>> {
  try {
    const body = options.message === undefined ? {} : { body: { sync: { message: options.message } } };
    const { sync } = await api.syncSite({ site_id: target.id, ...body });
    const watch = { kind: 'sync', siteId: target.id, snapshotId: sync.snapshot_id, since: now } as const;
    return thenMove({ is: 'following', watch }, state);
  } catch (error) {
    const { conflict, rejected } = problemWith(error);
    if (conflict) {
      if (!(await isSyncing(api, target.id)))
        return { is: 'waiting', reason: 'conflict', detail: conflict.message };
      const watch = { kind: 'sync', siteId: target.id, since: now, adopted: true } as const;
      return thenMove({ is: 'following', watch }, state);
    }
    const refusal = rejected && refusalOf(rejected);
    if (!refusal) throw error;
    if (!state?.move) return { is: 'skipped', reason: refusal, detail: rejected.message };
    const { move } = state;
    return { is: 'next', state: { step: 'move', move, skipped: refusal, detail: rejected.message } };
  }
}

async function isSyncing(api: Api, siteId: string): Promise<boolean> {
  const { site } = await api.showSite({ site_id: siteId });
  return site.sync?.in_progress === true;
}

/** Follows the sync, and then moves the daily sync if that is planned. */
function thenMove(
  answer: Extract<Answer, { is: 'following' }>,
  state: State | undefined,
): Extract<Answer<State>, { is: 'following' }> {
  const { is, watch } = answer;
  return state?.move ? { is, watch, next: { step: 'move', move: state.move } } : { is, watch };
}

async function moveDailySync({ api, target, ended }: Step, state: State): Promise<End> {
  const { to } = state.move ?? { to: '' };
  try {
    await api.updateSite({ site_id: target.id, body: { site: { sync: { daily_sync_time: to } } } });
    return endAfterMove(state, ended);
  } catch (error) {
    const { rejected } = problemWith(error);
    if (!rejected) throw error;
    const synced = ended?.is === 'done' ? 'The site was synced. ' : '';
    const detail = `${synced}The daily sync could not be moved to ${to}: ${rejected.message}`;
    return { is: 'failed', reason: 'rejected', detail };
  }
}

/** The end of a site whose daily sync was moved: the end of its sync if it had one, plus the move. */
function endAfterMove(state: State, ended: End | undefined): End {
  const before: End = ended ?? {
    ...(state.skipped ? { is: 'skipped', reason: state.skipped } : { is: 'done', reason: 'done' }),
    ...(state.detail === undefined ? {} : { detail: state.detail }),
  };
  const { from, to } = state.move ?? { from: '', to: '' };
  const sentence = `The daily sync was moved from ${from} to ${to}.`;
  return { ...before, detail: before.detail === undefined ? sentence : `${before.detail} ${sentence}` };
}
