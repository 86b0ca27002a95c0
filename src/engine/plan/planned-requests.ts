/**
 * The changes that a job requests for a target, found out without sending them: the job acts, each change is noted,
 * and the job goes on as if it had succeeded. What depends on the answer to a change is not known.
 */
import { requestOf } from '../../contract/input.ts';
import { type OperationId, operationOf } from '../../contract/operations.ts';
import { CaretakerError } from '../../errors.ts';
import type { StepAnswer } from '../../job/answer.ts';
import type { Acting, AnyJob, Holder, Once } from '../../job/job.ts';
import type { Policy } from '../../policy/policy.ts';
import { usesSite } from '../../policy/record-texts.ts';
import type { PlannedRequest } from '../../records/planned-store.ts';
import type { Reading } from '../deps.ts';
import { createJobApi, runContextOf } from '../job-api.ts';
import { jobStateOf } from './candidates.ts';

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

/** A job that is called again and again does not end by itself. */
const MAX_CALLS = 20;

/**
 * The requests of one target, and why those after them are not known (`more`); or why none of them
 * is known before it is acted on.
 */
export type PlannedRequests = { requests: PlannedRequest[]; more?: string } | { unknown: string };

/** What the requests of a target are found out with. */
interface Acted {
  reading: Reading;
  /** When the plan is made, which texts and periods count from. */
  at: number;
  /** The time at which the target is acted on. */
  now: number;
  /** The keys that other targets hold; none when it is left out. */
  holder?: Once['holder'];
}

interface PlannedTarget {
  id: string;
  label: string;
  jobState?: string;
  /** The only step that it is a target of. */
  step?: number;
}

/** The requests of one target, if everything succeeds. Sends nothing but what `reading` sends. */
export async function plannedRequests(
  job: AnyJob,
  policy: Policy,
  target: PlannedTarget,
  acted: Acted,
): Promise<PlannedRequests> {
  // It only reads, and may write files where it is planned to run.
  if (job.takesLists) return { requests: [] };
  const path = new ActingPath(job, policy, target, acted);
  let why: string | undefined;
  try {
    why = await path.follow();
  } catch (error) {
    if (path.dependsOn !== undefined) why = path.dependsOn;
    else if (error instanceof CaretakerError || error instanceof NotReadError) why = error.message;
    else throw error;
  }
  const { requests } = path;
  if (why === undefined) return { requests };
  return requests.length === 0 ? { unknown: why } : { requests, more: why };
}

/** Which steps a job goes through for a target, as far as that is known. */
class ActingPath {
  readonly requests: PlannedRequest[] = [];
  /** The sentence about the answer that the job has looked at since its last change. */
  dependsOn: string | undefined;

  constructor(
    private readonly job: AnyJob,
    private readonly policy: Policy,
    private readonly target: PlannedTarget,
    private readonly acted: Acted,
  ) {}

  /** Why its end is not known; undefined when the path was followed to its end. */
  async follow(): Promise<string | undefined> {
    let { jobState } = this.target;
    const { step: only } = this.target;
    let step = only ?? 0;
    let ended = false;
    for (let calls = 0; calls < MAX_CALLS; calls += 1) {
      this.dependsOn = undefined;
      const answer = await this.job.act(this.acting(step, jobState, ended));
      const next = nextOf(answer);
      if (next === 'end') return undefined;
      if (next === 'stops') return this.whyStopped(answer);
      if (next.state !== undefined) jobState = jobStateOf(this.job, next.state).jobState;
      if (jobState?.includes(NOT_KNOWN)) return this.dependsOn;
      if (next.isNextStep && only !== undefined) return undefined;
      if (next.isNextStep) step += 1;
      ended = next.isFollowed && !next.isNextStep;
    }
    return 'It takes more steps than a plan follows.';
  }

  /** Why it is not known what follows; undefined when it is known that nothing does. */
  private whyStopped(answer: StepAnswer): string | undefined {
    const last = this.requests.at(-1);
    // What was looked at is not as it is after that change.
    if (last) return this.dependsOn ?? `It depends on what ${last.operation} has done.`;
    return answer.is === 'waiting' ? whyWaiting(answer) : undefined;
  }

