/** Faults in the service's own work, independent of requests. */
import type { FaultTable } from './table.ts';

export const background = {
  'stuck-tasks': { help: 'tasks that never end', rate: 0.1 },
  'failing-tasks': { help: 'tasks that fail', rate: 0.1 },
  'aborted-tasks': { help: 'tasks that are aborted', rate: 0.1 },
  'storage-down': { help: 'tests of backup destinations answer 503', rate: 0.3 },
} as const satisfies FaultTable;
