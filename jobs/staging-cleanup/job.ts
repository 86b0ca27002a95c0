/**
 * Finds stale staging copies, and deletes, extends or reports them (spec 4.14).
 *
 * A deletion takes two runs. The first announces it in a note on the live site. A run after the grace period
 * deletes the copy if it is still stale and still announced, and updates the note. A copy is not touched if a
 * task of the service is working on it, if it has changed since the plan was made, or if a field that is
 * needed for the decision is not known.
 */
import type { Item } from '../../src/contract/operations.ts';
import { DAY_MS } from '../../src/dates.ts';
import type { Answer, End, Reconciled } from '../../src/job/answer.ts';
import { announcingChanges, formatUtc } from '../../src/job/grace/announcement.ts';
import {
  awaitGrace,
  closeChange,
  type GracedChange,
  isClosed,
  reconcileAnnouncement,
} from '../../src/job/grace/grace.ts';
import { type Announcements, announcementsFor, planOf } from '../../src/job/grace/plan.ts';
import { reconcileWithdrawal, withdraw, withdrawals } from '../../src/job/grace/withdraw.ts';
import {
  type Acting,
  defineJob,
  type Evaluating,
  type Evaluation,
  type ExtraTarget,
  type Preparing,
} from '../../src/job/job.ts';
import { problemWith } from '../../src/job/problem.ts';
import { secondsOf, shown } from '../../src/job/shown.ts';
import type { Verification, Verifying } from '../../src/job/verify.ts';
import {
  type AccountTags,
  busyCopies,
  type Copy,
  copiesOf,
  describeCopy,
  fingerprintOf,
  firstTag,
  isIdle,
  liveSitesOf,
  lookUpTags,
  newestOfEach,
  type StagingTask,
  showCopy,
  stagingTasksSince,
  tagName,
  taskOnCopySince,
  whyBusy,
  whyNotStale,
} from './copies.ts';
import { type ClosingState, Options, type PlannedState, State } from './options.ts';

const GRACE_MS = 3 * DAY_MS;
/** A task that was started longer ago than this counts as ended, whatever its status. */
const TASKS_SINCE_MS = 2 * DAY_MS;

/** What planning reads from the account. */
interface Survey {
  /** Every copy of the account, also those that the policy does not select. */
  copies: ReadonlyMap<string, Copy>;
  /** The live sites of the copies, by id. */
  sites: ReadonlyMap<string, Item<'listSites'>>;
  /** Copies that `keep_latest` keeps. */
  latest: ReadonlySet<string>;
  /** Copies that a task is or may be working on, and the task. */
  busy: ReadonlyMap<string, StagingTask>;
  /** The tags of `unless_tagged`, looked up in the account. */
  tags: AccountTags;
  /** The deletions that are announced, as far as our records know. */
  announced: Announcements;
}

export const stagingCleanup = defineJob({
  name: 'staging-cleanup',
  summary: 'Deletes, extends or reports staging copies that are stale.',
  options: Options,
  candidates: 'listStagingSites',
  related: ['listSites'],
  state: State,
  target: ({ id, url }) => ({ id, label: url ?? id }),
  prepare,
  relate: ({ site_id = '' }, { sites }) => ({ site: sites.get(site_id) }),
  evaluate,
  *extraTargets({ prepared, options, isSelected }): Generator<ExtraTarget<State>> {
    const why = 'The account has no tag with this id (unless_tagged), so no copy is touched';
    for (const tag of prepared.tags.missing) yield { is: 'excluded', id: `tag ${tag}`, label: tag, why };
    if (options.action !== 'delete') return;
    yield* withdrawals(prepared.announced, isSelected, (withdraws) => ({ step: 'withdraw', withdraws }));
  },
  changes({ action }) {
    if (action === 'report') return [];
    if (action === 'extend') return ['extendStagingSiteExpiry'];
    return ['deleteStagingSite', ...announcingChanges];
  },
  requestsPerTarget: ({ action, grace }) => {
    if (action === 'report') return 0;
    return action === 'delete' && grace !== 0 ? 5 : 3;
  },

  verified: ({ action }) => (action === 'delete' ? ['deleteStagingSite'] : []),
  verify,

  async act(acting): Promise<Answer<State>> {
    const { state, options } = acting;
    if (!state) throw new Error('A staging copy was planned without a state.');
    if (state.step === 'withdraw') return withdraw(acting, state.withdraws);
    if (state.step === 'close') return close(acting, state);
    if (options.action === 'extend') return extend(acting, state);
    return options.grace === 0 ? deleteCopy(acting, state) : announceOrDelete(acting, state);
  },

  async reconcile(acting, intent): Promise<Reconciled<State>> {
    const { operation, note = '' } = intent;
    const { state } = acting;
    if (!state) return { is: 'unknown' };
    if (state.step === 'withdraw') return reconcileWithdrawal(acting, state.withdraws, intent);
    if (state.step === 'close') {
      const isDone = await isClosed(acting, announcementOf(acting, state), state.noteId);
      return isDone ? deletedEnd(acting, state) : { is: 'absent' };
    }
    if (operation === 'createSiteNote' || operation === 'updateSiteNote') {
      const end = await reconcileAnnouncement(acting, deletionOf(acting, state), { note });
      return end ?? { is: 'absent' };
    }
    // A copy that is missing in a list may still exist. Only the single view proves that it is gone.
    const copy = await showCopy(acting.api, acting.target.id);
    if (operation === 'deleteStagingSite')
      return copy ? { is: 'absent' } : afterDeletion(acting, state, 'done', note);
    if (!copy) return { is: 'skipped', reason: 'gone' };
    const after = shown(copy.expires_at, 'staging.expires_at');
    if (secondsOf(after) > secondsOf(note)) return extendedEnd(note, after);
    return secondsOf(after) === secondsOf(note) ? { is: 'absent' } : { is: 'unknown' };
  },
});

