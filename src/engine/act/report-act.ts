/** What people who look at the queue read about an entry that acted on targets. Nothing depends on it. */
import type { OnAnswer } from '../../client/call-options.ts';
import { isoTime } from '../../clock.ts';
import { defined } from '../../defined.ts';
import type { StepAnswer } from '../../job/answer.ts';
import type { AnyJob } from '../../job/job.ts';
import type { Report } from '../../queue/entry.ts';
import type { Effect } from '../../records/effect-store.ts';
import type { Run, Spent, Target } from '../../run/run.ts';
import { type SentRequest, withRequests } from '../../run/sent-request.ts';
import { scrub } from '../../secrets.ts';
import { explainEnd } from '../explain-end.ts';
import { jobStateOf } from '../plan/candidates.ts';

/** One step on one target. */
export interface Acted {
  /** The target as it was claimed, and as it was written. */
  before: Target;
  target: Target;
  /** The requests that were sent, by operation. */
  spent: Spent;
  /** What the service reported as changed. */
  effects: readonly Effect[];
  /** For a waiting target: when it may be dispatched again. */
  dueAt?: number | undefined;
}

export const reportUnknownRun: Report = {
  result: { state: 'not claimed' },
  log: ['Nothing was done: the run is not stored any more.'],
};

/** Of a target that an entry names; each of these may be so. */
const WHY_UNCLAIMED =
  'had been claimed or dispatched again, its run is not running, a target of another run holds its site, or this process is stopping or does not know its account or job';

/** `named`: how many targets the entry names. */
export function reportActed(run: Pick<Run, 'account'>, acted: readonly Acted[], named: number): Report {
  const [only] = acted;
  if (!only) {
    const which = named === 1 ? 'the target' : 'each target';
    return { result: { state: 'not claimed' }, log: [`Nothing was done: ${which} ${WHY_UNCLAIMED}.`] };
  }
  if (named === 1) return reportOne(run, only);
  const left = named - acted.length;
  return {
    result: { account: run.account, targets: named, requests: sum(acted.map(requestsOf)) },
    log: [
      ...acted.map((one) => `${one.target.label} (${one.target.id}). ${outcomeOf(one)}`),
      ...(left === 0 ? [] : [`Not claimed: ${left}. Such a target ${WHY_UNCLAIMED}.`]),
    ],
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
const requestsOf = ({ spent }: Acted): number => sum(Object.values(spent));

function reportOne({ account }: Pick<Run, 'account'>, acted: Acted): Report {
  const { before, target, spent, effects } = acted;
  const requests = requestsOf(acted);
  return {
    result: {
      target: target.label,
      account,
      state: target.state,
      outcome: target.outcome,
      reason: target.reason,
      task: target.taskId,
      requests,
    },
    log: [
      `Planned: ${target.label} (${target.id}), account ${account}.`,
      ...waitsOf(before),
      requests === 0
        ? 'Requests: none.'
        : `Requests: ${Object.entries(spent)
            .map(([operation, count]) => (count === 1 ? operation : `${operation} ${count} times`))
            .join(', ')}.`,
      ...effects.map(({ operation, id }) => `Answer: ${operation} changed ${id}.`),
      outcomeOf(acted),
    ],
  };
}

function waitsOf({ detail, attempts, waits }: Target): string[] {
  const failed = attempts === 0 ? [] : [`Failed attempts before: ${attempts}.`];
  if (waits === 0 && detail === undefined) return failed;
  return [...failed, `Waited before${detail === undefined ? '.' : `: ${detail}`}`];
}

function outcomeOf({ target, dueAt }: Acted): string {
  const { state, outcome, reason, detail, taskId } = target;
  const why = detail === undefined ? '' : ` ${detail}`;
  if (state === 'ended') return `Outcome: ${outcome} (${reason}).${why}`;
  if (state === 'following') return `Outcome: open, follows ${taskId ?? 'its work in the service'}.${why}`;
  return `Outcome: open, waits${dueAt === undefined ? '' : ` until ${isoTime(dueAt)}`}.${why}`;
}

// The requests that are sent for one target, until they are recorded with it.

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

/**
 * Converts an answer to the form in which it is recorded: its state as JSON, its end with the sentence of its
 * reason.
 */
export function encodeAnswer(job: AnyJob, answer: StepAnswer): StepAnswer<string> {
  const textOf = (state: unknown) => jobStateOf(job, state).jobState ?? 'null';
  if (answer.is === 'next') return { is: 'next', state: textOf(answer.state) };
  if (answer.is === 'step-done')
    return { ...answer, end: explainEnd(job, answer.end), state: textOf(answer.state) };
  if (answer.is === 'done' || answer.is === 'skipped' || answer.is === 'failed')
    return explainEnd(job, answer);
  if (answer.is !== 'following' || answer.next === undefined) return answer as StepAnswer<string>;
  return { ...answer, next: textOf(answer.next) };
}
