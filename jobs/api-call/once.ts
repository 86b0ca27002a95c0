/**
 * `once`: a call that is made at most once for each target and key, in whichever run.
 *
 * The key is claimed before the request and marked as done after it. Only a claim whose holder provably sent
 * nothing, or whose request had no effect, passes to another run.
 */
import type { OperationId } from '../../src/contract/operations.ts';
import { dayIn } from '../../src/dates.ts';
import { ExpressionError } from '../../src/expression/expression.ts';
import type { FieldTree } from '../../src/expression/fields.ts';
import { compileTemplate, type Template } from '../../src/expression/template.ts';
import type { Answer, End } from '../../src/job/answer.ts';
import type { Acting, Holder, Items, OptionFault, RunContext } from '../../src/job/job.ts';
import type { Source } from '../../src/job/source.ts';

const MAX_KEY_LENGTH = 200;
/** The change was made. */
const DONE = 'done';
/** The call started a task: whether the work is done depends on how the holder ended. */
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

type Claiming = Pick<Acting<unknown>, 'once' | 'target'>;

const recordOf = (operation: OperationId, { target }: Claiming, key: string): string =>
  `api-call\n${operation}\n${target.id}\n${key}`;

/** Claims the key for this target; gives the answer instead when nothing may be sent. */
export async function claimCall(
  operation: OperationId,
  acting: Claiming,
  key: string,
): Promise<Answer<never> | undefined> {
  const record = recordOf(operation, acting, key);
  const holder = await acting.once.claim(record);
  if (holder.isOurs) return holder.result === DONE ? { is: 'done', reason: 'done' } : undefined;
  const answer = answerFor(holder, key);
  if (answer) return answer;
  const next = await acting.once.claim(record, holder);
  return next.isOurs ? undefined : answerFor(next, key);
}

/** The answer for a target that does not hold the key; nothing when it may take the key over. */
function answerFor({ run, result, endedAt, reason }: Holder, key: string): Answer<never> | undefined {
  const name = `(once: ${key})`;
  const isWorkDone = result === STARTED && reason !== undefined && successes.includes(reason);
  if (result === DONE || isWorkDone) {
    return { is: 'done', reason: 'already-done', detail: `The run ${run} made this call ${name}.` };
  }
  if (endedAt === undefined) {
    return { is: 'waiting', reason: 'conflict', detail: `The run ${run} is making this call ${name}.` };
  }
  // Without its record, nobody knows how the holder ended. A task that it stopped following may still run.
  const hadNoEffect =
    result === STARTED
      ? taskFailures.includes(reason ?? '')
      : reason !== undefined && reason !== 'unknown-effect';
  if (hadNoEffect) return undefined;
  return {
    is: 'failed',
    reason: 'unknown-effect',
    detail: `The run ${run} may have made this call ${name}. Look in the account; to make it again, change the key.`,
  };
}

/** Marks the call as made, unless the answer shows that it had no effect. */
export async function noteCall<Result extends Answer<unknown> | End>(
  operation: OperationId,
  acting: Claiming,
  key: string | undefined,
  answer: Result,
): Promise<Result> {
  const result = answer.is === 'done' ? DONE : answer.is === 'following' ? STARTED : undefined;
  if (key !== undefined && result) await acting.once.note(recordOf(operation, acting, key), result);
  return answer;
}