/**
 * Whether the live sites of copies still have none of the tags that keep them. The copy itself is looked at directly
 * before its deletion. Costs one request per 100 sites with these tags, and one per 100 tags when no site shows one of
 * them; and where a condition uses the live sites, one per 100 sites.
 */
async function verify({
  all,
  api,
  options: { unless_tagged: tags = [] },
  targets,
  usesRelated,
}: Verifying<Options, State>): Promise<Verification<State>> {
  const kept = new Map<string, string>();
  const unseen = new Set(tags);
  if (tags.length > 0)
    for await (const site of all('listSites', { filters: { tags: { in: tags } } })) {
      for (const { id } of site.tags ?? []) unseen.delete(id);
      const tag = site.tags?.find(({ id }) => tags.includes(id));
      kept.set(site.id, tag?.name ?? tag?.id ?? 'one of them');
    }
  const { missing } = unseen.size > 0 ? await lookUpTags({ all }, tags) : { missing: [] };
  const copies = targets.flatMap(({ state }) => (state.step === 'look' ? [{ site_id: state.siteId }] : []));
  const sites = usesRelated ? await liveSitesOf({ all, api }, copies, false) : new Map<string, unknown>();
  return {
    takesBack: ({ state }) => state.step === 'withdraw',
    relate: (copy) => ({ site: sites.get((copy as Copy).site_id ?? '') }),
    differs({ state }) {
      if (state.step !== 'look') return undefined;
      if (missing.length > 0)
        return `The account no longer has the tag ${missing.join(', ')} (unless_tagged), so it is unknown which copies to keep.`;
      const tag = kept.get(state.siteId);
      return tag && `Its live site was tagged ${tag} after the plan was made (unless_tagged).`;
    },
  };
}

/** How long a deletion is announced; 0 when it is not. */
const graceOf = ({ action, grace = GRACE_MS }: Options): number => (action === 'delete' ? grace : 0);

async function prepare(preparing: Preparing<Options>): Promise<Survey> {
  const { all, api, serviceTime, options, now } = preparing;
  const copies = await copiesOf({ all, api });
  const { keep_latest = 0, unless_tagged = [] } = options;
  const sites = await liveSitesOf({ all, api }, copies, unless_tagged.length > 0);
  const { earliest } = await serviceTime(now - TASKS_SINCE_MS);
  const tasks = await stagingTasksSince({ all }, earliest);
  return {
    copies: new Map(copies.map((copy) => [copy.id, copy])),
    sites,
    latest: newestOfEach(copies, keep_latest),
    busy: busyCopies(tasks, copies, sites),
    tags: await lookUpTags({ all }, unless_tagged),
    announced: await announcementsFor(graceOf(options), preparing, (about) => ({
      marker: options.marker,
      about,
    })),
  };
}

