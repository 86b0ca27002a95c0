/**
 * Rings over the service's own auto updates (spec 4.7): the sites of the first ring take every update, and each later
 * ring gets what was proven before it. Each ring is a native schedule that this job makes and owns.
 *
 * Every decision is made anew from what the service shows; our records only keep which schedule is ours, what we set, and
 * what broke. So a run that dies leaves nothing that the next one does not put right. `act` reads everything again and
 * makes the first change that is still needed, until none is.
 */
import { z } from 'zod';
import { isoTime } from '../../src/clock.ts';
import { defined } from '../../src/defined.ts';
import type { Answer, End } from '../../src/job/answer.ts';
import { type Acting, defineJob, type Finding, type Once } from '../../src/job/job.ts';
import { problemWith } from '../../src/job/problem.ts';
import { probeEffect } from '../../src/job/reconcile/probes.ts';
import { countOf } from '../../src/text.ts';
import { goalOf } from './decide.ts';
import { suspectText } from './evidence.ts';
import { lookOf } from './look.ts';
import { bodyOf, changesOf, farAway, nextAt, nothing } from './native.ts';
import { brokeBefore, hasNote, notesOf, noteText } from './notes.ts';
import { Options, ringConditions, ringFaults } from './options.ts';
import { type RingRecord, ringKey, runKey, type Survey, type SurveyedRing, surveyRings } from './survey.ts';

const State = z.object({
  /** The next change is a note on this site, about this task. */
  note: z.exactOptional(z.object({ site: z.string(), task: z.string(), content: z.string() })),
  /** That note was written. */
  noted: z.exactOptional(z.object({ site: z.string(), task: z.string() })),
  /** The id of the schedule that it created. */
  created: z.exactOptional(z.string()),
  /** What a person changed, and this run changed back. */
  drift: z.exactOptional(z.array(z.string())),
  /** The sites whose notes the service does not show. */
  unread: z.exactOptional(z.array(z.string())),
  /** What the plan enables the ring for. */
  goal: z.exactOptional(z.string()),
  /** The tasks that it asked the service to cancel, with the answer of a refusal: each is asked for once. */
  asked: z.exactOptional(z.record(z.string(), z.string())),
  /** How many changes this target has made, without notes: one that does not last is not repeated for ever. */
  changes: z.number(),
});
type State = z.output<typeof State>;
const start: State = { changes: 0 };

const RING = 'ring:';
const LEFT = 'left:';
const MAX_CHANGES = 20;
/** So much of each side of a difference made by hand, and so many sites without a note, are kept in the state. */
const MAX_TEXT = 150;
const MAX_UNREAD = 50;

