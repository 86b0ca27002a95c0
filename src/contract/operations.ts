/** The whole interface of the service: every operation of spec section 4, by its name there. */
import { z } from 'zod';
import type { List, ListQuery, Operator, Scalar } from './list.ts';
import type { Operation, PathParameters } from './operation.ts';
import { activityLogOperations } from './operations/activity-logs.ts';
import { autoUpdateOperations } from './operations/auto-updates.ts';
import { backupDestinationOperations } from './operations/backup-destinations.ts';
import { backupOperations } from './operations/backups.ts';
import { brandingOperations } from './operations/branding.ts';
import { clientOperations } from './operations/clients.ts';
import { customWorkOperations } from './operations/custom-works.ts';
import { managedAccountOperations } from './operations/managed-accounts.ts';
import { noteOperations } from './operations/notes.ts';
import { reportTemplateOperations } from './operations/report-templates.ts';
import { reportOperations } from './operations/reports.ts';
import { scheduledReportOperations } from './operations/scheduled-reports.ts';
import { senderEmailOperations } from './operations/sender-emails.ts';
import { siteOperations } from './operations/sites.ts';
import { snapshotOperations } from './operations/snapshots.ts';
import { stagingSiteOperations } from './operations/staging-sites.ts';
import { tagOperations } from './operations/tags.ts';
import { taskOperations } from './operations/tasks.ts';
import { teamMemberOperations } from './operations/team-members.ts';
import { schemaUnder } from './schema.ts';

export const operations = {
  ...clientOperations,
  ...managedAccountOperations,
  ...backupDestinationOperations,
  ...senderEmailOperations,
  ...brandingOperations,
  ...autoUpdateOperations,
  ...taskOperations,
  ...reportOperations,
  ...reportTemplateOperations,
  ...scheduledReportOperations,
  ...teamMemberOperations,
  ...tagOperations,
  ...stagingSiteOperations,
  ...siteOperations,
  ...customWorkOperations,
  ...noteOperations,
  ...activityLogOperations,
  ...snapshotOperations,
  ...backupOperations,
} as const satisfies Record<string, Operation>;

export type Operations = typeof operations;
export type OperationId = keyof Operations;
export const operationIds = Object.keys(operations) as readonly OperationId[];

/** An operation with the table's general type, for code that works on any operation. */
export const operationOf = (id: OperationId): Operation => operations[id];

/** Whether an operation on several items may succeed and still refuse some of them (spec 7). */
export function refusesItems(id: OperationId): boolean {
  const { answer } = operationOf(id);
  if (!(answer instanceof z.ZodObject)) return false;
  return Object.keys(answer.shape).some((name) => {
    const part = schemaUnder(answer, name);
    return part !== undefined && schemaUnder(part, 'errors') !== undefined;
  });
}

/** Whether a text from outside is the name of an operation. */
export const isOperationId = (word: string): word is OperationId => Object.hasOwn(operations, word);

type FilterQuery<L extends List> = {
  [F in keyof L['filters']]?: {
    [P in L['filters'][F]['operators'][number] & Operator]?: P extends 'in' ? readonly Scalar[] : Scalar;
  };
};
type QueryOf<O extends Operation> = O extends { list: infer L extends List }
  ? Omit<ListQuery, 'filters'> & { filters?: FilterQuery<L> }
  : O extends { query: infer Q extends z.ZodType }
    ? z.input<Q>
    : object;
type BodyOf<O extends Operation> = O extends { body: infer B extends z.ZodType }
  ? O extends { bodyRequired: true }
    ? { body: z.input<B> }
    : { body?: z.input<B> }
  : object;

/** The input of a call: path parameters, list query or query fields, and the body, all by name. */
export type Input<Id extends OperationId> = PathParameters<Operations[Id]> &
  QueryOf<Operations[Id]> &
  BodyOf<Operations[Id]>;

/** The answer of a call, read leniently; undefined for a 204. */
export type Answer<Id extends OperationId> = Operations[Id] extends { answer: infer A extends z.ZodType }
  ? z.output<A>
  : undefined;

/** The operations that list items, in pages or as a whole. */
export type ListId = { [Id in OperationId]: Operations[Id] extends { list: List } ? Id : never }[OperationId];

/** One item of a list operation. */
export type Item<Id extends ListId> = Operations[Id] extends { list: { key: infer K extends string } }
  ? Answer<Id> extends { [P in K]: readonly (infer I)[] }
    ? I
    : never
  : never;

/** What is lost by the operation, in one sentence; undefined when it is not destructive. */
export const whyDestructive = (id: OperationId): string | undefined => operationOf(id).destructive;

export const isDestructive = (id: OperationId): boolean => whyDestructive(id) !== undefined;
