/**
 * The service's background work (spec 2.10): initializing -> running -> completed, failed or aborted, and cancelled
 * from any state before the end. How a task ends, and when, is settled when it starts.
 */
import { cannot } from '../refusal.ts';
import type { Due } from './agenda.ts';
import { randomFrom, seedOf } from './random.ts';
import { SECOND } from './service-time.ts';
import { idOf, nextNumber, type World } from './world.ts';

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

/** How long a task prepares before it runs. */
const PREPARES_MS = 3 * SECOND;

/** Starts a task at `at`, which may lie in the past: settling the world brings it up to the present. */
export function startTask(world: World, order: TaskOrder, at: number): Task {
  const { type, input, takesMs } = order;
  const number = nextNumber(world, 'task');
  const fate = order.ends ?? fateOf(world, number);
  const runsAt = at + PREPARES_MS;
  const task: Task = {
    id: idOf('task', number),
    type,
    status: 'initializing',
    createdAt: at,
    updatedAt: at,
    input,
    steps: order.steps ?? stepsOf(type),
    runsAt,
    endsAt: fate === 'stuck' ? Number.POSITIVE_INFINITY : runsAt + takesMs,
    ends: fate === 'stuck' ? 'aborted' : fate,
    troubled: order.troubled ?? {},
    makes: order.makes ?? null,
    endedAt: null,
  };
  world.tasks.set(task.id, task);
  world.agenda.add(task.runsAt, { does: 'run-task', task: task.id });
  if (fate !== 'stuck') world.agenda.add(task.endsAt, { does: 'end-task', task: task.id });
  return task;
}

/** How a task ends that nobody has decided about: well, unless tasks are unlucky. */
function fateOf({ luck, seed }: World, number: number): TaskEnd | 'stuck' {
  const drawn = randomFrom(seedOf(seed, `fate ${number}`)).next();
  if (drawn < luck.stuck) return 'stuck';
  if (drawn < luck.stuck + luck.failing) return 'failed';
  return drawn < luck.stuck + luck.failing + luck.aborted ? 'aborted' : 'completed';
}

/** Initializing -> running. */
export function runTask(world: World, id: string, at: number): void {
  const task = world.tasks.get(id);
  if (task?.status === 'initializing') move(task, 'running', at);
}

/** Running -> the end it was going to have; gives what comes of it, if it completes. */
export function endTask(world: World, id: string, at: number): Due | null {
  const task = world.tasks.get(id);
  if (task?.status !== 'running') return null;
  move(task, task.ends, at);
  task.endedAt = at;
  return task.ends === 'completed' ? task.makes : null;
}

/** @throws {Refusal} 422 when the task has already ended. */
export function cancelTask(task: Task, at: number): void {
  if (task.endedAt !== null) throw cannot('task_ended', `The task has already ended: ${task.status}.`);
  move(task, 'cancelled', at);
  task.endedAt = at;
}

function move(task: Task, status: TaskStatus, at: number): void {
  task.status = status;
  task.updatedAt = at;
}

/** The spec shows no step type but update_plugin. */
const stepsByType: Record<string, readonly string[]> = {
  wp_site_update: ['backup', 'update_plugin', 'check'],
  staging: ['prepare_server', 'copy_files', 'copy_database', 'configure'],
};
const stepsOf = (type: string): readonly string[] => stepsByType[type] ?? ['prepare', type];
