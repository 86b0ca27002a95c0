import type { Run, RunStatus } from '../run/run.ts';
import type { CaretakerEvent } from './events.ts';

/** The event of a run in a new status. Its creation is the first move. */
export const movedEvent = ({ id, policy }: Run, status: RunStatus, at: number): string =>
  JSON.stringify({ type: 'run.moved', run: id, policy, status, at } satisfies CaretakerEvent);
