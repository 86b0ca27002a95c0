/**
 * The first change that a job requests for a target, found out without sending it: the job acts, and its
 * first change is noted and never answered. For a policy with steps, the first change of each step.
 */
import { pathParameters } from '../../contract/operation.ts';
import { type OperationId, operationOf } from '../../contract/operations.ts';
import { CaretakerError } from '../../errors.ts';
import type { Acting, AnyJob, Holder } from '../../job/job.ts';
import type { Policy } from '../../policy/policy.ts';
import { redact } from '../../secrets.ts';
import type { Reading } from '../deps.ts';
import { createJobApi, runContextOf } from '../job-api.ts';
import { jobStateOf } from './candidates.ts';

/** A change, as it would be sent, without secrets. */
export interface ChangeRequest {
  operation: OperationId;
  params: Record<string, unknown>;
  body?: unknown;
}

class NotReadError extends Error {
  constructor(operation: string) {
    super(`It depends on ${operation}, which is requested when the target is acted on.`);
  }
}

/** Refuses to read anything, so that a plan costs no request for each target. */
export const readsNothing: Reading = {
  call: (operation) => Promise.reject(new NotReadError(operation)),
  serviceTime: () => Promise.reject(new NotReadError("the service's time")),
  download: (operation) => Promise.reject(new NotReadError(operation)),
};

/** A job that is called again and again without a change does not end by itself. */
const MAX_CALLS = 20;

/** The requests of one target, or why they are not known before it is acted on. */
export type FirstRequests = { requests: ChangeRequest[] } | { unknown: string };

/**
 * The first request of each step for one target, as if no earlier run had made it. Sends nothing but what
 * `reading` sends.
 */
export async function firstRequests(
  job: AnyJob,
  policy: Policy,
  target: PlannedTarget,
  reading: Reading,
  now: number,
): Promise<FirstRequests> {
  const requests: ChangeRequest[] = [];
  try {
    for (const step of (job.steps ?? ['']).keys()) {
      const request = await firstRequest(job, policy, { ...target, step }, reading, now);
      if (request) requests.push(redact(request) as ChangeRequest);
    }
  } catch (error) {
    if (error instanceof CaretakerError || error instanceof NotReadError) return { unknown: error.message };
    throw error;
  }
  return { requests };
}

interface PlannedTarget {
  id: string;
  label: string;
  jobState?: string;
}

/** Undefined when the job ends, waits or follows without a change. */
async function firstRequest(
  job: AnyJob,
  policy: Policy,
  target: PlannedTarget & { step: number },
  reading: Reading,
  now: number,
): Promise<ChangeRequest | undefined> {
  // It only reads, and may write files where it is planned to run.
  if (job.takesLists) return undefined;
  const { id, label, step } = target;
  let { jobState } = target;
  for (let calls = 0; calls < MAX_CALLS; calls += 1) {
    let note: (request: ChangeRequest) => void;
    const requested = new Promise<ChangeRequest>((resolve) => {
      note = resolve;
    });
    const call = async (operation: OperationId, input: never): Promise<unknown> => {
      if (operationOf(operation).effect === undefined)
        return reading.call(operation, input, { requestClass: 'person' });
      const names = pathParameters(operationOf(operation).path);
      const given = Object.entries(input as object).filter(([, value]) => value !== undefined);
      const params = Object.fromEntries(given.filter(([name]) => names.includes(name)));
      const body: unknown = (input as { body?: unknown }).body;
      note({ operation, params, ...(body === undefined ? {} : { body }) });
      // No answer: nothing that the job does after it can matter.
      return new Promise(() => undefined);
    };
    const acting: Acting<unknown> = {
      ...createJobApi(reading, { requestClass: 'person' }, call),
      effects: { claim: async () => true, belongsToOther: async () => false },
      once: nobodyElse(id, now),
      target: { id, label },
      options: policy.options,
      runContext: runContextOf(policy, now),
      state: jobState === undefined ? undefined : job.state?.parse(JSON.parse(jobState)),
      step,
      now,
    };
    const found = await Promise.race([requested, job.act(acting)]);
    if ('operation' in found) return found;
    if (found.is !== 'next') return undefined;
    jobState = jobStateOf(job, found.state).jobState;
  }
  return undefined;
}

/** Keys that no other target holds. */
function nobodyElse(target: string, at: number): Acting<unknown>['once'] {
  const own: Holder = { isOurs: true, run: 'plan', target, at };
  return {
    claim: async () => own,
    holder: async () => undefined,
    note: async () => undefined,
    results: async (keys) => keys.map(() => undefined),
  };
}
