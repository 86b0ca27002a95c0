/**
 * Finds staging copies that are stale, and deletes them, extends them or reports them (spec 4.14).
 *
 * Deleting is done in two runs: the first announces it in a note on the live site, a later one deletes what
 * is still stale and still announced when the grace time is over, and says so in the note. A copy that a task
 * of the service is at work on, that has changed since the plan was made, or of which something needed is not
 * known, is left alone.
 */
import { z } from 'zod';
import type { Item } from '../../src/contract/operations.ts';
import type { Answer, End, Reconciled } from '../../src/job/answer.ts';
import { secondsOf } from '../../src/job/instant.ts';
import {
  type Acting,
  defineJob,
  type Evaluating,
  type Evaluation,
  type Preparing,
} from '../../src/job/job.ts';
import { duration } from '../../src/job/options.ts';
import { problemWith } from '../../src/job/problem.ts';
import { shown } from '../../src/job/shown.ts';
import {
  type Announcement,
  announce,
  closeAnnouncement,
  findAnnouncement,
  inUtc,
  isAnnouncedBy,
  type Mark,
  toMoment,
} from './announcement.ts';
import {
  atRest,
  atWorkOn,
  type Copy,
  copiesAtWork,
  copiesOf,
  copyAlone,
  factsOf,
  isAtRest,
  newestOfEach,
  type StagingTask,
  stagingTasksSince,
  stateOf,
  taskOnCopySince,
  whyFresh,
} from './copies.ts';
import { liveSitesOf } from './live-sites.ts';
import { type Close, type Look, State } from './state.ts';
import { firstTag, type KnownTags, knownTags } from './tags.ts';

const DAY_MS = 86_400_000;
const GRACE_MS = 3 * DAY_MS;
/** So long after its date an announcement still counts; whoever read an older one has forgotten it. */
const ANNOUNCED_FOR_MS = 90 * DAY_MS;
/** A task that was started longer ago is not at work any more, whatever its status. */
const TASKS_SINCE_MS = 2 * DAY_MS;

const Options = z
  .strictObject({
    action: z
      .enum(['report', 'delete', 'extend'])
      .default('report')
      .describe(
        'What is done with stale copies: `report` reports them and changes nothing, `delete` deletes them after the grace time, `extend` extends their life. Default report.',
      ),
    older_than: z.optional(duration(1000)).describe('Stale is what was made longer ago than this.'),
    expires_within: z
      .optional(duration())
      .describe('Stale is what expires within this time, or has expired already.'),
    status: z.optional(z.array(z.enum(atRest)).min(1)).describe('Stale is what has one of these statuses.'),
    keep_latest: z
      .optional(z.int().min(1))
      .describe('So many copies of each live site are kept, the newest ones; the others are stale.'),
    unless_tagged: z
      .optional(z.array(z.string().regex(/\S/, 'must be a name or id of a tag')).min(1))
      .describe('Copies of live sites with one of these tags, by name or id, are kept.'),
    days: z.optional(z.int().min(1)).describe('By how many days `extend` lets a copy live longer.'),
    grace: z
      .optional(duration())
      .describe(
        'How long a deletion is announced first, in a note on the live site; 0: not at all. Default 3d.',
      ),
    marker: z
      .string()
      .regex(/^[^[\]\n]{8,100}$/, 'must have 8 to 100 characters, none of them a bracket')
      .default('caretaker staging-cleanup')
      .describe('What announcements are found again by. Default `caretaker staging-cleanup`.'),
  })
  .superRefine(({ action, older_than, expires_within, status, keep_latest, days }, { addIssue }) => {
    const complain = (name: string, message: string) => addIssue({ code: 'custom', path: [name], message });
    if ([older_than, expires_within, status, keep_latest].every((condition) => condition === undefined)) {
      const message = 'needs older_than, expires_within, status or keep_latest to say what is stale';
      addIssue({ code: 'custom', path: [], message });
    }
    if (action !== 'extend' && days !== undefined) complain('days', 'is taken by action: extend alone');
    if (action !== 'extend') return;
    if (days === undefined) complain('days', 'is needed by action: extend');
    else if (expires_within === undefined) {
      complain('expires_within', 'is needed by action: extend, or each run would extend a copy again');
    } else if (days * DAY_MS <= expires_within) {
      complain('days', 'must be more days than "expires_within" has, or each run would extend a copy again');
    }
  });
type Options = z.output<typeof Options>;

