/** Checks whether the service gives usable answers: one small request, shared by all concurrent callers. */
import { CaretakerError } from '../errors.ts';
import type { CallOptions } from './call-options.ts';
import { AccountRefusedError, ConflictError, GoneError, RejectedError } from './errors.ts';

/** A service that takes longer to answer a small request counts as down. */
const PROBE_TIMEOUT_MS = 5_000;

/** With these errors the service did answer the request. */
const refusals = [AccountRefusedError, RejectedError, GoneError, ConflictError];

/** What is told of the request. */
export type Told = Pick<CallOptions, 'onRequest' | 'onSent'>;

/** Sends the service a small request. A refusal counts as a usable answer. */
export async function probeService(
  ask: (options: CallOptions) => Promise<unknown>,
  told: Told,
): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  try {
    await ask({ requestClass: 'control', whenSpent: 'leave', ...told, signal });
    return true;
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return true;
    if (error instanceof CaretakerError || signal.aborted) return false;
    throw error;
  }
}

/**
 * Runs one probe at a time. All callers that ask while one is in progress share the next one: the result of a
 * probe that started before the call may be out of date.
 */
export function sharedProbe(
  probe: (told: Told) => Promise<boolean>,
): (told: Told, signal?: AbortSignal) => Promise<boolean> {
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<boolean> | undefined;
  return (told, signal) => {
    next ??= current.then(() => {
      next = undefined;
      const answer = probe(told);
      current = answer.catch(() => undefined);
      return answer;
    });
    return unlessAborted(next, signal);
  };
}

/** The answer, or false when the signal aborts first. */
function unlessAborted(answer: Promise<boolean>, signal: AbortSignal | undefined): Promise<boolean> {
  if (!signal) return answer;
  return new Promise((resolve, reject) => {
    const leave = () => resolve(false);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
