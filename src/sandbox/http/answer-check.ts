/** Holds what the sandbox is about to answer to the contract's strict reading. */
import type { z } from 'zod';
import { type OperationId, operationOf } from '../../contract/operations.ts';
import { published } from '../../contract/schema.ts';

const strict = new Map<OperationId, z.ZodType | undefined>();

/** What is wrong with an answer; empty when it is as the contract says. */
export function contractFaults(id: OperationId, answer: unknown): string {
  if (!strict.has(id)) {
    const { answer: schema } = operationOf(id);
    strict.set(id, schema && published(schema));
  }
  const read = strict.get(id)?.safeParse(answer);
  return read === undefined || read.success ? '' : describeFaults(read.error);
}

/** Every fault with its place, in one line. */
export const describeFaults = (error: z.ZodError): string =>
  error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`).join('; ');
