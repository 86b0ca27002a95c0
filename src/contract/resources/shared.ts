/** Shapes that many resources share (spec 2.1). */
import { z } from 'zod';
import { id, int, known, part, timestamp } from '../schema.ts';

/** The place of a page among all pages. A list can be read without it: an empty page is its end, too. */
export const PageMeta = part({
  pagination: part({ page: int, perPage: int, totalPages: int, totalItems: int }),
});

/** How many items a batch call took on. */
export const BatchMeta = part({ requested: int, succeeded: int, failed: int });

/** What became of one item that a batch call refused. */
export const BatchError = part({ id, code: z.string(), message: z.string() }, 'id');

/**
 * What became of one item that assigning a tag or sending a report refused. Only that there is such a list is
 * shown, not what an item of it holds, so nothing in it is relied upon.
 */
export const ItemRefusal = part({
  id: z.optional(id),
  code: z.optional(z.string()),
  message: z.optional(z.string()),
});

/** What a person may do in an account. */
export const roles = ['collaborator', 'administrator', 'co_owner'] as const;

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

/** How far a backup snapshot has come (spec 2.21). */
export const snapshotStatuses = ['succeeded', 'failed', 'in_progress', 'waiting', 'cancelled'] as const;
export const SnapshotStatus = known(...snapshotStatuses);

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

/** What deleting several items at once takes (spec 1.4); the most it takes is not shown. */
export const BatchIds = z.strictObject({ ids: z.array(id) });

/** What deleting several items at once answers: partial success is normal (spec 7). */
export const BatchDeletion = part(
  { delete: part({ ids: z.array(id), errors: z.array(BatchError) }, 'ids', 'errors'), meta: BatchMeta },
  'delete',
);

/** What a malware scan ended with. */
export const scannerStatuses = ['clean', 'hacked'] as const;
export const ScannerStatus = known(...scannerStatuses);
/** What a malware scan found. */
export const Detections = part({ files: int, scripts: int, cron_jobs: int });
/** How much of a site a malware scan has seen. */
export const ScanProgress = part({ total: int, scanned: int });