export const updateRings = defineJob({
  name: 'update-rings',
  summary: 'Updates a few sites first, and the others when the versions have proven themselves.',
  reasons: {
    'ring-holds': {
      text: 'Sites broke after an update in an earlier ring: this ring stays paused; the findings show which and why.',
      found: true,
    },
    'ring-broke': {
      text: 'Sites of this ring broke after an update; the findings show which and why.',
      found: true,
    },
  },
  options: Options,
  candidates: 'listAutoUpdateSchedules',
  state: State,
  target: ({ id, name }) => ({ id, label: name ?? id }),
  requestsPerTarget: 15,
  changes: ({ when_bad }) => [
    'createAutoUpdateSchedule',
    'updateAutoUpdateSchedule',
    'enableAutoUpdateSchedule',
    'disableAutoUpdateSchedule',
    'cancelTask',
    ...(when_bad.note_on_sites ? ['createSiteNote' as const] : []),
  ],
  requires: ({ evidence }) =>
    evidence.findings_of.map((policy) => ({
      path: ['evidence', 'findings_of'],
      policy,
      fault: (other, own) =>
        other.account === own.account
          ? undefined
          : { message: `The policy "${policy}" works on the account ${other.account}.` },
    })),
  expressions: ringConditions,
  check: (options, { filters }) => ringFaults(options, filters),

  prepare: ({ once, ...preparing }) => surveyRings({ ...preparing, results: (keys) => once.results(keys) }),

  look: lookOf,

  evaluate: ({ id }, { prepared }) => ({
    is: 'excluded',
    why: prepared.ownership.has(id)
      ? `It is that of the ring ${prepared.ownership.get(id)}`
      : 'It is not a schedule of a ring, so it is left alone',
  }),

  *extraTargets({ prepared, options }) {
    for (const [index, ring] of prepared.ringsOf.entries()) {
      const named = { id: `${RING}${ring.name}`, label: ring.name, site: null };
      const plan = planOf(prepared, index, options);
      if (plan.length === 0) yield { ...named, is: 'ended', end: endOf(prepared, index) };
      else {
        const state = { ...start, goal: goalOf(prepared.rings[index]) };
        yield { ...named, is: 'target', state, plan: plan.join('; ') };
      }
    }
    for (const { id, name = id, status } of prepared.left) {
      const named = { id: `${LEFT}${id}`, label: name, site: null };
      const detail = 'Its ring is no longer in the policy: it is paused, and a person may delete it.';
      const plan = 'paused, because its ring is no longer in the policy';
      if (status === 'paused')
        yield { ...named, is: 'ended', end: { is: 'done', reason: 'already-done', detail } };
      else yield { ...named, is: 'target', state: start, plan };
    }
  },

  async act(acting): Promise<Answer<State>> {
    const { api, target, runContext, state = start } = acting;
    const { note, drift = [], unread = [], asked = {}, changes, goal } = state;
    const next = {
      is: 'next',
      state: { changes: note ? changes : changes + 1, drift, unread, asked, ...defined({ goal }) },
    } as const;
    if (changes > MAX_CHANGES)
      return { is: 'failed', reason: 'rejected', detail: 'The schedule does not stay as it was set.' };
    try {
      if (target.id.startsWith(LEFT)) return await pauseLeft(acting, target.id.slice(LEFT.length));
      if (note) {
        const isThere = await hasNote(acting, note);
        if (isThere === undefined)
          return { is: 'next', state: { ...next.state, unread: [...unread, note.site] } };
        if (!isThere)
          await api.createSiteNote({ site_id: note.site, body: { note: { content: note.content } } });
        return { is: 'next', state: { ...next.state, noted: { site: note.site, task: note.task } } };
      }
      if (state.created !== undefined) await recordRing(acting, { id: state.created, set: {} });
      const survey = await surveyRings({
        ...acting,
        results: (keys) => resultsOf(acting.once, keys),
        changing: { ring: target.id.slice(RING.length), goal },
      });
      const index = survey.ringsOf.findIndex(({ name }) => `${RING}${name}` === target.id);
      const ring = survey.ringsOf[index];
      if (!ring)
        return { is: 'skipped', reason: 'not-eligible', detail: 'The policy no longer has this ring.' };
      if (state.created !== undefined && !ring.schedule)
        return { is: 'done', reason: 'done', detail: 'The service does not show its new schedule yet.' };
      await record(acting, ring, state);
      // Whatever ends this target, what it set is not taken for a change made by hand.
      if (changes > 0 && ring.toRecord) await recordRing(acting, ring.toRecord);
      const found = [...new Set([...drift, ...ring.drifted])].slice(0, 7);
      const changed = await change(acting, survey, ring, {
        is: 'next',
        state: { ...next.state, drift: found },
      });
      return changed ?? (await settled(acting, survey, { ...ring, drifted: found }, index));
    } catch (error) {
      const { rejected, gone } = problemWith(error);
      const problem = rejected ?? gone;
      if (!problem) throw error;
      return { is: 'failed', reason: 'rejected', detail: `${runContext.policy}: ${problem.message}` };
    }
  },

  // `act` reads everything again before each change.
  verify: async () => ({ differs: () => undefined }),

  async reconcile(acting, intent) {
    const { api, state, target } = acting;
    if (intent.operation === 'createSiteNote' && state?.note) {
      const { note, ...kept } = state;
      const { site, task, content } = note;
      const found = await probeEffect(
        'createSiteNote',
        acting,
        { site_id: site, body: { note: { content } } },
        intent,
      );
      return found.is === 'found' ? { is: 'next', state: { ...kept, noted: { site, task } } } : found;
    }
    if (intent.operation !== 'createAutoUpdateSchedule') return { is: 'absent' };
    // The mark in its name makes it this ring's, whoever's list shows it.
    const { auto_update_schedules: listed } = await api.listAutoUpdateSchedules({
      filters: { name: { contains: `/${target.id.slice(RING.length)}]` } },
    });
    const mark = `[caretaker ${acting.runContext.policy}/${target.id.slice(RING.length)}]`;
    const made = listed.find(({ name }) => name?.endsWith(mark));
    return made ? { is: 'next', state: { ...(state ?? start), created: made.id } } : { is: 'absent' };
  },
});

