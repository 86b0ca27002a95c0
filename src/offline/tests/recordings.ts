/** What a run at the time of planning would write to the sites (`record:`) if each of its targets ends as done. */
import { isoTime } from '../../clock.ts';
import { dayIn } from '../../dates.ts';
import type { Preview } from '../../engine/plan/preview.ts';
import { lineOf } from '../../engine/record/note-text.ts';
import type { Policy } from '../../policy/policy.ts';
import { fillTexts, usesSite } from '../../policy/record-texts.ts';
import type { Reads } from '../reads.ts';

export interface Recording {
  site: string;
  /** Without the reference that the last line of a description is. */
  custom_work?: { title: string; description: string; performed_on: string };
  /** The line of the run in the note. */
  note?: string;
}

/** @throws {NotHeldError} when a text uses the site, and `reads` does not hold it. */
export async function recordingsOf(
  policy: Policy,
  { targets }: Pick<Preview, 'targets'>,
  reads: Reads,
  now: number,
): Promise<Recording[]> {
  const counts = new Map<string, number>();
  for (const { recordSite: site } of targets)
    if (site !== undefined) counts.set(site, (counts.get(site) ?? 0) + 1);
  return Promise.all([...counts].map(([site, done]) => recordingOf(policy, site, done, reads, now)));
}

async function recordingOf(
  { name, schedule, record }: Policy,
  site: string,
  done: number,
  reads: Reads,
  now: number,
): Promise<Recording> {
  const { customWork, note } = record ?? {};
  const day = dayIn(schedule?.timezone ?? 'UTC', now);
  const id = `${name}.${isoTime(now).replace(/[-:]|\.\d+/g, '')}`;
  const run = { id, policy: name, trigger: 'schedule', scheduledFor: now } as const;
  const recording: Recording = { site };
  if (customWork) {
    const item = usesSite(customWork) ? await reads.view('showSite', { site_id: site }) : {};
    const facts = {
      run: { id, policy: name, date: day },
      outcome: { targets: done, ended_at: isoTime(now) },
    };
    const texts = fillTexts(customWork, (item as { site?: object }).site, facts, new Date(now));
    recording.custom_work = { ...texts, performed_on: day };
  }
  if (note) recording.note = lineOf(run, { done, failed: 0 }).text;
  return recording;
}