/** What of the account decides besides the copy itself. */
interface Survey {
  /**
   * Every copy there is, whatever the policy selects, with what decides on it as far as the service shows it.
   */
  copies: ReadonlyMap<string, Copy>;
  /** The live sites of the copies, by id. */
  sites: ReadonlyMap<string, Item<'listSites'>>;
  /** Copies that `keep_latest` keeps. */
  latest: ReadonlySet<string>;
  /** Copies that a task is at work on, or may be, and the task. */
  atWork: ReadonlyMap<string, StagingTask>;
  /** What the account has of the tags of `unless_tagged`. */
  tags: KnownTags;
}

export const stagingCleanup = defineJob({
  name: 'staging-cleanup',
  summary: 'Deletes, extends or reports staging copies that are stale.',
  reasons: {
    announced: {
      text: 'What is to be done was announced, and nothing else; a later run does it, when the time set for that has come.',
      notable: true,
    },
  },
  options: Options,
  candidates: 'listStagingSites',
  related: ['listSites'],
  state: State,
  target: ({ id, url }) => ({ id, label: url ?? id }),
  prepare,
  relate: ({ site_id = '' }, { sites }) => ({ site: sites.get(site_id) }),
  evaluate,
  *extraTargets({ prepared }) {
    const why = 'No tag of the account has this name or id (unless_tagged), so no copy is touched';
    for (const tag of prepared.tags.missing) yield { is: 'excluded', id: `tag ${tag}`, label: tag, why };
  },
  requestsPerTarget: ({ action, grace }) => {
    if (action === 'report') return 0;
    return action === 'delete' && grace !== 0 ? 5 : 3;
  },

  async act(acting): Promise<Answer<State>> {
    const { state, options } = acting;
    if (!state) throw new Error('A staging copy was planned without a state.');
    if (state.step === 'close') return close(acting, state);
    if (options.action === 'extend') return extend(acting, state);
    return options.grace === 0 ? remove(acting, state) : removeIfAnnounced(acting, state);
  },

  async reconcile(acting, { operation, note = '' }): Promise<Reconciled<State>> {
    const { state } = acting;
    if (!state) return { is: 'unknown' };
    if (state.step === 'close') {
      const open = await isAnnouncedBy(acting.api, markOf(acting, state), state.noteId);
      return open ? { is: 'absent' } : ended(acting, state);
    }
    if (operation === 'createSiteNote' || operation === 'updateSiteNote') {
      const found = await findAnnouncement(acting, markOf(acting, state));
      return found && toMoment(found.from) === note ? announced(found, state) : { is: 'absent' };
    }
    // One that a list lacks may still be there: the single view alone proves that it is gone.
    const copy = await copyAlone(acting.api, acting.target.id);
    if (operation === 'deleteStagingSite')
      return copy ? { is: 'absent' } : removed(acting, state, 'done', note);
    if (!copy) return { is: 'skipped', reason: 'gone' };
    const after = shown(copy.expires_at, 'staging.expires_at');
    if (secondsOf(after) > secondsOf(note)) return extended(note, after);
    return secondsOf(after) === secondsOf(note) ? { is: 'absent' } : { is: 'unknown' };
  },
});

async function prepare({ all, api, serviceTime, options, now }: Preparing<Options>): Promise<Survey> {
  const copies = await copiesOf({ all, api });
  const { keep_latest = 0, unless_tagged = [] } = options;
  const sites = await liveSitesOf({ all, api }, copies, unless_tagged.length > 0);
  const { earliest } = await serviceTime(now - TASKS_SINCE_MS);
  const tasks = await stagingTasksSince({ all }, earliest);
  return {
    copies: new Map(copies.map((copy) => [copy.id, copy])),
    sites,
    latest: newestOfEach(copies, keep_latest),
    atWork: copiesAtWork(tasks, copies, sites),
    tags: await knownTags({ all }, unless_tagged),
  };
}

