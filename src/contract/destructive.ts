/** Which operations are destructive, and why: each is marked where it is declared. */
import { type OperationId, operationOf } from './operations.ts';

/** What is lost by the operation, in one sentence; undefined when it is not destructive. */
export const whyDestructive = (id: OperationId): string | undefined => operationOf(id).destructive;

export const isDestructive = (id: OperationId): boolean => whyDestructive(id) !== undefined;
