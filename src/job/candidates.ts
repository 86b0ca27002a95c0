/**
 * The lists whose items can be candidates, and what one item is called in conditions: `site` in `site.url`.
 */
import { pathParameters } from '../contract/operation.ts';
import { type Item, type ListId, type OperationId, operationOf, operations } from '../contract/operations.ts';

export const candidateLists = {
  listSites: 'site',
  listStagingSites: 'staging',
  listClients: 'client',
  listTags: 'tag',
  listReports: 'report',
  listReportTemplates: 'template',
  listScheduledReports: 'scheduled_report',
  listAutoUpdateSchedules: 'schedule',
  listTasks: 'task',
  listTeamMembers: 'member',
  listManagedAccounts: 'managed_account',
  listSenderEmails: 'sender',
  listBackupDestinations: 'destination',
} as const satisfies Partial<Record<ListId, string>>;

export type CandidateList = keyof typeof candidateLists;

/** The fields by which people recognise an item, best first. */
const names = ['url', 'name', 'title', 'company_name', 'email', 'provider_label', 'type'];

/** The label of an item of any of these lists. */
export function labelOf(item: object): string {
  const values: unknown[] = [...names, 'id'].map((name) => Reflect.get(item, name));
  return values.find((value): value is string => typeof value === 'string' && value !== '') ?? '';
}

/** An item of any of these lists. */
export type AnyItem = { [List in CandidateList]: Item<List> }[CandidateList];

/**
 * The list that a policy takes its candidates from: the job's own list or, for a job that works on any list,
 * the one in `select.from`. The policy loader checks that it is given.
 */
export const candidatesOf = (
  { candidates }: { candidates: CandidateList | 'any' },
  { from }: { from?: CandidateList },
): CandidateList => (candidates === 'any' ? (from ?? 'listSites') : candidates);

/**
 * The operation that shows one item of a list alone, and its parameter: `showSite` and `site_id` for
 * `listSites`.
 */
export function singleViewOf(list: CandidateList): { operation: OperationId; parameter: string } | undefined {
  const prefix = `${operationOf(list).path}/`;
  for (const [operation, { method, path }] of Object.entries(operations)) {
    const [parameter] = pathParameters(path);
    if (method === 'GET' && parameter !== undefined && path === `${prefix}{${parameter}}`) {
      return { operation: operation as OperationId, parameter };
    }
  }
  return undefined;
}