type Ours = Acting<Options, State>;

const resultsOf = (once: Once, keys: readonly string[]) =>
  Promise.all(keys.map(async (key) => (await once.holder(key))?.result));

/** Records a result under a key, whoever recorded it before. */
async function noteResult({ once }: Pick<Ours, 'once'>, key: string, result: string): Promise<void> {
  const holder = await once.holder(key);
  if (holder?.result === result) return;
  await once.claim(key, holder, result);
  await once.note(key, result);
}

const recordRing = (acting: Ours, known: RingRecord) =>
  noteResult(
    acting,
    ringKey(acting.runContext.policy, acting.target.id.slice(RING.length)),
    JSON.stringify(known),
  );

/** Records what broke, and which sites have their note. */
async function record(acting: Ours, { runs }: SurveyedRing, { noted }: State): Promise<void> {
  for (const run of runs) {
    if (noted && noted.task === run.task) run.record.noted = [...(run.record.noted ?? []), noted.site];
    if (run.isNew || noted?.task === run.task)
      await noteResult(acting, runKey(acting.runContext.policy, run.task), JSON.stringify(run.record));
  }
}

/** Makes the first change that is needed; undefined when none is. */
async function change(
  { api, options, runContext }: Ours,
  survey: Survey,
  ring: SurveyedRing,
  next: { is: 'next'; state: State },
): Promise<Answer<State> | undefined> {
  const { now, zone } = survey;
  const { at } = options.native;
  const { schedule, desired } = ring;
  if (!schedule) {
    if (ring.sites.length === 0) return undefined;
    const started_at = isoTime(farAway(at, zone, now));
    const body = bodyOf({ ...desired, updates: desired.updates ?? nothing });
    const made = await api.createAutoUpdateSchedule({
      body: { auto_update_schedule: { ...body, started_at } },
    });
    return { ...next, state: { ...next.state, created: made.auto_update_schedule.id } };
  }
  const id = { auto_update_schedule_id: schedule.id };
  const fields = ring.differences.map(({ field }) => field);
  const { asked = {} } = next.state;
  const task_id = ring.cancel.find((task) => asked[task] === undefined);
  // What stops an update comes first, what starts one last.
  if (fields.includes('status') && !desired.isActive) await api.disableAutoUpdateSchedule(id);
  else if (task_id !== undefined)
    return { ...next, state: { ...next.state, asked: { ...asked, [task_id]: await cancel(api, task_id) } } };
  else if (fields.some((field) => field !== 'status')) {
    const starts = fields.includes('starts')
      ? { started_at: isoTime(nextAt(desired.at ?? at, zone, now)) }
      : {};
    await api.updateAutoUpdateSchedule({
      ...id,
      body: { auto_update_schedule: { ...changesOf(desired, fields), ...starts } },
    });
  } else if (fields.includes('status')) await api.enableAutoUpdateSchedule(id);
  else {
    const { unread = [], changes } = next.state;
    const note = notesOf(ring, survey, options).find(({ site }) => !unread.includes(site));
    if (!note || unread.length >= MAX_UNREAD) return undefined;
    const content = noteText(note, ring, survey, runContext.policy);
    return { ...next, state: { ...next.state, changes: changes - 1, note: { ...note, content } } };
  }
  return next;
}

/** Cancels a task; empty, or why the service refuses: it has begun or ended by now, or is gone. */
async function cancel(api: Ours['api'], task_id: string): Promise<string> {
  try {
    await api.cancelTask({ task_id });
    return '';
  } catch (error) {
    const { rejected, gone } = problemWith(error);
    const problem = rejected ?? gone;
    if (!problem) throw error;
    return problem.message.slice(0, MAX_TEXT) || 'it gave no reason';
  }
}

/** Records the schedule as it now is, and ends the target. */
async function settled(acting: Ours, survey: Survey, ring: SurveyedRing, index: number): Promise<End> {
  if (ring.toRecord) await recordRing(acting, ring.toRecord);
  await acting.looks.keep(lookOf(survey));
  const end = endOf(survey, index, ring);
  const unread = (acting.state?.unread ?? []).map((site): Finding => {
    const message =
      'It got no note: the service does not show what its notes say, and one of them may be ours.';
    return { severity: 'warning', about: survey.urls.get(site) ?? site, message };
  });
  const refused = Object.entries(acting.state?.asked ?? {}).flatMap(([task, why]): Finding[] =>
    why
      ? [{ severity: 'warning', about: ring.name, task, message: `Its task was not cancelled: ${why}` }]
      : [],
  );
  return { ...end, findings: [...(end.findings ?? []), ...refused, ...unread] };
}

