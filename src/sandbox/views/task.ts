/** The views of a task (spec 2.10). */
import type { Task as ShownTask, TaskDetails } from '../../contract/resources/task.ts';
import type { SiteProgress, StepProgress, Task } from '../model/tasks.ts';
import { percentOf, sitesProgress } from '../world/task-progress.ts';
import { shown } from './account.ts';

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
