/**
 * `once`: a call that is made at most once for each target and key, in whichever run.
 *
 * The key is claimed before the request and marked as done after it. Only a claim whose holder provably sent
 * nothing, or whose request had no effect, passes to another run.
 *
 * A call that starts a task has a key in any case, made of what it sends. When its run stopped following the task before
 * its end, as at a time limit, the next run with the same call reads that task instead of starting another one.
 */
import { createHash } from 'node:crypto';
import { type OperationId, operationOf } from '../../src/contract/operations.ts';
import { schemaUnder } from '../../src/contract/schema.ts';
import { dayIn } from '../../src/dates.ts';
import { ExpressionError } from '../../src/expression/expression.ts';
import type { FieldTree } from '../../src/expression/fields.ts';
import { compileTemplate, type Template } from '../../src/expression/template.ts';
import type { Answer, End } from '../../src/job/answer.ts';
import type { Acting, Holder, Items, OptionFault, RunContext } from '../../src/job/job.ts';
import { isOnce } from '../../src/job/reconcile/find-effect.ts';
import type { Source } from '../../src/job/source.ts';
import { pollTask } from '../../src/job/watch/task.ts';
import { canonicalJson } from '../../src/text.ts';

const MAX_KEY_LENGTH = 200;
/** The change was made. */
const DONE = 'done';
/** The call started a task, or a sync: whether the work is done depends on how the holder ended. The task's id follows. */
const STARTED = 'started';
/** Ends of a task after which the call may be made again. */
const taskFailures = ['task-failed', 'task-aborted', 'task-cancelled'];
const successes = ['done', 'adopted', 'already-done'];

const text = { kind: 'string', nullable: false, optional: false } as const;
/** What a key may use of its run. */
const runFields: FieldTree = { policy: text, date: text };

const variablesOf = ({ variables }: Source) => ({ ...variables, run: runFields });

/** Everything that is wrong with a key for candidates of this source. */
export function keyFaults(key: string | undefined, source: Source): OptionFault[] {
  if (key === undefined) return [];
  try {
    compileTemplate(key, variablesOf(source));
    return [];
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message, suggestion, offset = 0 } = error;
    return [{ path: ['once'], message, suggestion, offset }];
  }
}

/** The expressions in a key that `keyFaults` found no fault in. */
export const keyExpressions = (key: string | undefined, source: Source) =>
  key === undefined
    ? []
    : compileKey(key, source).expressions.map((expression) => ({
        ...{ path: ['once'], expression, variables: variablesOf(source) },
      }));

/** The template of a key that `keyFaults` found no fault in. */
export const compileKey = (key: string, source: Source): Template =>
  compileTemplate(key, variablesOf(source));

/**
 * The key for one candidate: `run.date` is the day of the scheduled time in the policy's time zone.
 *
 * @throws {ExpressionError} {NotShownError} when the item does not have a value that the key uses.
 */
export function keyFor(
  template: Template,
  items: Items,
  { policy, at, timezone }: RunContext,
  now: Date,
): string {
  const key = template.of({ ...items, run: { policy, date: dayIn(timezone, at) } }, now);
  if (key.trim() === '') throw new ExpressionError({ message: 'The key of "once" is empty.', offset: 0 });
  if (key.length > MAX_KEY_LENGTH) {
    const message = `The key of "once" has ${key.length} characters, and ${MAX_KEY_LENGTH} are allowed.`;
    throw new ExpressionError({ message, offset: 0 });
  }
  return key;
}

type Claiming = Pick<Acting<unknown>, 'once' | 'target' | 'api' | 'now'>;

/** A call for one target; `key` is that of `once`, if the policy has one. */
interface Call {
  operation: OperationId;
  input: Readonly<Record<string, unknown>>;
  key: string | undefined;
  /** What the target is known by when its id does not last. */
  lasting?: string | undefined;
}

/** Whether an operation starts a task. The answer to `cancelTask` has one too, but that one has ended. */
const startsTask = (operation: OperationId): boolean => {
  const { answer } = operationOf(operation);
  return isOnce(operation) && answer !== undefined && schemaUnder(answer, 'task') !== undefined;
};

/** The name of the key in the records; undefined for a call that may be made any number of times. */
function recordOf(
  { target }: Pick<Claiming, 'target'>,
  { operation, input, key, lasting }: Call,
): string | undefined {
  if (key !== undefined) return `api-call\n${operation}\n${lasting ?? target.id}\n${key}`;
  if (!startsTask(operation)) return undefined;
  const digest = createHash('sha256').update(canonicalJson(input)).digest('base64url').slice(0, 22);
  return `api-call-task\n${operation}\n${target.id}\n${digest}`;
}

