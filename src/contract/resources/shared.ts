/** Shapes that many resources share (spec 2.1). */
import { z } from 'zod';
import { id, int, known, part, timestamp } from '../schema.ts';

/** The place of a page among all pages. Paging cannot go on without `totalPages`. */
export const PageMeta = part(
  {
    pagination: part(
      { page: int, perPage: int, totalPages: int, totalItems: int },
      'totalPages',
      'totalItems',
    ),
  },
  'pagination',
);

/** How many items a batch call took on. */
export const BatchMeta = part({ requested: int, succeeded: int, failed: int });

/** What became of one item that a batch call refused. */
export const BatchError = part({ id, code: z.string(), message: z.string() }, 'id');

/** Task states (spec 2.10); `queued` is seen only in answers that start one. */
export const TaskStatus = known(
  'queued',
  'initializing',
  'running',
  'completed',
  'cancelled',
  'failed',
  'aborted',
);

/** What an operation that starts background work answers (spec 2.1). */
export const TaskReference = part(
  { task: part({ id, status: TaskStatus, created_at: timestamp }, 'id', 'status') },
  'task',
);

/** Bytes or items in all, backed up, and left out. */
export const CountPair = part({
  count: part({ total: int, synced: int, ignored: int }),
  size: part({ total: int, synced: int, ignored: int }),
});