function evaluate({ id }: Pick<Copy, 'id'>, evaluating: Evaluating<Options, Survey>): Evaluation<State> {
  const { options, prepared: known, now, serviceNow } = evaluating;
  const copy = known.copies.get(id);
  if (!copy) return { is: 'excluded', why: 'It was not listed yet when planning started' };
  const kept = whyNotStale(copy, options, serviceNow) ?? whyKept(copy, evaluating);
  if (kept !== undefined) return { is: 'excluded', why: kept };
  const why = whyIneligible(copy, evaluating);
  if (why !== undefined) return { is: 'ineligible', why };
  const facts = describeCopy(copy, serviceNow);
  if (options.action === 'report') {
    const findings = [
      { severity: 'warning' as const, about: copy.url ?? copy.id, message: `Stale: ${facts}.` },
    ];
    return { is: 'ended', end: { is: 'done', reason: 'done', detail: `Stale: ${facts}.`, findings } };
  }
  const siteId = shown(copy.site_id, 'staging.site_id');
  const state = {
    step: 'look',
    siteId,
    siteUrl: known.sites.get(siteId)?.url ?? '',
    seen: fingerprintOf(copy),
    expiresAt: shown(copy.expires_at, 'staging.expires_at'),
    plannedAt: now,
    facts,
    ...(options.unless_tagged
      ? { keepTags: options.unless_tagged.slice(0, 3).map((tag) => tagName(tag, known.tags)) }
      : {}),
  } as const;
  if (options.action !== 'delete' || options.grace === 0) return { is: 'target', state };
  const plan = planOf(known.announced.known.get(id), options.grace ?? GRACE_MS, now);
  const missedAt = evaluating.retry ? undefined : known.announced.missedAt(id);
  return { is: 'target', state: { ...state, ...(missedAt === undefined ? {} : { missedAt }) }, plan };
}

/** Why the policy keeps a stale copy. Throws when the tags of its live site are not shown. */
function whyKept(copy: Copy, { options, prepared: { latest, sites, tags } }: Evaluating<Options, Survey>) {
  const { unless_tagged = [], keep_latest } = options;
  if (latest.has(copy.id)) {
    const which = keep_latest === 1 ? 'the newest copy' : `one of the ${keep_latest} newest copies`;
    return `It is ${which} of its live site (keep_latest)`;
  }
  const site = sites.get(shown(copy.site_id, 'staging.site_id'));
  // `whyIneligible` decides about a copy whose live site is not in the account.
  if (unless_tagged.length === 0 || !site) return undefined;
  const tag = firstTag(unless_tagged, shown(site.tags, 'site.tags'));
  return tag === undefined ? undefined : `Its live site is tagged ${tagName(tag, tags)} (unless_tagged)`;
}

/** Why a stale copy must not be touched. */
function whyIneligible(
  copy: Copy,
  { options, prepared: { sites, busy, tags } }: Evaluating<Options, Survey>,
) {
  if (tags.missing.length > 0) {
    const names = tags.missing.map((tag) => `"${tag}"`).join(', ');
    return `The account has no tag with the id ${names} (unless_tagged), so it is unknown which copies to keep.`;
  }
  const siteId = shown(copy.site_id, 'staging.site_id');
  if (!isIdle(copy))
    return `Its status is ${copy.status ?? 'not shown'}; only active, paused and suspended copies are touched.`;
  const task = busy.get(copy.id);
  if (task) return whyBusy(task);
  const site = sites.get(siteId);
  if (!site && options.action === 'delete' && options.grace !== 0) {
    return `Its live site ${siteId} is not in the account, so its deletion cannot be announced.`;
  }
  if (options.unless_tagged && !site) {
    return `Its live site ${siteId} is not in the account, so its tags are unknown (unless_tagged).`;
  }
  return undefined;
}

type Step = Acting<Options, State>;

/** What identifies the announcement of a deletion. */
const announcementOf = ({ options, target }: Step, { siteId }: PlannedState | ClosingState) => ({
  siteId,
  marker: options.marker,
  about: target.id,
});

/** The deletion of the copy, for its announcement. */
function deletionOf(step: Step, state: PlannedState): GracedChange {
  const { target, runContext, options } = step;
  const tags = state.keepTags?.map((tag) => `"${tag}"`);
  return {
    ...announcementOf(step, state),
    operation: 'deleteStagingSite',
    graceMs: options.grace ?? GRACE_MS,
    missedAt: state.missedAt,
    headline: (from) =>
      `The staging copy ${target.label} (${target.id}) is stale: ${state.facts}.\nCaretaker's policy "${runContext.policy}" deletes it on or after ${from}, if it is still stale then.`,
    advice: tags && [`To keep the copies of this site permanently, tag the site ${tags.join(' or ')}.`],
    summary: (from) => `To be deleted on or after ${from}: ${state.facts}.`,
  };
}