/**
 * Claims the key of a call for this target; gives the answer instead when nothing may be sent. Costs one request when
 * the end of an earlier call's task is not known.
 */
export async function claimCall(acting: Claiming, call: Call): Promise<Answer<never> | undefined> {
  const record = recordOf(acting, call);
  if (record === undefined) return undefined;
  const holder = await acting.once.claim(record);
  if (holder.isOurs && holder.result === DONE) return { is: 'done', reason: 'done' };
  // Without `once`, another run may make the same call at the same time.
  if (call.key === undefined && !holder.isOurs && holder.endedAt === undefined) return undefined;
  const taskId = openTaskOf(holder, call);
  const answer =
    taskId === undefined ? answerFor(holder, call.key) : await answerByTask(acting, taskId, holder, call.key);
  if (holder.isOurs || (answer && taskId === undefined)) return answer;
  const next = await acting.once.claim(record, holder, answer && holder.result);
  return next.isOurs ? answer : answerFor(next, call.key);
}

/** The task that the holder started, if its run did not see the end of it. */
function openTaskOf({ isOurs, result, endedAt, reason }: Holder, { key }: Call): string | undefined {
  const [, taskId] = result?.split(' ') ?? [];
  if (isOurs) return taskId;
  const isOpen = reason === undefined ? key !== undefined : ![...successes, ...taskFailures].includes(reason);
  return endedAt !== undefined && isOpen ? taskId : undefined;
}

/** What follows from a task that an earlier run started: it is followed, is done, or failed, so that the call is made. */
async function answerByTask(
  { api, now }: Claiming,
  taskId: string,
  holder: Holder,
  key: string | undefined,
): Promise<Answer<never> | undefined> {
  const watch = { kind: 'task', taskId, since: now, adopted: true } as const;
  const { is } = await pollTask(api, watch);
  if (is === 'running' || is === 'unclear') return { is: 'following', watch };
  if (is === 'lost') return key === undefined ? undefined : mayBeMade(holder.run, key);
  const detail = `The run ${holder.run} started the task ${taskId}, which has completed.`;
  return is === 'done' ? { is: 'done', reason: 'already-done', detail } : undefined;
}

/** The answer for a target that does not hold the key; nothing when it may make the call. */
function answerFor(
  { isOurs, run, result, endedAt, reason }: Holder,
  key: string | undefined,
): Answer<never> | undefined {
  if (isOurs || key === undefined) return undefined;
  const name = `(once: ${key})`;
  const isStarted = result?.split(' ')[0] === STARTED;
  const isWorkDone = isStarted && reason !== undefined && successes.includes(reason);
  if (result === DONE || isWorkDone) {
    return { is: 'done', reason: 'already-done', detail: `The run ${run} made this call ${name}.` };
  }
  if (endedAt === undefined) {
    return { is: 'waiting', reason: 'conflict', detail: `The run ${run} is making this call ${name}.` };
  }
  // Without its record, it is not known how the holder ended. What it stopped following may still run.
  const hadNoEffect = isStarted
    ? taskFailures.includes(reason ?? '')
    : reason !== undefined && reason !== 'unknown-effect';
  return hadNoEffect ? undefined : mayBeMade(run, key);
}

const mayBeMade = (run: string, key: string): End => ({
  is: 'failed',
  reason: 'unknown-effect',
  detail: `The run ${run} may have made this call (once: ${key}). Look in the account; to make it again, change the key.`,
});

/** Marks the call as made, unless the answer shows that it had no effect. */
export async function noteCall<Result extends Answer<unknown> | End>(
  acting: Claiming,
  call: Call,
  answer: Result,
): Promise<Result> {
  const record = recordOf(acting, call);
  const { watch } = answer as Partial<Extract<Answer<unknown>, { is: 'following' }>>;
  const started = watch?.kind === 'task' ? `${STARTED} ${watch['taskId']}` : STARTED;
  const result = answer.is === 'done' ? DONE : answer.is === 'following' ? started : undefined;
  // Without `once`, what is done may be done again.
  if (record !== undefined && result && (call.key !== undefined || watch))
    await acting.once.note(record, result);
  return answer;
}