async function pauseLeft({ api }: Ours, id: string): Promise<Answer<State>> {
  const { auto_update_schedule: schedule } = await api.showAutoUpdateSchedule({
    auto_update_schedule_id: id,
  });
  if (schedule.status !== 'paused') await api.disableAutoUpdateSchedule({ auto_update_schedule_id: id });
  return { is: 'done', reason: 'done' };
}

/** What a run would do to a ring, one change each; empty when nothing has to be done. */
function planOf(survey: Survey, index: number, options: Options): string[] {
  const ring = survey.ringsOf[index];
  if (!ring) return [];
  const { schedule, desired, differences: found, sites, cancel, runs } = ring;
  if (!schedule && sites.length === 0) return [];
  const created = schedule
    ? []
    : [`created with ${countOf(sites.length, 'site')}, ${desired.isActive ? 'active' : 'paused'}`];
  const notes = notesOf(ring, survey, options).length;
  const broke = runs.filter(({ isNew }) => isNew).length;
  return [
    ...created,
    ...found.map(({ field, from, to }) => `${field}: ${from} -> ${to}`),
    ...cancel.map((task) => `the task ${task} cancelled`),
    ...(broke > 0 ? [`what ${countOf(broke, 'run')} did recorded`] : []),
    ...(notes > 0 ? [`${countOf(notes, 'note')} written`] : []),
    ...(ring.toRecord ? ['recorded as ours'] : []),
  ];
}

/** The outcome of a ring: what it waits for, what broke, what a person may do. */
function endOf(
  { ringsOf, rings, suspects, bypassing, urls }: Survey,
  index: number,
  ring = ringsOf[index],
): End {
  const decision = rings[index];
  if (!ring || !decision) throw new Error('The ring was not surveyed.');
  const label = (id: string) => urls.get(id) ?? id;
  // So many findings of a target are kept: those about versions come first.
  const findings: Finding[] = [];
  if (index === 0)
    for (const one of suspects)
      findings.push({
        severity: 'error',
        about: `${one.item} ${one.version}`,
        message: `Suspect, left out of every ring: ${suspectText(one)}. It returns with a newer version or \`release\`.`,
      });
  findings.push(
    ...ring.runs.flatMap(({ task, open }, run) =>
      Object.entries(open)
        .filter(([site]) => !brokeBefore(ring.runs, run, site))
        .map(([site, { why }]) => ({
          severity: 'error' as const,
          about: label(site),
          task,
          message: `After an update of ${ring.name}, ${why.replace(/\.$/, '')}. To go back: find the snapshot from before it, \`caretaker api listSiteSnapshots --param site_id=${site}\`, and restore it in the service.`,
        })),
    ),
  );
  if (index === 0)
    for (const { id, name, sites } of bypassing) {
      const updates =
        sites === undefined
          ? 'may update sites of the rings too, with what no ring has proven: the service does not show which, or whether it is active.'
          : `updates ${countOf(sites, 'site')} of the rings too, with what no ring has proven: pause it.`;
      findings.push({ severity: 'warning', about: id, message: `The schedule "${name}" ${updates}` });
    }
  for (const drift of ring.drifted)
    findings.push({
      severity: 'warning',
      about: ring.name,
      message: `Its schedule was changed by hand: ${drift}.`,
    });
  for (const { id } of ring.others)
    findings.push({
      severity: 'warning',
      about: ring.name,
      message: `The schedule ${id} has its mark too. It is left alone: delete it.`,
    });
  if (ring.sites.length === 0)
    findings.push({ severity: 'warning', about: ring.name, message: 'It has no sites.' });
  const what = {
    run: 'It updates.',
    promote: 'It is enabled for its next run.',
    wait: 'It waits.',
    hold: 'It is held.',
  }[decision.is];
  const detail = [what, ...decision.why].join(' ').slice(0, 1_500);
  if (decision.is === 'hold' && !decision.byPerson)
    return { is: 'failed', reason: 'ring-holds', detail, findings };
  const isBroken = findings.some(({ severity }) => severity === 'error');
  return isBroken
    ? { is: 'failed', reason: 'ring-broke', detail, findings }
    : { is: 'done', reason: 'done', detail, findings };
}
