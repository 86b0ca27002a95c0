/** Following and cancelling background tasks (spec 4.8). */
import type { Task as ShownTask, TaskDetails } from '../../contract/operations/tasks.ts';
import type {
  Due,
  SiteProgress,
  StepProgress,
  Task,
  TaskEnd,
  TaskOrder,
  TaskStatus,
  TroubledEnd,
} from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { cannot } from '../refusal.ts';
import { idOf, nextNumber, randomFrom, seedOf } from '../world/numbers.ts';
import { SECOND } from '../world/time.ts';
import { type Handler, itemIn, lists, shown } from './handler.ts';

// The progress of a task at a time: computed from its plan, so that nothing has to be updated while it runs.

/** The percentage of the task that is done. */
export const percentOf = (task: Task, now: number): number => percent(shareDone(task, now));

/**
 * Sites are worked on one after the other, and so are their steps. A task that fails does so at its last
 * site.
 */
export function sitesProgress(task: Task, now: number): SiteProgress[] {
  const count = task.input.length;
  const done = shareDone(task, now);
  return task.input.map(({ id }, at) => {
    const trouble = task.troubled[id];
    const whole = within(done * count - at);
    const share = trouble ? Math.min(whole, FAILED_SHARE) : whole;
    const end = trouble && whole === 1 ? trouble : null;
    const steps = task.steps.map((type, step) => {
      const stepShare = within(share * task.steps.length - step);
      return { type, status: statusAt(task, stepShare, end), percent: percent(stepShare) };
    });
    return { id, status: statusAt(task, share, end), percent: percent(share), steps };
  });
}

/** A finished part is completed. Otherwise it has the status of its site or of the whole task. */
function statusAt(task: Task, share: number, end: TroubledEnd | null): TaskStatus {
  if (share === 1) return 'completed';
  if (end) return end;
  if (task.endedAt !== null) return task.status;
  return share > 0 ? 'running' : 'initializing';
}

function shareDone(task: Task, now: number): number {
  if (task.status === 'completed') return 1;
  const share = within(((task.endedAt ?? now) - task.runsAt) / (task.endsAt - task.runsAt));
  const goesOn = Object.keys(task.troubled).length > 0;
  // A failed task stops in its last step, unless only some sites failed.
  if (goesOn) return share;
  return task.endedAt === null || task.status === 'cancelled' ? share : Math.min(share, FAILED_SHARE);
}

/**
 * So close to 1 that only the last step of the last site is missing, for any plausible number of sites and
 * steps.
 */
const FAILED_SHARE = 0.9999;

const within = (share: number) => Math.min(1, Math.max(0, share));
const percent = (share: number) => Math.floor(share * 100);

// The views of a task (spec 2.10).

/** A task in lists. */
export function taskView(task: Task, now: number): ShownTask {
  const sites = sitesProgress(task, now);
  return {
    id: task.id,
    status: task.status,
    type: task.type,
    created_at: shown(task.createdAt),
    updated_at: shown(task.updatedAt),
    progress: {
      percent: percentOf(task, now),
      metrics: {
        sites: { done: sites.filter(({ status }) => status === 'completed').length, total: sites.length },
      },
    },
    input: { sites: [...task.input] },
  };
}

/** The single view of a task, by site and step. */
export const taskDetails = (task: Task, now: number): TaskDetails => ({
  ...taskView(task, now),
  details: {
    sites: sitesProgress(task, now).map(({ id, status, percent, steps }: SiteProgress) => ({
      id,
      status,
      progress: { percent },
      steps: steps.map(stepView),
    })),
  },
});

const stepView = ({ type, status, percent }: StepProgress) => ({
  type,
  status,
  details: {},
  progress: { percent },
  error:
    status === 'failed' || status === 'aborted'
      ? {
          code: `step_${status}`,
          message: `The step ${type} ${status === 'failed' ? 'failed' : 'was aborted'}.`,
        }
      : {},
});

// The service's background work (spec 2.10): initializing -> running -> completed, failed or aborted, and
// cancelled from any state before the end. How and when a task ends is decided when it starts.

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
export function cancel(task: Task, at: number): void {
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

const taskOf = (world: World, id: string): Task => itemIn(world.tasks, 'task', id);

export const listTasks = lists<'listTasks', Task>({
  items: ({ world }) => world.tasks.values(),
  fields: {
    status: (task) => task.status,
    type: (task) => task.type,
    created_at: (task) => task.createdAt,
    updated_at: (task) => task.updatedAt,
  },
  view: (task, { now }) => taskView(task, now),
});

export const showTask: Handler<'showTask'> = ({ world, now, params }) => ({
  task: taskDetails(taskOf(world, params.task_id), now),
});

export const cancelTask: Handler<'cancelTask'> = ({ world, now, params, changed }) => {
  const task = taskOf(world, params.task_id);
  cancel(task, now);
  changed(task.id);
  return { task: taskDetails(task, now) };
};
