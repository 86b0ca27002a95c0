/** Shapes that many resources share (spec 2.1). */
import { z } from 'zod';
import type { Kind } from '../kinds.ts';
import { idOf, idSchema, int, known, part, timestamp } from '../schema.ts';

/** The position of a page. A list can be read without it: an empty page is the end. */
export const PageMeta = part({
  pagination: part({ page: int, perPage: int, totalPages: int, totalItems: int }),
});

/** How many items a batch call processed. */
export const BatchMeta = part({ requested: int, succeeded: int, failed: int });

/** The error for one item of a batch call. */
export const BatchError = part({ id: idSchema, code: z.string(), message: z.string() }, 'id');

/**
 * The error for one item of an assignment or of sending a report. Only the list itself is specified, not its
 * items, so no field is needed.
 */
export const ItemRefusal = part({
  id: z.optional(idSchema),
  // Not specified: what names a refused address.
  email: z.optional(z.string()),
  code: z.optional(z.string()),
  message: z.optional(z.string()),
});

/** The roles of a person in an account. */
export const roles = ['collaborator', 'administrator', 'co_owner'] as const;

const endedStatuses = ['completed', 'cancelled', 'failed', 'aborted'] as const;
/** Task states (spec 2.10). */
export const taskStatuses = ['initializing', 'running', ...endedStatuses] as const;
/** `queued` occurs only in answers that start a task. */
export const TaskStatus = known('queued', ...taskStatuses);

/** Whether a task has ended. One with an unknown status has not. */
export const hasEnded = (status: string): boolean => endedStatuses.some((ended) => ended === status);

/** The states of a backup snapshot (spec 2.21). */
export const snapshotStatuses = ['succeeded', 'failed', 'in_progress', 'waiting', 'cancelled'] as const;
export const SnapshotStatus = known(...snapshotStatuses);

/** The answer of an operation that starts background work (spec 2.1). */
export const TaskReference = part(
  { task: part({ id: idSchema, status: TaskStatus, created_at: timestamp }, 'id', 'status') },
  'task',
);

/** Bytes or items: total, backed up, and excluded. */
export const CountPair = part({
  count: part({ total: int, synced: int, ignored: int }),
  size: part({ total: int, synced: int, ignored: int }),
});

/** The body for deleting several items (spec 1.4); the maximum number is not specified. */
export const batchIds = (kind: Kind) => z.strictObject({ ids: z.array(idOf(kind)) });

/** The answer to deleting several items: partial success is normal (spec 7). */
export const BatchDeletion = part(
  { delete: part({ ids: z.array(idSchema), errors: z.array(BatchError) }, 'ids', 'errors'), meta: BatchMeta },
  'delete',
);

/** The results of a malware scan. */
export const scannerStatuses = ['clean', 'hacked'] as const;
export const ScannerStatus = known(...scannerStatuses);
/** The findings of a malware scan. */
export const Detections = part({ files: int, scripts: int, cron_jobs: int });
/** The progress of a malware scan. */
export const ScanProgress = part({ total: int, scanned: int });
