/** Which operations are destructive: repeating the request does not restore what they remove. */
import { type OperationId, operationOf } from './operations.ts';

/** Last path segments of destructive operations. A migration overwrites the destination site. */
const destructiveVerbs = [
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
 * Whether an operation deletes (`DELETE`), or its path ends with a destructive verb: `delete`, `reset`,
 * `disable`, ...
 */
export function isDestructive(id: OperationId): boolean {
  const { method, path } = operationOf(id);
  return method === 'DELETE' || destructiveVerbs.includes(path.split('/').at(-1) ?? '');
}
