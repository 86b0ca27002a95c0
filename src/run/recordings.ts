/** What a run writes to the sites it worked on (`record:` of its policy), and whether that is written. */
import { z } from 'zod';
import { isoMinute } from '../clock.ts';

const { exactOptional: optional } = z;

/**
 * `left`: a person has removed or changed the note, so it is left as it is. `failed`: not recorded, with the
 * cause.
 */
const state = z.enum(['pending', 'recorded', 'left', 'failed']);

/** What a run writes to one site. */
export const SiteRecord = z.object({
  /** How many of its targets of this site made their change, and how many failed. */
  done: z.number(),
  failed: z.number(),
  /** Why the last one failed. */
  reason: optional(z.string()),
  /** When the first change was done, and when a target of the site ended last. */
  at: optional(z.number()),
  since: z.number(),
  /** The states of the custom work entry and the note; missing when the run does not write them. */
  work: optional(state),
  workWhy: optional(z.string()),
  note: optional(state),
  noteWhy: optional(z.string()),
});
export type SiteRecord = z.output<typeof SiteRecord>;

/** A record of a run that was not written. */
export const Unrecorded = z.object({
  site: z.string(),
  kind: z.enum(['work', 'note']),
  state: z.enum(['left', 'failed']),
  why: z.string(),
});

/** How many records a run has in each state, and the requests that they have cost. */
export const RecordingCounts = z.object({
  wanted: z.number(),
  recorded: z.number(),
  failed: z.number(),
  left: z.number(),
  requests: z.number(),
  /** The first ten that were not written. */
  first: optional(z.array(Unrecorded)),
});
export type RecordingCounts = z.output<typeof RecordingCounts>;

/** `40 of 42 recorded (84 requests), 1 pending, 1 not recorded`. */
export function formatRecordings({ wanted, recorded, failed, left, requests }: RecordingCounts): string {
  const pending = wanted - recorded - failed - left;
  return [
    `${recorded} of ${wanted} recorded (${requests} ${requests === 1 ? 'request' : 'requests'})`,
    ...(pending > 0 ? [`${pending} pending`] : []),
    ...(failed > 0 ? [`${failed} not recorded`] : []),
    ...(left > 0 ? [`${left} left to people`] : []),
  ].join(', ');
}

/** What is not recorded: `custom work`, `note`. */
export const kindNames = { work: 'custom work', note: 'note' } as const;

/** What waits to be written to the sites of an account. */
export interface OutboxState {
  /** The number of sites. */
  waiting: number;
  /** The site that has been waiting for the longest, since when, and the last error. */
  oldest?: { site: string; since: number; detail?: string };
}

/** After this time, a recording that waits is reported. */
const STUCK_AFTER_MS = 3_600_000;

export const isStuck = ({ oldest }: OutboxState, now: number): boolean =>
  oldest !== undefined && now - oldest.since > STUCK_AFTER_MS;

/** `12 sites of the account "default" wait for their recordings since 2026-11-21 02:00Z: <the last error>`. */
export function formatStuckOutbox(account: string, { waiting, oldest }: OutboxState): string {
  const since = oldest ? ` since ${isoMinute(oldest.since)}` : '';
  const why = oldest?.detail === undefined ? '' : `: ${oldest.detail.replace(/\.$/, '')}`;
  const sites = waiting === 1 ? '1 site' : `${waiting} sites`;
  return `${sites} of the account "${account}" ${waiting === 1 ? 'waits' : 'wait'} for recordings${since}${why}`;
}
