/** Data in Redis is external input: it is parsed when it is read. */
import type { z } from 'zod';
import { CaretakerError } from '../errors.ts';
import { sayIssue, writePath } from '../schema-issue.ts';

/** A record is not in the form of this version: something other than Caretaker has changed it. */
export class InvalidRecordError extends CaretakerError {
  readonly code = 'INVALID_RECORD';
  constructor(key: string, why: string, options?: ErrorOptions) {
    super(`The record "${key}" in Redis cannot be read: ${why}.`, options);
  }
}

/**
 * Checks a value that was read. Fields that the schema does not know are left out.
 *
 * @throws {InvalidRecordError} naming `key`, and the first field that is wrong.
 */
export function checkRecord<S extends z.ZodType>(schema: S, value: unknown, key: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const why = issue ? `"${writePath(issue.path)}" ${sayIssue(issue, value)}` : 'it has another form';
  throw new InvalidRecordError(key, why, { cause: parsed.error });
}

/**
 * Parses a record that is stored as JSON.
 *
 * @throws {InvalidRecordError}
 */
export const parseRecord = <S extends z.ZodType>(schema: S, json: string, key: string): z.output<S> =>
  checkRecord(schema, parseJson(json, key), key);

/** @throws {InvalidRecordError} */
export function parseJson(json: string, key: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new InvalidRecordError(key, 'it is not JSON', { cause: error });
  }
}
