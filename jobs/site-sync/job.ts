/**
 * Starts an on-demand sync of each site and follows it to its snapshot (spec 4.15), or, with `mode: stale`,
 * only of those that the service's own daily sync has left behind; and gives daily syncs a place of their own
 * in a window.
 *
 * A sync that is already running is adopted: the site gets synced, which is what the policy asks for.
 */
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
import { DayWindow, placeIn, sameTime } from './time-of-day.ts';

const HOUR = 3_600_000;
const MAX_AGE_MS = 20 * HOUR;
/**
 * A sync that failed is tried again, but not at once: two runs in a row must not use up a site's syncs of the
 * day.
 */
const TRY_AGAIN_AFTER_MS = HOUR;

const Options = z
  .strictObject({
    mode: z
      .enum(['all', 'stale'])
      .default('all')
      .describe(
        '`all` syncs every selected site; `stale` only those whose last good sync is too long ago. Default `all`.',
      ),
    max_age: z
      .optional(duration(60_000))
      .describe('With `mode: stale`: a site that was synced longer ago than this is stale. Default 20h.'),
    spread_daily_sync: z
      .optional(DayWindow)
      .describe(
        "Gives the service's own daily sync of each site its own minute in this window. Default: left as it is.",
      ),
    message: z
      .string()
      .max(500)
      .optional()
      .describe('Sent along with the sync, for people who look at the snapshot. Default none.'),
  })
  .refine(({ mode, max_age }) => mode === 'stale' || max_age === undefined, {
    path: ['max_age'],
    error: 'counts with "mode: stale" alone; with "mode: all" every site is synced',
  });
type Options = z.output<typeof Options>;

const State = z.object({
  /** Sync the site, follow the sync that planning saw running, or move the daily sync. */
  step: z.enum(['sync', 'follow', 'move']),
  /** For `follow`: when planning saw the sync running. */
  since: z.number().optional(),
  /** From when to when the daily sync moves, as the last step. */
  move: z.object({ from: z.string(), to: z.string() }).optional(),
  /** For `move`: why there was no sync before, and what there is to say of that. */
  skipped: z.enum(['daily-limit', 'maintenance', 'not-eligible']).optional(),
  detail: z.string().optional(),
});
type State = z.output<typeof State>;
type Step = Acting<Options, State>;
type Sync = NonNullable<Item<'listSites'>['sync']>;

export const siteSync = defineJob({
  name: 'site-sync',
  summary: 'Syncs all sites, or those with a stale sync, and follows each sync to its snapshot.',
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
    const move = moveOf(site.id, sync, options);
    if (sync.in_progress) {
      return { is: 'target', state: { step: 'follow', since: now, ...move } };
    }
    const standing = options.mode === 'stale' ? standingOf(sync, options, serviceNow) : undefined;
    if (standing?.is === 'failed' && !retry) return { is: 'settled', end: standing };
    if (standing?.is === 'done') {
      if (!move.move) return { is: 'settled', end: standing };
      return { is: 'target', state: { step: 'move', ...move, detail: standing.detail } };
    }
    return move.move ? { is: 'target', state: { step: 'sync', ...move } } : { is: 'target' };
  },
  requestsPerTarget: 1,

  async act(acting): Promise<Answer<State>> {
    const { target, state } = acting;
    if (state?.step === 'move') return moveDailySync(acting, state);
    if (state?.step !== 'follow') return sync(acting);
    const since = state.since ?? acting.now;
    return thenMove(
      { is: 'following', watch: { kind: 'sync', siteId: target.id, since, adopted: true } },
      state,
    );
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
    return sameTime(state.move.to, site.sync.daily_sync_time) ? moved(state, ended) : { is: 'absent' };
  },
});

/**
 * Where the daily sync of a site is to be moved, if it is to be: to the place in the window that is the
 * site's own.
 */
function moveOf(siteId: string, sync: Sync, { spread_daily_sync: window }: Options): Pick<State, 'move'> {
  const from = window && shown(sync.daily_sync_time, 'site.sync.daily_sync_time');
  if (!window || !from) return {};
  const to = placeIn(window, siteId);
  return sameTime(to, from) ? {} : { move: { from, to } };
}

/** How a site stands that needs no sync of ours, or is not to have one so soon; nothing for a stale one. */
function standingOf(sync: Sync, options: Options, now: number): (End & { detail: string }) | undefined {
  const ageMs = now - Date.parse(shown(sync.last_sync_at, 'site.sync.last_sync_at') ?? '');
  // A site that was never synced has no age, and no comparison with it holds.
  if (!(ageMs < (options.max_age ?? MAX_AGE_MS))) return undefined;
  shown(sync.last_sync_status, 'site.sync.last_sync_status');
  if (!lastSyncFailed(sync)) return { is: 'done', reason: 'already-done', detail: `Synced ${ago(ageMs)}.` };
  if (ageMs >= TRY_AGAIN_AFTER_MS) return undefined;
  const why = sync.last_sync_error ?? 'without a message.';
  return { is: 'failed', reason: 'task-failed', detail: `The last sync, ${ago(ageMs)}, failed: ${why}` };
}

function ago(ms: number): string {
  if (ms < 60_000) return 'just now';
  return ms < HOUR ? `${Math.floor(ms / 60_000)} min ago` : `${Math.floor(ms / HOUR)} h ago`;
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

/** Followed, and after that the daily sync moved, where it is to be. */
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
    return moved(state, ended);
  } catch (error) {
    const { rejected } = problemWith(error);
    if (!rejected) throw error;
    const synced = ended?.is === 'done' ? 'The site was synced. ' : '';
    const detail = `${synced}The daily sync could not be moved to ${to}: ${rejected.message}`;
    return { is: 'failed', reason: 'rejected', detail };
  }
}

/** The end of a site whose daily sync was moved: that of its sync, if there was one. */
function moved(state: State, ended: End | undefined): End {
  const before: End = ended ?? {
    ...(state.skipped ? { is: 'skipped', reason: state.skipped } : { is: 'done', reason: 'done' }),
    ...(state.detail === undefined ? {} : { detail: state.detail }),
  };
  const { from, to } = state.move ?? { from: '', to: '' };
  const says = `The daily sync was moved from ${from} to ${to}.`;
  return { ...before, detail: before.detail === undefined ? says : `${before.detail} ${says}` };
}
