import type { Due } from './agenda.ts';

export type TaskEnd = 'completed' | 'failed' | 'aborted';

export type TroubledEnd = Exclude<TaskEnd, 'completed'>;

export type TaskStatus = 'initializing' | 'running' | TaskEnd | 'cancelled';

/** The input of the request for each site, in the form of the API. */
export type TaskInput = { id: string } & Record<string, unknown>;

export interface Task {
  readonly id: string;
  readonly type: string;
  status: TaskStatus;
  readonly createdAt: number;
  updatedAt: number;
  readonly input: readonly TaskInput[];
  /** The steps at each site, in order. */
  readonly steps: readonly string[];
  readonly runsAt: number;
  readonly endsAt: number;
  readonly ends: TaskEnd;
  /** Sites whose work fails while the work on the others continues. */
  readonly troubled: Readonly<Record<string, TroubledEnd>>;
  /** What happens when it completes. */
  readonly makes: Due | null;
  /** When it ended, with any status. */
  endedAt: number | null;
}

export interface TaskOrder {
  type: string;
  input: readonly TaskInput[];
  /** How long it runs, in milliseconds of the service's time. */
  takesMs: number;
  /** Default: completed. */
  ends?: TaskEnd;
  /** The steps at each site; default: the usual ones of the type. */
  steps?: readonly string[];
  /** Default: none. A task that fails then does so at its last site. */
  troubled?: Readonly<Record<string, TroubledEnd>>;
  /** Default: nothing. */
  makes?: Due;
}
