/** Why a step sends nothing (more), and which errors prove that a request had no effect. */
import { BudgetSpentError } from '../../budget/budget.ts';
import {
  AccountRefusedError,
  ConflictError,
  GoneError,
  InvalidInputError,
  RejectedError,
  UnavailableError,
} from '../../client/errors.ts';
import type { TimeBounds } from '../../clock.ts';
import type { requestOf } from '../../contract/input.ts';
import { AccountMovedError } from '../../contract/service-address.ts';
import { CaretakerError } from '../../errors.ts';
import { JUMP_MS } from '../../redis/clock.ts';
import type { Intent, Target } from '../../run/run.ts';
import { canonicalJson } from '../../text.ts';
import type { EngineDeps } from '../deps.ts';

/**
 * The target was released to another worker meanwhile: this one may send and write nothing for it any more.
 */
export class FencedError extends CaretakerError {
  readonly code = 'FENCED';
  constructor() {
    super('The target was released to another worker meanwhile.');
  }
}

/** The run was cancelled during the step, which must start nothing new. */
export class RunCancelledError extends CaretakerError {
  readonly code = 'RUN_CANCELLED';
  constructor() {
    super('The run was cancelled.');
  }
}

/** What a change rests on is not as it was planned: nothing is sent. The message says what differs. */
export class ChangedError extends CaretakerError {
  readonly code = 'CHANGED_SINCE_PLAN';
}

/** The job asks for a change that is not, or no longer, part of the plan of its target: nothing is sent. */
export class NotPlannedError extends CaretakerError {
  readonly code = 'NOT_PLANNED';
}

/**
 * The errors that prove that the effect of a call did not happen. After any other error it may have happened.
 */
const errorsProvingAbsence = [
  RejectedError,
  ConflictError,
  GoneError,
  AccountRefusedError,
  BudgetSpentError,
  AccountMovedError,
  InvalidInputError,
];
export const provesAbsence = (error: unknown): boolean =>
  errorsProvingAbsence.some((refusal) => error instanceof refusal) ||
  (error instanceof UnavailableError && !error.sent);

/**
 * How long after an intent its request may still arrive at the service. Only after that time does a missing effect
 * prove that the request never arrived. It was sent within seconds after its intent, and connecting and sending take
 * some more; the rest is a margin for clocks and networks.
 */
const IN_TRANSIT_MS = 45_000;

/**
 * How much longer the request of an intent may still arrive. When the clock of Redis has gone forward or back since, the
 * time counts that has passed by the clock of the service.
 */
export function inTransitMs(
  { at, serviceAt }: Pick<Intent, 'at' | 'serviceAt'>,
  now: number,
  serviceNow: TimeBounds | undefined,
): number {
  const passed = now - at;
  const byService = serviceAt && serviceNow ? serviceNow.earliest - serviceAt.earliest : passed;
  // Far below 0, it is the clock of the service that has gone back.
  const jumped = byService > -JUMP_MS && Math.abs(passed - byService) >= JUMP_MS;
  return IN_TRANSIT_MS - (jumped ? byService : passed);
}

// The guard of a run that applies a saved plan: a target may request what was planned for it, and nothing else.

/**
 * Which planned request of the target this is, among those that had no effect yet; undefined when the run is not
 * limited to planned requests.
 *
 * @throws {NotPlannedError} when there is none. Nothing may be sent then.
 */
export async function plannedPosition(
  { records }: Pick<EngineDeps, 'records'>,
  run: { readonly id: string; readonly isPlanned: boolean },
  { id, sent = [] }: Pick<Target, 'id' | 'sent'>,
  asked: ReturnType<typeof requestOf>,
): Promise<number | undefined> {
  if (!run.isPlanned) return undefined;
  const { requests = [] } = (await records.planned.ofRun(run.id, [id])).get(id) ?? {};
  const request = canonicalJson(asked);
  const position = requests.findIndex((one, at) => !sent.includes(at) && canonicalJson(one) === request);
  if (position >= 0) return position;
  const isKnown = requests.some(({ operation }) => operation === asked.operation);
  const why = isKnown
    ? 'the plan has it with other values, or it was made already'
    : 'the plan does not have it';
  throw new NotPlannedError(`The job would call ${asked.operation} now, but ${why}. It was not called.`);
}
