/** Following and cancelling background tasks (spec 4.8). */

import type { Task } from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { notFound } from '../refusal.ts';
import { taskDetails, taskView } from '../views/task.ts';
import { cancelTask as cancel } from '../world/tasks.ts';
import { type Handler, lists } from './handler.ts';

function taskOf(world: World, id: string): Task {
  const task = world.tasks.get(id);
  if (!task) throw notFound('task', id);
  return task;
}

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