function evaluate({ id }: Pick<Copy, 'id'>, evaluating: Evaluating<Options, Survey>): Evaluation<State> {
  const { options, prepared: known, now, serviceNow } = evaluating;
  const copy = known.copies.get(id);
  if (!copy) return { is: 'excluded', why: 'It appeared while the plan was made' };
  const kept = whyFresh(copy, options, serviceNow) ?? whyKept(copy, evaluating);
  if (kept !== undefined) return { is: 'excluded', why: kept };
  const why = whyNot(copy, evaluating);
  if (why !== undefined) return { is: 'ineligible', why };
  const facts = factsOf(copy, serviceNow);
  if (options.action === 'report') {
    const findings = [
      { severity: 'warning' as const, about: copy.url ?? copy.id, message: `Stale: ${facts}.` },
    ];
    return { is: 'settled', end: { is: 'done', reason: 'done', detail: `Stale: ${facts}.`, findings } };
  }
  const siteId = shown(copy.site_id, 'staging.site_id');
  const state = {
    step: 'look',
    siteId,
    siteUrl: known.sites.get(siteId)?.url ?? '',
    seen: stateOf(copy),
    expiresAt: shown(copy.expires_at, 'staging.expires_at'),
    plannedAt: now,
    facts,
  } as const;
  return { is: 'target', state };
}

/**
 * Why a stale copy is kept by the wish of the policy. Tags that are not shown are not "none": then it throws.
 */
function whyKept(copy: Copy, { options, prepared: { latest, sites, tags } }: Evaluating<Options, Survey>) {
  const { unless_tagged = [], keep_latest } = options;
  if (latest.has(copy.id)) {
    const which = keep_latest === 1 ? 'the newest copy' : `one of the ${keep_latest} newest copies`;
    return `It is ${which} of its live site (keep_latest)`;
  }
  const site = sites.get(shown(copy.site_id, 'staging.site_id'));
  // What becomes of a copy whose live site is not in the account is for `whyNot` to say.
  if (unless_tagged.length === 0 || !site) return undefined;
  const tag = firstTag(unless_tagged, shown(site.tags, 'site.tags'), tags);
  return tag === undefined ? undefined : `Its live site is tagged ${tag} (unless_tagged)`;
}

/** Why a stale copy cannot be worked on. */
function whyNot(copy: Copy, { options, prepared: { sites, atWork, tags } }: Evaluating<Options, Survey>) {
  if (tags.missing.length > 0) {
    const names = tags.missing.map((tag) => `"${tag}"`).join(', ');
    return `The account has no tag ${names} (unless_tagged), so it is unknown which copies must stay.`;
  }
  const siteId = shown(copy.site_id, 'staging.site_id');
  if (!isAtRest(copy)) return `It is left alone while its status is ${copy.status ?? 'not shown'}.`;
  const task = atWork.get(copy.id);
  if (task) return atWorkOn(task);
  const site = sites.get(siteId);
  if (!site && options.action === 'delete' && options.grace !== 0) {
    return `Its live site ${siteId} is not in the account, so its deletion cannot be announced.`;
  }
  if (options.unless_tagged && !site) {
    return `Its live site ${siteId} is not in the account, so its tags are unknown (unless_tagged).`;
  }
  return undefined;
}

type Working = Acting<Options, State>;

const markOf = ({ options, target }: Working, { siteId }: State): Mark => ({
  siteId,
  marker: options.marker,
  about: target.id,
});

/** Announces the deletion, waits for its time, or deletes, whichever it is time for. */
async function removeIfAnnounced(acting: Working, state: Look): Promise<Answer<State>> {
  try {
    const found = await findAnnouncement(acting, markOf(acting, state));
    // One without a date that can be read is written again, too.
    if (found && acting.now < found.from) return announced(found, state);
    if (found && acting.now <= found.from + ANNOUNCED_FOR_MS) return await remove(acting, state, found);
    const from = acting.now + (acting.options.grace ?? GRACE_MS);
    await announce(acting.api, markOf(acting, state), announcementText(acting, state, from), from, found);
    return announced({ from }, state);
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return { is: 'skipped', reason: 'gone', detail: 'Its live site is no longer in the account.' };
  }
}

const announced = ({ from }: Pick<Announcement, 'from'>, { facts }: Look): End => ({
  is: 'done',
  reason: 'announced',
  detail: `To be deleted from ${inUtc(from)} on: ${facts}.`,
});

function announcementText({ target, runContext, options }: Working, { facts }: Look, from: number): string {
  const tags = options.unless_tagged?.slice(0, 3).map((tag) => `"${tag}"`);
  return [
    `The staging copy ${target.label} (${target.id}) is stale: ${facts}.`,
    `Caretaker's policy "${runContext.policy}" deletes it from ${inUtc(from)} on, if it is still stale then.`,
    'To cancel that, remove this note: a later run announces the copy again, with a new grace time.',
    'To put it off, write a later date into the last line.',
    ...(tags ? [`To keep the copies of this site for good, tag the site ${tags.join(' or ')}.`] : []),
  ].join('\n');
}

