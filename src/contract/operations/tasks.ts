/** Background tasks of the service: listing, showing and cancelling them (spec 4.8). */
import { z } from 'zod';
import { field, listTimestamp, oneOf } from '../list.ts';
import { operation } from '../operation.ts';
import { PageMeta, taskStatuses } from '../resources/shared.ts';
import { Task, TaskDetails, taskTypes } from '../resources/task.ts';
import { part } from '../schema.ts';

const task = part({ task: TaskDetails }, 'task');

export const taskOperations = {
  listTasks: operation({
    section: '4.8',
    summary: 'Lists background tasks.',
    method: 'GET',
    path: '/tasks',
    success: 200,
    answer: part({ tasks: z.array(Task), meta: PageMeta }, 'tasks'),
    errors: [400, 401, 403, 429],
    list: {
      key: 'tasks',
      filters: {
        status: field('status', oneOf(taskStatuses, 'eq')),
        type: field('type', oneOf(taskTypes, 'eq')),
        created_at: field('created_at', listTimestamp('gte', 'lte')),
        updated_at: field('updated_at', listTimestamp('gte', 'lte')),
      },
      sorts: ['created_at', 'updated_at', 'status'],
      defaultSort: 'created_at,desc',
      timezone: true,
      paged: true,
    },
  }),
  showTask: operation({
    section: '4.8',
    summary: 'Shows a background task, site by site and step by step.',
    method: 'GET',
    path: '/tasks/{task_id}',
    success: 200,
    answer: task,
    errors: [401, 403, 404, 429],
  }),
  cancelTask: operation({
    section: '4.8',
    summary: 'Cancels a background task that has not ended.',
    destructive: 'The work that the task stands for is given up; a half-done update stays half done.',
    method: 'POST',
    path: '/tasks/{task_id}/cancel',
    success: 200,
    answer: task,
    errors: [401, 403, 404, 422, 429],
    effect: 'repeatable',
    leadsTo: { status: 'cancelled' },
  }),
} as const;
