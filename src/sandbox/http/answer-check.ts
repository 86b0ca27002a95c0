/** Checks the sandbox's own answers against the strict reading of the contract. */

import { type OperationId, operationOf } from '../../contract/operations.ts';
import { published } from '../../contract/schema.ts';
import { sayIssue, writePath } from '../../schema-issue.ts';

/** Every fault of an answer with its path; empty when the answer matches the contract. */
export function contractFaults(id: OperationId, answer: unknown): string {
  const { answer: schema } = operationOf(id);
  const read = schema && published(schema).safeParse(answer);
  if (read === undefined || read.success) return '';
  return read.error.issues
    .map((issue) => `${writePath(issue.path) || 'the body'} ${sayIssue(issue, answer)}`)
    .join('; ');
}
