/** Holds what the sandbox is about to answer to the contract's strict reading. */

import { type OperationId, operationOf } from '../../contract/operations.ts';
import { published } from '../../contract/schema.ts';
import { sayIssue, writePath } from '../../schema-issue.ts';

/** What is wrong with an answer, every fault with its place; empty when it is as the contract says. */
export function contractFaults(id: OperationId, answer: unknown): string {
  const { answer: schema } = operationOf(id);
  const read = schema && published(schema).safeParse(answer);
  if (read === undefined || read.success) return '';
  return read.error.issues
    .map((issue) => `${writePath(issue.path) || 'the body'} ${sayIssue(issue, answer)}`)
    .join('; ');
}
