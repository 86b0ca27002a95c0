import type { Due } from './agenda.ts';

export type TaskEnd = 'completed' | 'failed' | 'aborted';

export type TroubledEnd = Exclude<TaskEnd, 'completed'>;

export type TaskStatus = 'initializing' | 'running' | TaskEnd | 'cancelled';

/** What the request asked for, site by site, in the shape the API shows. */
export type TaskInput = { id: string } & Record<string, unknown>;

export interface Task {
  readonly id: string;
  readonly type: string;
  status: TaskStatus;
  readonly createdAt: number;
  updatedAt: number;
  readonly input: readonly TaskInput[];
  /** What is done at each site, one step after the other. */
  readonly steps: readonly string[];
  readonly runsAt: number;
  readonly endsAt: number;
  readonly ends: TaskEnd;
  /** Sites that come to a bad end while the work on the others goes on to its own. */
  readonly troubled: Readonly<Record<string, TroubledEnd>>;
  /** What comes of it when it completes, and only then. */
  readonly makes: Due | null;
  /** When it came to its end, whichever. */
  endedAt: number | null;
}

export interface TaskOrder {
  type: string;
  input: readonly TaskInput[];
  /** How long it runs, in milliseconds of the service's time. */
  takesMs: number;
  /** Default: completed. */
  ends?: TaskEnd;
  /** What is done at each site; default: as usual for the type. */
  steps?: readonly string[];
  /** Default: none, so that a task with a bad end meets it at its last site and gets no further. */
  troubled?: Readonly<Record<string, TroubledEnd>>;
  /** Default: nothing. */
  makes?: Due;
}