/** Deletes the copy, unless something has changed since the plan was made. */
async function remove(acting: Working, state: Look, announcement?: Announcement): Promise<Answer<State>> {
  const seen = await lookAgain(acting, state);
  if (seen === 'gone') return removed(acting, state, 'already-done', announcement?.noteId);
  if (seen !== 'same') return seen;
  try {
    await acting.api.deleteStagingSite({ staging_site_id: acting.target.id }, announcement?.noteId);
    return removed(acting, state, 'done', announcement?.noteId);
  } catch (error) {
    if (!problemWith(error).gone) throw error;
    return removed(acting, state, 'already-done', announcement?.noteId);
  }
}

/** The copy is gone; if that was announced, the note is to say so. */
function removed(acting: Working, state: Look, reason: Close['reason'], noteId = ''): Answer<State> {
  const { siteId, facts } = state;
  if (noteId === '') return ended(acting, { reason, facts });
  return { is: 'next', state: { step: 'close', siteId, noteId, reason, facts } };
}

/** What was deleted is a finding, so that a run tells of each copy by itself. */
function ended({ target }: Working, { reason, facts }: Pick<Close, 'reason' | 'facts'>): End {
  if (reason === 'already-done') return { is: 'done', reason, detail: 'It was gone already.' };
  const detail = `Deleted: ${facts}.`;
  return {
    is: 'done',
    reason,
    detail,
    findings: [{ severity: 'info', about: target.label, message: detail }],
  };
}

/** Has the note tell what became of its announcement. The copy is gone whether or not that can be done. */
async function close(acting: Working, state: Close): Promise<End> {
  const { api, target, runContext, now } = acting;
  const copy = `The staging copy ${target.label} (${target.id})`;
  const says =
    state.reason === 'done'
      ? `${copy} was deleted on ${inUtc(now)} by Caretaker's policy "${runContext.policy}", as announced: ${state.facts}.`
      : `${copy} was announced for deletion, and was gone before.`;
  const refusal = await closeAnnouncement(api, markOf(acting, state), state.noteId, says);
  const end = ended(acting, state);
  if (refusal === undefined) return end;
  const warning = `The note that announced its deletion still stands: ${refusal}`;
  const left = { severity: 'warning' as const, about: target.label, message: warning };
  return { ...end, findings: [...(end.findings ?? []), left] };
}

/** Lets the copy live longer, unless something has changed since the plan was made. */
async function extend(acting: Working, state: Look): Promise<End> {
  const { api, target, options } = acting;
  const seen = await lookAgain(acting, state);
  if (seen === 'gone') return { is: 'skipped', reason: 'gone' };
  if (seen !== 'same') return seen;
  const asked = { staging_site_id: target.id, body: { days: options.days ?? 1 } };
  const { staging_site } = await api.extendStagingSiteExpiry(asked, state.expiresAt);
  return extended(state.expiresAt, staging_site.expires_at);
}

const extended = (before: string, after: string | undefined): End => ({
  is: 'done',
  reason: 'done',
  detail: `It expires on ${after?.slice(0, 10) ?? 'a day that the service does not show'} instead of ${before.slice(0, 10)}.`,
});

const changed = (detail: string): End => ({ is: 'skipped', reason: 'not-eligible', detail });

/** Whether the copy is as it was planned, and nothing has begun on it since; else its end. Two requests. */
async function lookAgain(acting: Working, state: Look): Promise<'same' | 'gone' | End> {
  const { target, options } = acting;
  const copies = await copiesOf(acting, state.siteId);
  // One that a list lacks may still be there: the single view alone proves that it is gone.
  const copy = copies.find(({ id }) => id === target.id) ?? (await copyAlone(acting.api, target.id));
  if (!copy) return 'gone';
  if (stateOf(copy) !== state.seen) return changed('It has changed since the plan was made.');
  if (newestOfEach(copies, options.keep_latest ?? 0).has(copy.id)) {
    return changed('A newer copy has gone since the plan was made: keep_latest keeps this one.');
  }
  const sited = { ...copy, siteUrl: state.siteUrl };
  const { earliest } = await acting.serviceTime(state.plannedAt);
  const task = await taskOnCopySince(acting, sited, earliest);
  return task ? changed(atWorkOn(task)) : 'same';
}
