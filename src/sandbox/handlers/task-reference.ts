/** The answer of an operation that starts background work (spec 2.1). */

import type { Task } from '../model/tasks.ts';
import { shown } from '../views/account.ts';

/** Creating a staging site answers `queued`, although the task is initializing immediately (spec 4.14). */
export const taskReference = (task: Task, status: string = task.status) => ({
  task: { id: task.id, status, created_at: shown(task.createdAt) },
});
