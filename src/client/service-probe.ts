/**
 * Whether the service gives usable answers: one small request, shared by all who want to know it at the same
 * time.
 */
import { CaretakerError } from '../errors.ts';
import type { CallOptions, OnRequest } from './call-options.ts';
import { AccountRefusedError, ConflictError, GoneError, RejectedError } from './errors.ts';

/** A service that takes longer to answer something small counts as away. */
const PROBE_TIMEOUT_MS = 5_000;

/** The service refused, so it is there, and has looked at what was asked. */
const refusals = [AccountRefusedError, RejectedError, GoneError, ConflictError];

/** Asks the service something small. A refusal is a usable answer too. */
export async function probeService(
  ask: (options: CallOptions) => Promise<unknown>,
  onRequest: OnRequest,
): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  try {
    await ask({ requestClass: 'control', whenSpent: 'leave', onRequest, signal });
    return true;
  } catch (error) {
    if (refusals.some((refusal) => error instanceof refusal)) return true;
    if (error instanceof CaretakerError || signal.aborted) return false;
    throw error;
  }
}

/**
 * Runs one probe at a time. All who ask while one is in progress share the next one: an answer to a question
 * that was asked before theirs may be out of date.
 */
export function sharedProbe(
  probe: (onRequest: OnRequest) => Promise<boolean>,
): (onRequest: OnRequest, signal?: AbortSignal) => Promise<boolean> {
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<boolean> | undefined;
  return (onRequest, signal) => {
    next ??= current.then(() => {
      next = undefined;
      const answer = probe(onRequest);
      current = answer.catch(() => undefined);
      return answer;
    });
    return unlessAborted(next, signal);
  };
}

/** The answer, or false when somebody does not wait for it any longer. */
function unlessAborted(answer: Promise<boolean>, signal: AbortSignal | undefined): Promise<boolean> {
  if (!signal) return answer;
  return new Promise((resolve, reject) => {
    const leave = () => resolve(false);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
