/** What an operation answers that starts background work (spec 2.1). */

import type { Task } from '../model/tasks.ts';
import { shown } from '../views/moment.ts';

/**
 * `queued` is what starting a staging copy answers, although the task is initializing at once (spec 4.14).
 */
export const taskReference = (task: Task, status: string = task.status) => ({
  task: { id: task.id, status, created_at: shown(task.createdAt) },
});
