/** The one way in which the command line, the pages and the HTTP API do anything. */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { holds, isPermitted } from '../access/principal.ts';
import { CaretakerError, messageOf } from '../errors.ts';
import type { AuditLine } from '../records/audit-store.ts';
import { sayIssue, writePath } from '../schema-issue.ts';
import { redact, scrubOnce } from '../secrets.ts';
import { suggestionFor } from '../suggest.ts';
import type { Act, Actor, ActSubject, AnyCommand, BaseDeps, Command } from './command.ts';
import { ForbiddenError, InvalidRequestError, isRefusal, KeyBusyError, KeyReusedError } from './errors.ts';

/**
 * Carries out a command: checks the input and the role, writes the request to the audit log, does it, and writes
 * the result. A process that dies in between leaves the request without a result; then the act may have
 * happened.
 *
 * @throws {InvalidRequestError} {ForbiddenError} and what the command throws.
 */
export async function carryOut<Schema extends z.ZodType, Result, Deps>(
  command: Command<Schema, Result, Deps>,
  deps: Deps & BaseDeps,
  input: z.input<Schema>,
  by: Actor,
): Promise<Result> {
  const act = {
    id: randomUUID(),
    at: deps.clock.now(),
    by,
    decide: <T extends object>(_name: string, make: () => Promise<T>) => make(),
  };
  return perform(command, deps, parseInput(command, input), act);
}

/**
 * Carries out a command, and gives its answer for programs, in which no secret is. Rows of an answer that are read while
 * they are used are an async iterable.
 *
 * @throws what `carryOut` throws.
 */
export async function answer<Schema extends z.ZodType, Result, Deps, Answer extends object>(
  command: Command<Schema, Result, Deps, Answer>,
  deps: Deps & BaseDeps,
  input: z.input<Schema>,
  by: Actor,
): Promise<Answer> {
  const parsed = parseInput(command, input);
  return cleaned(command.toAnswer(await carryOut(command, deps, input, by), parsed));
}

/** Readers see the same texts again and again. */
const cleaned = <T extends object>(value: T): T =>
  Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      isStream(one) ? cleanRows(one) : redact(one, scrubOnce),
    ]),
  ) as T;

export const isStream = (value: unknown): value is AsyncIterable<object> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

async function* cleanRows(rows: AsyncIterable<object>): AsyncGenerator<unknown> {
  for await (const row of rows) yield redact(row, scrubOnce);
}

/** How long a repetition waits for the request that is being carried out. */
const WAIT_MS = 4_000;
const WAIT_INTERVAL_MS = 50;

/**
 * Carries out a command once for all requests with the same key, within 24 hours, and gives its answer: a
 * repetition gets the stored one. A failed act is tried again, and one whose process died is continued.
 *
 * @throws {KeyReusedError} {KeyBusyError} and what `carryOut` throws.
 */
export async function answerOnce<Schema extends z.ZodType, Result, Deps>(
  command: Command<Schema, Result, Deps>,
  deps: Deps & BaseDeps,
  given: z.input<Schema>,
  by: Actor,
  givenKey: string,
): Promise<object> {
  const { acts } = deps.records;
  const input = parseInput(command, given);
  const owner = `${by.principal.kind}:${by.principal.name}`;
  const key = digestOf(givenKey);
  const request = digestOf(JSON.stringify([command.name, given]));
  const waitEnd = Date.now() + WAIT_MS;
  for (;;) {
    const claim = await acts.claim(owner, key, request, randomUUID(), deps.clock.now());
    if (claim.is === 'other') throw new KeyReusedError();
    if (claim.is === 'answered') {
      // Its role may have been taken away since.
      permit(command, await command.subject(input, deps), by);
      return claim.answer as object;
    }
    if (claim.is === 'begun') {
      const { id, at } = claim;
      const decide = async <T extends object>(name: string, make: () => Promise<T>) =>
        (await acts.decision(owner, key, name, make)) as T;
      try {
        const result = await perform(command, deps, input, { id, at, by, decide });
        const given = cleaned(command.toAnswer(result, input));
        await acts.answer(owner, key, given);
        return given;
      } catch (error) {
        await acts.release(owner, key).catch(() => undefined); // then the claim ends by itself
        throw error;
      }
    }
    if (Date.now() > waitEnd) throw new KeyBusyError();
    await sleep(WAIT_INTERVAL_MS);
  }
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** @throws {InvalidRequestError} */
export function parseInput<Schema extends z.ZodType>(
  { input }: { input: Schema },
  given: unknown,
): z.output<Schema> {
  const parsed = input.safeParse(given);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => sayFault(issue, given, input));
  throw new InvalidRequestError(`The request is not valid: ${faults.join('; ')}.`, { cause: parsed.error });
}

