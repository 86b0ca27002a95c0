/** What a run would write to its sites (`record:`), and what that costs. */
import type { Policy } from '../../policy/policy.ts';
import { usesSite } from '../../policy/record-texts.ts';

export interface PlannedRecording {
  /** The sites of its targets. */
  sites: number;
  /** The title of the custom work entries, as it is written in the policy. */
  customWork?: string;
  note?: true;
  /** The most requests that recordings cost, in addition to those of the run. */
  requests: number;
}

/** Undefined for a policy without `record`. `sites`: those of its targets, undefined for a target without one. */
export function plannedRecording(
  { record }: Policy,
  sites: readonly (string | undefined)[],
): PlannedRecording | undefined {
  if (!record) return undefined;
  const { customWork, note } = record;
  const count = new Set(sites.filter((site) => site !== undefined)).size;
  // One to look for the entry and one to make it; one to read the note and one to write it.
  const work = customWork ? 2 + (usesSite(customWork) ? 1 : 0) : 0;
  return {
    sites: count,
    ...(customWork ? { customWork: customWork.title } : {}),
    ...(note ? { note: true } : {}),
    requests: count * (work + (note ? 2 : 0)),
  };
}