/** Announces the deletion, or deletes the copy if the announced time has passed. */
async function announceOrDelete(acting: Step, state: PlannedState): Promise<Answer<State>> {
  try {
    const awaited = await awaitGrace(acting, deletionOf(acting, state));
    return awaited.is === 'due' ? await deleteCopy(acting, state, awaited.noteId) : awaited;
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return { is: 'skipped', reason: 'gone', detail: 'Its live site is no longer in the account.' };
  }
}

/** Deletes the copy, unless something has changed since the plan was made. */
async function deleteCopy(acting: Step, state: PlannedState, noteId?: string): Promise<Answer<State>> {
  const check = await checkAgain(acting, state);
  if (check === 'gone') return afterDeletion(acting, state, 'already-done', noteId);
  if (check !== 'same') return check;
  try {
    await acting.api.deleteStagingSite({ staging_site_id: acting.target.id }, noteId);
    return afterDeletion(acting, state, 'done', noteId);
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return afterDeletion(acting, state, 'already-done', noteId);
  }
}

/** The copy is gone. If its deletion was announced, the next step updates the note. */
function afterDeletion(
  acting: Step,
  state: PlannedState,
  reason: ClosingState['reason'],
  noteId = '',
): Answer<State> {
  const { siteId, facts } = state;
  if (noteId === '') return deletedEnd(acting, { reason, facts });
  return { is: 'next', state: { step: 'close', siteId, noteId, reason, facts } };
}

/** A deletion is also a finding, so that a run reports each deleted copy on its own line. */
function deletedEnd({ target }: Step, { reason, facts }: Pick<ClosingState, 'reason' | 'facts'>): End {
  if (reason === 'already-done') return { is: 'done', reason, detail: 'It was already gone.' };
  const detail = `Deleted: ${facts}.`;
  return {
    is: 'done',
    reason,
    detail,
    findings: [{ severity: 'info', about: target.label, message: detail }],
  };
}

/** Updates the note after the copy is gone. A refusal is only a warning, because the deletion is done. */
async function close(acting: Step, state: ClosingState): Promise<End> {
  const { target, runContext, now } = acting;
  const copy = `The staging copy ${target.label} (${target.id})`;
  const text =
    state.reason === 'done'
      ? `${copy} was deleted on ${formatUtc(now)} by Caretaker's policy "${runContext.policy}", as announced: ${state.facts}.`
      : `${copy} was announced for deletion, but was already gone.`;
  const refusal = await closeChange(acting, announcementOf(acting, state), state.noteId, text);
  const end = deletedEnd(acting, state);
  if (refusal === undefined) return end;
  const message = `The note that announced its deletion could not be updated: ${refusal}`;
  const warning = { severity: 'warning' as const, about: target.label, message };
  return { ...end, findings: [...(end.findings ?? []), warning] };
}

/** Extends the life of the copy, unless something has changed since the plan was made. */
async function extend(acting: Step, state: PlannedState): Promise<End> {
  const { api, target, options } = acting;
  const check = await checkAgain(acting, state);
  if (check === 'gone') return { is: 'skipped', reason: 'gone' };
  if (check !== 'same') return check;
  const input = { staging_site_id: target.id, body: { days: options.days ?? 1 } };
  const { staging_site } = await api.extendStagingSiteExpiry(input, state.expiresAt);
  return extendedEnd(state.expiresAt, staging_site.expires_at);
}

const extendedEnd = (before: string, after: string | undefined): End => ({
  is: 'done',
  reason: 'done',
  detail: `It expires on ${after?.slice(0, 10) ?? 'a date that the service does not show'} instead of ${before.slice(0, 10)}.`,
});

const ineligible = (detail: string): End => ({ is: 'skipped', reason: 'not-eligible', detail });

/** Whether the copy is as planned and no task has started on it since; otherwise its end. Two requests. */
async function checkAgain(acting: Step, state: PlannedState): Promise<'same' | 'gone' | End> {
  const { target, options } = acting;
  const copies = await copiesOf(acting, state.siteId);
  // A copy that is missing in a list may still exist. Only the single view proves that it is gone.
  const copy = copies.find(({ id }) => id === target.id) ?? (await showCopy(acting.api, target.id));
  if (!copy) return 'gone';
  if (fingerprintOf(copy) !== state.seen) return ineligible('It has changed since the plan was made.');
  if (newestOfEach(copies, options.keep_latest ?? 0).has(copy.id)) {
    return ineligible('A newer copy was removed after the plan was made, so keep_latest keeps this one.');
  }
  const copyWithSite = { ...copy, siteUrl: state.siteUrl };
  const { earliest } = await acting.serviceTime(state.plannedAt);
  const task = await taskOnCopySince(acting, copyWithSite, earliest);
  return task ? ineligible(whyBusy(task)) : 'same';
}
