/**
 * The requests that were sent for one target, as its record keeps them: a few, and the answers of those that failed.
 * Records are kept for months, so everything here is bounded.
 */
import { z } from 'zod';

const { exactOptional: optional } = z;
const text = z.string();
const number = z.number();

/** One request, and how it was answered. */
export const SentRequest = z.object({
  operation: text,
  at: number,
  /** From sending the request to the begin of its answer, or to its failure. */
  ms: number,
  /** The HTTP status. Missing when no answer came. */
  status: optional(number),
  /** The id that the service gave the request, where it shows one. */
  id: optional(text),
  /** The error code and the message of an answer that is no success, or why there is no answer. */
  code: optional(text),
  message: optional(text),
});
export type SentRequest = z.output<typeof SentRequest>;

/** Whether a request got no answer, or one that is no success. */
export const isFailure = ({
  status,
  code,
  message,
}: Pick<SentRequest, 'status' | 'code' | 'message'>): boolean =>
  status === undefined || status >= 300 || code !== undefined || message !== undefined;

/** The requests of a target. `moreRequests`: how many others were sent between the first ones and the last ones. */
export interface SentRequests {
  requests?: SentRequest[];
  moreRequests?: number;
}

/** How many requests are kept: those that were sent first, and those that were sent last. */
const MAX_FIRST = 3;
const MAX_LAST = 9;
/** How many messages are kept: the latest ones. Every request that failed keeps its status and its code. */
const MAX_MESSAGES = 3;

/** The requests of a target with those that were sent since. */
export function withRequests(
  { requests: earlier = [], moreRequests = 0 }: SentRequests,
  sent: readonly SentRequest[],
): SentRequests {
  const all = [...earlier, ...sent];
  const left = Math.max(0, all.length - MAX_FIRST - MAX_LAST);
  const kept = left === 0 ? all : [...all.slice(0, MAX_FIRST), ...all.slice(MAX_FIRST + left)];
  const more = moreRequests + left;
  return {
    ...(kept.length === 0 ? {} : { requests: withLastMessages(kept) }),
    ...(more === 0 ? {} : { moreRequests: more }),
  };
}

function withLastMessages(requests: readonly SentRequest[]): SentRequest[] {
  let left = requests.filter(({ message }) => message !== undefined).length - MAX_MESSAGES;
  return requests.map((request) => {
    if (request.message === undefined || left <= 0) return request;
    left -= 1;
    const { message: _message, ...rest } = request;
    return rest;
  });
}
