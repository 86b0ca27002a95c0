/** Following the service's background tasks (spec 2.10 and 4.8) by sweeps over `GET /tasks`. */
import { GoneError } from '../client/errors.ts';
import type { Item } from '../contract/operations.ts';
import type { Watch } from '../run/run.ts';
import type { Api } from './job.ts';
import { doneAs, type Lost, sweepFrom, type Verdict, type WatchKind } from './watch.ts';

type TaskWatch = Extract<Watch, { kind: 'task' }>;
type Task = Item<'listTasks'>;

export const taskWatch: WatchKind<TaskWatch, Task> = {
  sweep: {
    operation: 'listTasks',
    query: (watches, sweptAt) => ({
      filters: { updated_at: { gte: sweepFrom(watches, sweptAt) } },
      sort: 'updated_at,desc',
    }),
  },
  keyOfItem: (task) => task.id,
  keyOf: (watch) => watch.taskId,
  judge,
  async look(api, watch) {
    const task = await taskOf(api, watch.taskId);
    if (!task) return lost;
    const verdict = judge(watch, task);
    if (verdict.is !== 'failed') return verdict;
    const failed = task.details?.sites
      ?.flatMap((site) => site.steps ?? [])
      .find(({ status }) => status === 'failed');
    return failed?.type ? { ...verdict, detail: `The step ${failed.type} failed.` } : verdict;
  },
};

const lost: Lost = { is: 'lost', detail: 'The service no longer knows the task (HTTP 404).' };

/** The task, or nothing when the service does not know it (any more): that says nothing of the target. */
async function taskOf(api: Api, task_id: string) {
  try {
    return (await api.showTask({ task_id })).task;
  } catch (error) {
    if (error instanceof GoneError) return undefined;
    throw error;
  }
}

function judge(watch: TaskWatch, { status }: Pick<Task, 'status'>): Verdict {
  switch (status) {
    case 'completed':
      return doneAs(watch);
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
