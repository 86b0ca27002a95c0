/** Follows the service's background tasks (spec 2.10 and 4.8) by sweeps over `GET /tasks`. */
import { GoneError } from '../../client/errors.ts';
import type { Answer, Item } from '../../contract/operations.ts';
import type { Watch } from '../../run/run.ts';
import type { End } from '../answer.ts';
import type { Api } from '../api.ts';
import { type Lost, successVerdict, type Verdict, type WatchKind } from './watch.ts';

// The error of a task, from the steps in its single view (spec 2.10). The spec does not define the form of
// these errors.

export type TaskSite = NonNullable<NonNullable<Answer<'showTask'>['task']['details']>['sites']>[number];

/** A step that failed, and the service's message, if any. */
export interface StepError {
  step: string;
  aborted: boolean;
  message?: string;
}

/** The first step of a site that failed, was aborted or shows an error. */
export function stepErrorOf({ steps = [] }: TaskSite): StepError | undefined {
  const wrong = steps.find(
    ({ status, error }) => status === 'failed' || status === 'aborted' || Object.keys(error ?? {}).length > 0,
  );
  if (!wrong) return undefined;
  const { error = {}, status, type } = wrong;
  const said = [error['message'], error['code']].find((one) => typeof one === 'string' && one !== '');
  const says = said ?? (Object.keys(error).length > 0 ? JSON.stringify(error) : undefined);
  const found = { step: type ?? 'a step', aborted: status === 'aborted' };
  return says === undefined ? found : { ...found, message: String(says).replace(/(?<![.!?])$/, '.') };
}

/** What a watch of this kind holds. */
export interface TaskWatch extends Watch {
  kind: 'task';
  taskId: string;
}
type Task = Item<'listTasks'>;
type Shown = Answer<'showTask'>['task'];

export const taskWatch: WatchKind<TaskWatch, Task> = {
  name: 'task',
  label: (watch) => `The task ${watch.taskId}`,
  id: (watch) => watch.taskId,
  sweep: {
    operation: 'listTasks',
    query: (_watches, from) => ({ filters: { updated_at: { gte: from } }, sort: 'updated_at,desc' }),
  },
  movedAt: (task) => task.updated_at,
  keyOfItem: (task) => task.id,
  keyOf: (watch) => watch.taskId,
  evaluate,
  poll: pollTask,
  async cancel(api, watch) {
    await api.cancelTask({ task_id: watch.taskId });
  },
  async explain(api, watch, end) {
    // A cancelled task has no failed step.
    const task = end.reason === 'task-cancelled' ? undefined : await taskOf(api, watch.taskId);
    return task ? withStepError(end, task) : end;
  },
};

/** The result of a task. One request. */
export async function pollTask(api: Api, watch: TaskWatch): Promise<Verdict | Lost> {
  const task = await taskOf(api, watch.taskId);
  if (!task) return lost;
  const verdict = evaluate(watch, task);
  return verdict.is === 'failed' ? withStepError(verdict, task) : verdict;
}

const lost: Lost = { is: 'lost', detail: 'The service no longer knows the task (HTTP 404).' };

/**
 * The task, or undefined when the service does not know it (any more). That does not mean that the target is
 * gone.
 */
async function taskOf(api: Api, task_id: string) {
  try {
    return (await api.showTask({ task_id })).task;
  } catch (error) {
    if (error instanceof GoneError) return undefined;
    throw error;
  }
}

/** Adds the step at which the task failed, if the service shows it. */
function withStepError<E extends End>(end: E, { details }: Pick<Shown, 'details'>): E {
  const [error] = (details?.sites ?? []).flatMap((site) => stepErrorOf(site) ?? []);
  if (!error) return end;
  const { step, aborted, message: says } = error;
  const detail = says
    ? `At the step ${step}: ${says}`
    : `The step ${step} ${aborted ? 'was aborted' : 'failed'}.`;
  return { ...end, detail };
}

function evaluate(watch: TaskWatch, { status }: Pick<Task, 'status'>): Verdict {
  switch (status) {
    case 'completed':
      return successVerdict(watch);
    case 'failed':
      return { is: 'failed', reason: 'task-failed' };
    case 'aborted':
      return { is: 'failed', reason: 'task-aborted' };
    case 'cancelled':
      return { is: 'failed', reason: 'task-cancelled' };
    case 'queued':
    case 'initializing':
    case 'running':
      return { is: 'running' };
    default:
      return { is: 'unclear' };
  }
}
