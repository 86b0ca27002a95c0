/**
 * The service's background work (spec 2.10): initializing -> running -> completed, failed or aborted, and
 * cancelled from any state before the end. How and when a task ends is decided when it starts.
 */

import type { Due, Task, TaskEnd, TaskOrder, TaskStatus } from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';
import { idOf, nextNumber } from './ids.ts';
import { randomFrom, seedOf } from './random.ts';
import { SECOND } from './service-time.ts';

/** How long a task is initializing. */
const PREPARES_MS = 3 * SECOND;

/** Starts a task at `at`, which may be in the past: settling the world brings it up to date. */
export function startTask(world: World, order: TaskOrder, at: number): Task {
  const { type, input, takesMs } = order;
  const number = nextNumber(world, 'task');
  const end = order.ends ?? endOf(world, number);
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
    endsAt: end === 'stuck' ? Number.POSITIVE_INFINITY : runsAt + takesMs,
    ends: end === 'stuck' ? 'aborted' : end,
    troubled: order.troubled ?? {},
    makes: order.makes ?? null,
    endedAt: null,
  };
  world.tasks.set(task.id, task);
  world.agenda.add(task.runsAt, { does: 'run-task', task: task.id });
  if (end !== 'stuck') world.agenda.add(task.endsAt, { does: 'end-task', task: task.id });
  return task;
}

/** The end of a task that has none given: success, except at the failure rates. */
function endOf({ luck, seed }: World, number: number): TaskEnd | 'stuck' {
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

/** Running -> its end; returns what happens next, if it completes. */
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

/** The spec shows no step type except update_plugin. */
const stepsByType: Record<string, readonly string[]> = {
  wp_site_update: ['backup', 'update_plugin', 'check'],
  staging: ['prepare_server', 'copy_files', 'copy_database', 'configure'],
};
const stepsOf = (type: string): readonly string[] => stepsByType[type] ?? ['prepare', type];
