/** The requests that are sent for one target, until they are recorded with it. */
import type { OnAnswer } from '../client/call-options.ts';
import { defined } from '../defined.ts';
import type { Target } from '../run/run.ts';
import { type SentRequest, withRequests } from '../run/sent-request.ts';
import { scrub } from '../secrets.ts';

/** The rest of a message is cut. Records are kept for months. */
const MAX_MESSAGE = 300;

export class RequestLog {
  private readonly sent: SentRequest[] = [];

  /** Pass this as `onAnswer` of a call. */
  readonly note: OnAnswer = ({ operation, at, ms, status, requestId, problem }) => {
    this.sent.push({
      operation,
      at,
      ms: Math.round(ms),
      ...defined({ status, id: requestId, code: problem?.code }),
      ...(problem === undefined ? {} : { message: bounded(problem.message) }),
    });
  };

  /** The target with the requests that were sent for it. */
  addTo<T extends Target>(target: T): T {
    return this.sent.length === 0 ? target : { ...target, ...withRequests(target, this.sent) };
  }
}

function bounded(message: string): string {
  // Redacted before it is cut: half a secret is not recognised.
  const clean = scrub(message);
  return clean.length > MAX_MESSAGE ? `${clean.slice(0, MAX_MESSAGE)}…` : clean;
}
