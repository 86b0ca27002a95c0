/** The notes on sites that broke: one each, whatever was lost in between (spec 4.4). */
import type { JobApi, RunContext } from '../../src/job/api.ts';
import type { Options } from './options.ts';
import type { Survey, SurveyedRing } from './survey.ts';

const NOTE_MAX = 2_500;

/** A note that a site is to get about a run. */
export interface Note {
  site: string;
  task: string;
}

const markOfNote = (policy: string, task: string): string => `(${policy}, task ${task})`;

/**
 * Whether the site has the note: a target that failed may have written it, and not recorded that. Undefined when the
 * service does not show what a note says. Costs a request per 100 notes.
 */
export async function hasNote(
  { all, runContext }: Pick<JobApi, 'all'> & { runContext: RunContext },
  { site: site_id, task }: Note,
): Promise<boolean | undefined> {
  let isShown = true;
  for await (const { content } of all('listSiteNotes', { site_id })) {
    if (content?.includes(markOfNote(runContext.policy, task))) return true;
    isShown &&= content !== undefined;
  }
  return isShown ? false : undefined;
}

/** Whether a site that broke in a run was broken by an earlier one already, and is still so. */
export const brokeBefore = (runs: SurveyedRing['runs'], index: number, site: string): boolean =>
  runs.slice(0, index).some(({ open }) => open[site]);

/** The sites of the account that broke and have no note about it. */
export const notesOf = (
  { runs }: SurveyedRing,
  { urls }: Pick<Survey, 'urls'>,
  { when_bad }: Options,
): Note[] =>
  when_bad.note_on_sites
    ? runs.flatMap(({ task, record: { broke, noted = [] } }, index) =>
        Object.keys(broke).flatMap((site) =>
          !urls.has(site) || noted.includes(site) || brokeBefore(runs, index, site) ? [] : [{ site, task }],
        ),
      )
    : [];

export function noteText(
  { site, task }: Note,
  { name, runs }: SurveyedRing,
  { suspects }: Survey,
  policy: string,
): string {
  const run = runs.find((one) => one.task === task);
  const took =
    run?.sites.find(({ id }) => id === site)?.took.map(({ item, version }) => `${item} ${version}`) ?? [];
  const bad = suspects.filter(({ broke }) => broke.some(({ id }) => id === site));
  const why = run?.record.broke[site]?.why ?? '';
  const suspected = bad.map(({ item, version }) => ` Suspected: ${item} ${version}.`).join('');
  return `After the updates of the ring ${name} ${markOfNote(policy, task)}: ${why}. It got ${took.join(', ')}.${suspected}`.slice(
    0,
    NOTE_MAX,
  );
}
