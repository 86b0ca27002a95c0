/** Which operations take something away that asking again does not bring back. */
import { type OperationId, operationOf } from './operations.ts';

/** What the path of such an operation ends with. A migration writes over the site that it goes to. */
const takingAway = [
  'cancel',
  'delete',
  'disable',
  'disconnect',
  'migrate',
  'reject',
  'remove',
  'reset',
  'rotate-dkim',
];

/**
 * Whether an operation deletes (`DELETE`), or its path ends with what takes away: `delete`, `reset`,
 * `disable`, ...
 */
export function isDestructive(id: OperationId): boolean {
  const { method, path } = operationOf(id);
  return method === 'DELETE' || takingAway.includes(path.split('/').at(-1) ?? '');
}