function sayFault(issue: z.core.$ZodIssue, given: unknown, schema: z.ZodType): string {
  if (issue.code === 'unrecognized_keys') {
    const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    return issue.keys
      .map((key) => {
        const hint = suggestionFor(key, known);
        return `there is no field "${key}"${hint ? ` (${hint.replace(/[?.]$/, '')})` : ''}`;
      })
      .join('; ');
  }
  // Of a filter with one value or several, what is wrong with the one that was given says more.
  const [nearest] = issue.code === 'invalid_union' ? issue.errors.flat() : [];
  const shown = nearest ? { ...nearest, path: [...issue.path, ...nearest.path] } : issue;
  const where = writePath(shown.path);
  return `${where === '' ? 'the body' : where} ${sayIssue(shown as z.core.$ZodIssue, given)}`;
}

/** @throws {ForbiddenError} */
function permit(
  { name, role }: Pick<AnyCommand, 'name' | 'role'>,
  subject: ActSubject | undefined,
  { principal }: Actor,
): void {
  const isAllowed = subject ? isPermitted(principal, role, subject) : holds(principal, role);
  if (!isAllowed) throw new ForbiddenError(principal, name, role, subject ?? {});
}

/** Writes that an act was refused for the role of who asked, where it is checked before the command is reached. */
export async function noteForbidden(
  command: AnyCommand,
  { audit }: Pick<BaseDeps, 'audit'>,
  subject: ActSubject,
  by: Actor,
): Promise<void> {
  if (command.reads) return;
  const error = new ForbiddenError(by.principal, command.name, command.role, subject);
  const act = { id: randomUUID(), by };
  await audit.refuse({ ...headOf(command, {}, act), ...known(subject), ...errorOf(error) });
}

async function perform<Schema extends z.ZodType, Result, Deps>(
  command: Command<Schema, Result, Deps>,
  deps: Deps & BaseDeps,
  input: z.output<Schema>,
  act: Act,
): Promise<Result> {
  const subject = await command.subject(input, deps);
  const line = { ...headOf(command, input, act), ...known(subject) };
  try {
    permit(command, subject, act.by);
  } catch (error) {
    if (!command.reads) await deps.audit.refuse({ ...line, ...errorOf(error) });
    throw error;
  }
  if (command.reads) return command.carryOut(input, deps, act);
  await deps.audit.write({ ...line, result: 'requested' });
  let result: Result;
  try {
    result = await command.carryOut(input, deps, act);
  } catch (error) {
    const result = isRefusal(error) ? 'refused' : 'failed';
    await deps.audit.writeResult({ ...line, result, ...errorOf(error) });
    throw error;
  }
  await deps.audit.writeResult({ ...line, ...command.outcome?.(result), result: 'done' });
  return result;
}

function headOf(
  { name }: Pick<AnyCommand, 'name'>,
  input: unknown,
  { id, by: { principal, from } }: Pick<Act, 'id' | 'by'>,
): Omit<AuditLine, 'at' | 'result'> {
  const { reason } = input as { reason?: unknown };
  return {
    act: id,
    who: { kind: principal.kind, name: principal.name },
    from,
    what: name,
    ...(typeof reason === 'string' && reason !== '' ? { why: reason } : {}),
  };
}

/** The fields of a subject that are known. */
const known = (subject: ActSubject | undefined): Partial<AuditLine> =>
  Object.fromEntries(Object.entries(subject ?? {}).filter(([, value]) => value !== undefined));

const errorOf = (error: unknown): Pick<AuditLine, 'code' | 'message'> => ({
  code: error instanceof CaretakerError ? error.code : 'INTERNAL',
  message: messageOf(error),
});
