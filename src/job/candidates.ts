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
  listAutoUpdateHistory: 'auto_update',
  listSiteNotes: 'note',
  listSiteCustomWorks: 'custom_work',
  listSiteActivityLogs: 'activity',
  listSiteSnapshots: 'snapshot',
} as const satisfies Partial<Record<ListId, string>>;

export type CandidateList = keyof typeof candidateLists;

/** What an account has only one of, and what it is called in conditions: the account itself, and its branding. */
export const accountSources = {
  account: 'account',
  showPluginBranding: 'plugin_branding',
  showWpLogin: 'wp_login',
} as const satisfies Record<string, string>;

/** Where candidates can come from: the items of a list, or the one thing of the account. */
export type CandidateSource = CandidateList | keyof typeof accountSources;

export const candidateSources = [
  ...(Object.keys(candidateLists) as CandidateList[]),
  ...(Object.keys(accountSources) as (keyof typeof accountSources)[]),
] as [CandidateSource, ...CandidateSource[]];

/** What a candidate is called in conditions. */
export const subjectOf = (from: CandidateSource): string =>
  isList(from) ? candidateLists[from] : accountSources[from];

/** Whether candidates are the items of a list. */
export const isList = (from: CandidateSource): from is CandidateList => Object.hasOwn(candidateLists, from);

/** The fields by which people recognise an item, best first. */
const names = ['url', 'name', 'title', 'company_name', 'email', 'provider_label', 'type'];

/** The label of an item of any of these lists. */
export function labelOf(item: object): string {
  const values: unknown[] = [...names, 'id'].map((name) => Reflect.get(item, name));
  return values.find((value): value is string => typeof value === 'string' && value.trim() !== '') ?? '';
}

/** The fields of an item that its id is made of. */
export interface Identified {
  id?: string | null | undefined;
  /** A backup destination that is not configured has no id, only its provider. */
  provider?: string | undefined;
  /** A run of an auto update schedule has no id: it is known by its schedule and time. */
  auto_update_schedule?: { id?: string | undefined } | undefined;
  performed_on?: string | undefined;
}

/** The id under which an item of any of these lists is planned and recorded. */
export function idOf({ id, provider, auto_update_schedule: schedule, performed_on }: Identified): string {
  const run = schedule?.id === undefined ? undefined : `${schedule.id}@${performed_on ?? ''}`;
  return id ?? provider ?? run ?? '';
}

/** An item of any of these lists. */
export type AnyItem = { [List in CandidateList]: Item<List> }[CandidateList];

/**
 * The operation that shows one item of a list alone, and the parameter for its id: `showSite` and `site_id` for
 * `listSites`.
 */
export function singleViewOf(list: CandidateList): { operation: OperationId; parameter: string } | undefined {
  const prefix = `${operationOf(list).path}/`;
  for (const [operation, { method, path }] of Object.entries(operations)) {
    if (method !== 'GET' || !path.startsWith(prefix)) continue;
    const [, parameter] = /^\{(\w+)\}$/.exec(path.slice(prefix.length)) ?? [];
    if (parameter !== undefined) return { operation: operation as OperationId, parameter };
  }
  return undefined;
}

/** The list whose items each have such a list: `listSites` for `listSiteNotes`. */
export function parentListOf(list: CandidateList): CandidateList | undefined {
  const [, path] = /^(.*)\/\{\w+\}\/[^/]+$/.exec(operationOf(list).path) ?? [];
  const lists = Object.keys(candidateLists) as CandidateList[];
  return path === undefined ? undefined : lists.find((one) => operationOf(one).path === path);
}

/** The path parameter that names an item of this list: `site_id` for `listSites`. */
export function ownParameter(list: CandidateList): string | undefined {
  const { path } = operationOf(list);
  const operation = Object.values(operations).find((one) => one.path.startsWith(`${path}/{`));
  return operation && pathParameters(operation.path.slice(path.length))[0];
}

/**
 * The id of an item of a list of something else, of which only the parent's id makes it unique: `site-1/note-7`.
 */
export const idWithin = (parent: string, id: string): string => `${escapedId(parent)}/${escapedId(id)}`;

/** The parent's id in the id of such an item; undefined for any other id. */
export function parentIdIn(id: string): string | undefined {
  // All ids that are known are looked at for some pages: most have none.
  const end = id.indexOf('/');
  return end < 0 ? undefined : id.slice(0, end).replace(/%2F/g, '/').replace(/%25/g, '%');
}

const escapedId = (id: string): string => id.replace(/%/g, '%25').replace(/\//g, '%2F');

const SITE = 'site:';
/** The target that stands for a site where the candidates are something else, such as schedules. */
export const targetOfSite = (id: string): string => `${SITE}${id}`;
/** The site that a target stands for, or whose item it is; any other id as it is. */
export const siteIdIn = (target: string): string =>
  target.startsWith(SITE) ? target.slice(SITE.length) : (parentIdIn(target) ?? target);
