/**
 * The first change that a job requests for a target, found out without sending it: the job acts, what it
 * reads is answered offline, and its first change is noted and never answered. For a policy with steps, the
 * first change of each step.
 */
import type { Client } from '../../client/client.ts';
import { type OperationId, operationOf } from '../../contract/operations.ts';
import { createJobApi, runContextOf } from '../../engine/job-api.ts';
import { jobStateOf } from '../../engine/plan/candidates.ts';
import type { Acting, AnyJob, Holder } from '../../job/job.ts';
import type { Policy } from '../../policy/policy.ts';
import { split } from '../offline-client.ts';

/** A change, as it would be sent. */
export interface ChangeRequest {
  target: string;
  operation: OperationId;
  params: Record<string, unknown>;
  body?: unknown;
}

/** A job that is called again and again without a change does not end by itself. */
const MAX_CALLS = 20;

/**
 * The requests of one target, in the order of the policy's steps. Sends nothing.
 *
 * @throws {NotHeldError} when the job reads what is not held.
 */
export async function firstRequests(
  job: AnyJob,
  policy: Policy,
  target: PlannedTarget,
  client: Client,
  now: number,
): Promise<ChangeRequest[]> {
  const requests: ChangeRequest[] = [];
  for (const step of (job.steps ?? ['']).keys()) {
    const request = await firstRequest(job, policy, { ...target, step }, client, now);
    if (request) requests.push(request);
  }
  return requests;
}

interface PlannedTarget {
  id: string;
  label: string;
  jobState?: string;
}

/**
 * Undefined when the job ends, waits or follows without a change. Sends nothing.
 *
 * @throws {NotHeldError} when the job reads what is not held.
 */
async function firstRequest(
  job: AnyJob,
  policy: Policy,
  target: PlannedTarget & { step: number },
  client: Client,
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
        return client.call(operation, input, { requestClass: 'person' });
      const { params, query } = split(operation, input);
      note({ target: id, operation, params, ...('body' in query ? { body: query['body'] } : {}) });
      // No answer: nothing that the job does after it can matter.
      return new Promise(() => undefined);
    };
    const acting: Acting<unknown> = {
      ...createJobApi(client, { requestClass: 'person' }, call),
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
  const own: Holder = { isOurs: true, run: 'test', target, at };
  return {
    claim: async () => own,
    holder: async () => undefined,
    note: async () => undefined,
    results: async (keys) => keys.map(() => undefined),
  };
}
