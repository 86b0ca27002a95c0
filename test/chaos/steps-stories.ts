/** Chaos stories of several steps on a target, and of calls that are made once for each key. */
import { apiCall } from '../../jobs/api-call/job.ts';
import { siteSync } from '../../jobs/site-sync/job.ts';
import type { Reason } from '../../src/run/reasons.ts';
import type { Target } from '../../src/run/run.ts';
import { countBy, nextSites, type Story, TARGETS, timesOn } from './story.ts';

const noteOf = (content: string, once?: string) =>
  apiCall.options.parse({
    operation: 'createSiteNote',
    body: { note: { content } },
    ...(once === undefined ? {} : { once }),
  });

/** Whether a step of a target was done, may have been, or was not. */
function stepOf({ steps = [], outcome, reason }: Target, at: number): 'done' | 'unclear' | 'not' {
  if (at < steps.length) return 'done';
  return at === steps.length && outcome === 'failed' && reason === 'unknown-effect' ? 'unclear' : 'not';
}

/** A note, a sync and a second note with the same text, in that order. */
export const steps: Story = {
  name: 'chaos-steps',
  operations: ['syncSite'],
  begin(sandbox, at) {
    const content = `Maintenance, the ${at}th time.`;
    const before = new Map<string, number>();
    return {
      policy: {
        job: 'api-call, site-sync, api-call',
        steps: [
          { name: 'begin', job: 'api-call' },
          { name: 'site-sync', job: 'site-sync' },
          { name: 'end', job: 'api-call' },
        ],
        select: { from: 'listSites', filters: {} },
        options: [noteOf(content), siteSync.options.parse({ mode: 'all' }), noteOf(content)],
      },
      only: nextSites(sandbox, at),
      planned: () => TARGETS,
      *lies({ targets, effects }) {
        const synced = countBy(effects, 'syncSite');
        for (const target of targets) {
          const { id, reason = 'internal' } = target;
          const notes = timesOn(sandbox, id, content) - (before.get(id) ?? 0);
          before.set(id, timesOn(sandbox, id, content));
          const known = [0, 2].filter((step) => stepOf(target, step) === 'done').length;
          const unclear = [0, 2].filter((step) => stepOf(target, step) === 'unclear').length;
          const record = `${id} is ${reason} after ${target.steps?.length ?? 0} steps`;
          if (notes < known || notes > known + unclear) yield `${record}, and was noted ${notes} times`;
          const times = synced.get(id) ?? 0;
          // A sync that was already running is adopted.
          if (times > 1 || (times === 1 && target.steps === undefined))
            yield `${record}, and was synced ${times} times`;
          if (target.steps?.[1]?.reason === 'done' && times !== 1)
            yield `${record}, and was synced ${times} times`;
        }
      },
    };
  },
};

/** Ends after which a call with `once` was made by this run, or before it. */
const made = new Set<Reason>(['done', 'already-done']);

/** A note that is made once for each site, whatever the number of runs. */
export const onceNotes: Story = {
  name: 'chaos-once',
  operations: ['createSiteNote'],
  begin(sandbox, at) {
    const content = `Welcome, the ${at}th time.`;
    /** The sites without a note after the run before. */
    let open: ReadonlySet<string> | undefined;
    return {
      policy: {
        job: 'api-call',
        select: { from: 'listSites', filters: {} },
        options: noteOf(content, `welcome-${at}`),
      },
      only: nextSites(sandbox, at),
      planned: () => TARGETS,
      *lies({ targets, round }) {
        for (const { id, reason = 'internal' } of targets) {
          const times = timesOn(sandbox, id, content);
          if (times > 1) yield `${id} is ${reason}, and was noted ${times} times by ${round + 1} runs`;
          if (made.has(reason) && times !== 1) yield `${id} is ${reason}, and was noted ${times} times`;
          if (reason === 'done' && open && !open.has(id)) yield `${id} is done again by run ${round + 1}`;
        }
        open = new Set(targets.flatMap(({ id }) => (timesOn(sandbox, id, content) === 0 ? [id] : [])));
      },
    };
  },
};
