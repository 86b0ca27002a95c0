/**
 * The events that Caretaker publishes, for listeners in any process on the same Redis.
 *
 * Events only notify: a listener that missed one finds the change in the records. Times are milliseconds
 * since 1970.
 */
import { z } from 'zod';
import type { Run, RunStatus } from '../run/run.ts';

const text = z.string();
const at = z.number();
/** Since when a target was worked on; absent when it never was. */
const worked = { job: z.exactOptional(z.string()), startedAt: z.exactOptional(z.number()) };

const CaretakerEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('run.moved'), run: text, policy: text, status: text, at }),
  z.object({
    type: z.literal('target.ended'),
    run: text,
    target: text,
    outcome: text,
    reason: text,
    at,
    ...worked,
  }),
  z.object({ type: z.literal('policy.changed'), policy: text, at }),
  z.object({ type: z.literal('freeze.changed'), at }),
]);
export type CaretakerEvent = z.output<typeof CaretakerEvent>;

/** Parses a message; undefined for an event that this release does not know. */
export function eventIn(message: string): CaretakerEvent | undefined {
  try {
    return CaretakerEvent.safeParse(JSON.parse(message)).data;
  } catch {
    return undefined;
  }
}

/** The event of a run in a new status. Its creation is the first move. */
export const movedEvent = ({ id, policy }: Run, status: RunStatus, at: number): string =>
  JSON.stringify({ type: 'run.moved', run: id, policy, status, at } satisfies CaretakerEvent);
