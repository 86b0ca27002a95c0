/** What follows from the service's answer to a call, and from its errors. */
import { refusalOf } from '../../src/contract/answers.ts';
import { deletes, pathParameters } from '../../src/contract/operation.ts';
import { type OperationId, operationOf, refusesItems } from '../../src/contract/operations.ts';
import type { Answer, End } from '../../src/job/answer.ts';
import { idWithin, parentIdIn } from '../../src/job/candidates.ts';
import type { Acting } from '../../src/job/job.ts';
import { problemWith } from '../../src/job/problem.ts';
import { isOnce } from '../../src/job/reconcile/find-effect.ts';

/** A call for one target. */
interface Calling extends Pick<Acting<unknown>, 'target' | 'now'> {
  operation: OperationId;
}

/** Whether a 2xx status proves success: nothing has to be followed, and no single item can be refused. */
const isProvenByStatus = (operation: OperationId): boolean => !isOnce(operation) && !refusesItems(operation);

/** The end of a target after an error. `undefined` for an error that the engine decides on. */
export function endAfterError(
  call: Calling,
  input: Record<string, unknown>,
  error: unknown,
): End | undefined {
  const { operation } = call;
  const { gone, rejected, made } = problemWith(error);
  if (gone && deletes(operationOf(operation))) return { is: 'done', reason: 'already-done' };
  if (gone && !namesTargetAlone(call, input))
    return { is: 'failed', reason: 'rejected', detail: gone.message };
  const refusal = rejected && refusalOf(rejected);
  if (refusal) return { is: 'skipped', reason: refusal, detail: rejected.message };
  if (!made || !isProvenByStatus(operation)) return undefined;
  const detail = 'The service reported success; the rest of its answer could not be read.';
  return { is: 'done', reason: 'done', detail };
}

/** The end of a target that was replaced under a new id, and is no longer what is replaced: it was selected as another. */
export const endOfOther = (status: string): End => ({
  is: 'skipped',
  reason: 'not-eligible',
  detail: `It has a new id, and its status is ${status} now. Nothing was sent.`,
});

/** Whether a 404 can only mean the target or what it belongs to, because the path names nothing else. */
export function namesTargetAlone({ target, operation }: Calling, input: Record<string, unknown>): boolean {
  const ids = pathParameters(operationOf(operation).path).map((name) => String(input[name]));
  const [first = '', second] = ids;
  const isParent = ids.length === 1 && parentIdIn(target.id) === first;
  return isParent || target.id === (second === undefined ? first : idWithin(first, second));
}

/** The parts of an answer that decide what follows. */
export interface ServiceAnswer {
  task?: { id: string };
  sync?: { snapshot_id: string };
  [part: string]: unknown;
}

/** What follows from the service's answer to the call: something to follow, or the end of the target. */
export function afterAnswer(
  { operation, now }: Calling,
  input: Record<string, unknown>,
  answer: ServiceAnswer,
): Answer<never> {
  const { task, sync, ...rest } = answer;
  // The answer to `cancelTask` contains a task too, but that one has ended.
  if (task && isOnce(operation)) {
    return { is: 'following', watch: { kind: 'task', taskId: task.id, since: now } };
  }
  if (sync && operation === 'syncSite') {
    const watch = { kind: 'sync', siteId: String(input['site_id']), snapshotId: sync.snapshot_id } as const;
    return { is: 'following', watch: { ...watch, since: now } };
  }
  return endOfRefusedItem(operation, rest) ?? { is: 'done', reason: 'done' };
}

/**
 * A call for several items can succeed and still list items that the service refused. Here there is one item,
 * that of the target.
 */
function endOfRefusedItem(
  operation: OperationId,
  answer: Record<string, unknown>,
): Answer<never> | undefined {
  for (const part of Object.values(answer)) {
    const { errors } = (part ?? {}) as { errors?: { code?: string; message?: string }[] };
    const [error] = Array.isArray(errors) ? errors : [];
    if (!error) continue;
    if (error.code === 'not_found') {
      return deletes(operationOf(operation))
        ? { is: 'done', reason: 'already-done' }
        : { is: 'skipped', reason: 'gone' };
    }
    const { code, message = code ?? 'The service gave no reason.' } = error;
    const refusal = refusalOf({ ...(code === undefined ? {} : { code }), message });
    return refusal
      ? { is: 'skipped', reason: refusal, detail: message }
      : { is: 'failed', reason: 'rejected', detail: message };
  }
  return undefined;
}
