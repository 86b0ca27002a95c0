/** Following the service's background tasks (spec 2.10 and 4.8) by sweeps over `GET /tasks`. */
import type { Item } from '../contract/operations.ts';
import type { Watch } from '../run/run.ts';
import { doneAs, sweepFrom, type Verdict, type WatchKind } from './watch.ts';

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
    const { task } = await api.showTask({ task_id: watch.taskId });
    const verdict = judge(watch, task);
    if (verdict.is !== 'failed') return verdict;
    const failed = task.details?.sites
      ?.flatMap((site) => site.steps ?? [])
      .find(({ status }) => status === 'failed');
    return failed?.type ? { ...verdict, detail: `The step ${failed.type} failed.` } : verdict;
  },
};

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