  private acting(step: number, jobState: string | undefined, ended: boolean): Acting<unknown> {
    const { job, policy, target } = this;
    const { reading, at, now, holder } = this.acted;
    return {
      ...createJobApi(reading, { requestClass: 'person' }, (operation, input) => this.call(operation, input)),
      effects: { claim: async () => true, belongsToOther: async () => false },
      once: onceWithout(target.id, now, holder),
      announcements: { add: async () => undefined, remove: async () => undefined },
      findingsOf: async () => ({ unknown: new Set(), open: [] }),
      looks: { last: async () => undefined, keep: async () => undefined },
      target: { id: target.id, label: target.label },
      options: policy.options,
      runContext: runContextOf(policy, at),
      state: jobState === undefined ? undefined : job.state?.parse(JSON.parse(jobState)),
      step,
      ...(ended ? { ended: { is: 'done', reason: 'done' } } : {}),
      now,
    };
  }

  private async call(operation: OperationId, input: never): Promise<unknown> {
    if (operationOf(operation).effect === undefined)
      return this.acted.reading.call(operation, input, { requestClass: 'person' });
    const request = requestOf(operation, input);
    if (JSON.stringify(request).includes(NOT_KNOWN))
      throw new NotReadError(this.requests.at(-1)?.operation ?? operation);
    this.requests.push(request);
    return unknownAnswer(() => {
      this.dependsOn = `It depends on the answer to ${operation}.`;
    });
  }
}

const whyWaiting = ({ detail, reason }: Extract<StepAnswer, { is: 'waiting' }>): string =>
  detail ?? `It has to wait now (${reason}).`;

/** What follows from an answer of the job, if what it has requested succeeds. */
function nextOf(
  answer: StepAnswer,
): 'end' | 'stops' | { state?: unknown; isNextStep: boolean; isFollowed: boolean } {
  switch (answer.is) {
    case 'done':
      return 'end';
    case 'step-done':
      return { state: answer.state, isNextStep: true, isFollowed: false };
    case 'next':
      return { state: answer.state, isNextStep: false, isFollowed: false };
    case 'following':
      if (!answer.endsStep && answer.next === undefined) return 'end';
      return { state: answer.next, isNextStep: answer.endsStep === true, isFollowed: true };
    default:
      return 'stops';
  }
}

/** Stands in texts for what an answer would show. */
const NOT_KNOWN = '\u{E000}not known\u{E000}';

/** An answer of which nothing is known. `note` is called when a person looks at it. */
function unknownAnswer(note: () => void): unknown {
  const value: unknown = new Proxy(() => undefined, {
    get(_, key) {
      if (key === 'then') return undefined;
      note();
      if (key === Symbol.iterator) return function* nothing() {};
      if (key === Symbol.toPrimitive || key === 'toString' || key === 'toJSON') return () => NOT_KNOWN;
      return value;
    },
    apply: () => value,
    has: () => true,
  });
  return value;
}

/** Keys of which this target may claim those that no other holds. */
function onceWithout(target: string, at: number, holder: Once['holder'] = async () => undefined): Once {
  const own: Holder = { isOurs: true, run: 'plan', target, at };
  return {
    claim: async (key, instead) => {
      const held = await holder(key);
      return held && held.run !== instead?.run ? held : own;
    },
    holder,
    note: async () => undefined,
    results: async (keys) => keys.map(() => undefined),
  };
}

// What a run would write to its sites (`record:`), and what that costs.

export interface PlannedRecording {
  /** The sites of its targets. */
  sites: number;
  /** The title of the custom work entries, as it is written in the policy. */
  customWork?: string;
  note?: true;
  /** The most requests that recordings cost, in addition to those of the run. */
  requests: number;
}

/** Undefined for a policy without `record`. `sites`: those of its targets, undefined for a target without one. */
export function plannedRecording(
  { record }: Policy,
  sites: readonly (string | undefined)[],
): PlannedRecording | undefined {
  if (!record) return undefined;
  const { customWork, note } = record;
  const count = new Set(sites.filter((site) => site !== undefined)).size;
  // One to look for the entry and one to make it; one to read the note and one to write it.
  const work = customWork ? 2 + (usesSite(customWork) ? 1 : 0) : 0;
  return {
    sites: count,
    ...(customWork ? { customWork: customWork.title } : {}),
    ...(note ? { note: true } : {}),
    requests: count * (work + (note ? 2 : 0)),
  };
}
