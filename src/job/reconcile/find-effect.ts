/**
 * The ways to look for what a lost request made or changed; `probes.ts` declares which operation uses which.
 */
import { createHash } from 'node:crypto';
import { timeOf } from '../../clock.ts';
import type { Answer, Input, Item, ListId, OperationId, Operations } from '../../contract/operations.ts';
import { operationOf } from '../../contract/operations.ts';
import type { Intent } from '../../run/run.ts';
import { type Candidate, createdSince, type Looking, ownOf } from './own-effect.ts';

/** The operations whose effect would happen again with a second request. */
export type OnceId = {
  [Id in OperationId]: Operations[Id] extends { effect: 'once' } ? Id : never;
}[OperationId];

/** Whether an operation is one of those. */
export const isOnce = (id: OperationId): id is OnceId => operationOf(id).effect === 'once';

/** What the account shows about a lost change. `taskId`: the task that it started, which is then followed. */
export type Found = { is: 'found'; taskId?: string } | { is: 'absent' } | { is: 'unknown'; detail: string };

/** What a call may have made or changed. */
interface Changing {
  id?: string;
  updated_at?: string | undefined;
}

/**
 * The ids of the effects of a call, from its answer: notes, tasks, snapshots. For a change to an existing
 * item, the id with the time of the change. For a mail, its report and address, from the `input`.
 */
export function effectIdsIn(operation: OperationId, answer: unknown, input?: unknown): string[] {
  if (operation === 'sendReportEmail') return mailIdsIn(input as SendsMail, answer as Partial<MailSent>);
  const { effect, success } = operationOf(operation);
  const { task, sync, ...rest } = (answer ?? {}) as {
    task?: { id: string };
    sync?: { snapshot_id: string };
  };
  if (effect !== 'once') return [];
  if (task || sync) return [task?.id ?? sync?.snapshot_id].flatMap((id) => (id === undefined ? [] : [id]));
  const items = Object.values(rest).flat() as (Changing | undefined)[];
  return items.flatMap((one) => (success === 201 ? one?.id : versionOf(one)) ?? []);
}

type SendsMail = Input<'sendReportEmail'>;
type MailSent = Answer<'sendReportEmail'>;

function mailIdsIn({ report_id, body }: SendsMail, { send_email }: Partial<MailSent>): string[] {
  const taken = send_email?.recipients ?? body.send_email.recipients;
  return taken.map((email) => mailId(report_id, email));
}

/**
 * The id of a mail: its report and a hash of its address, so that the address is not stored. A report shows
 * only the last mail to each address.
 */
export const mailId = (reportId: string, email: string): string =>
  `${reportId} ${createHash('sha256').update(email.trim().toLowerCase()).digest('base64url').slice(0, 22)}`;

/** The version of an item that changes: its id and the time of its last change. */
function versionOf(one: Changing | undefined): string | undefined {
  const changedAt = timeOf(one?.updated_at);
  return one?.id === undefined || !changedAt ? undefined : `${one.id} ${changedAt.earliest}`;
}

export const found: Found = { is: 'found' };
export const absent: Found = { is: 'absent' };
export const unknown = (detail: string): Found => ({ is: 'unknown', detail });

/**
 * Whether an item shows the requested change. It may have had the requested values before; then the time of
 * its last change shows whose change it was.
 */
export async function changed(
  looking: Looking,
  operation: OnceId,
  intent: Intent,
  isAsAsked: boolean,
  item: Changing,
): Promise<Found> {
  if (!isAsAsked) return absent;
  const version = versionOf(item);
  if (version === undefined) return unknown('It has the requested values, and may have had them before.');
  const candidate = { id: version, createdAt: item.updated_at, isSure: true };
  const own = await ownOf(looking, operation, intent, [candidate]);
  return own.is === 'found' ? found : own;
}

/** Found, unless another target made this change. */
export async function unlessAnothers(
  { effects }: Looking,
  operation: OnceId,
  item: Changing,
): Promise<Found> {
  const version = versionOf(item);
  if (version === undefined || (await effects.claim(operation, version))) return found;
  return unknown('It was changed since, by another run.');
}

export type TaskType =
  | 'staging'
  | 'report'
  | 'download'
  | 'upload'
  | 'migrate'
  | 'download_staging'
  | 'configure_staging_site';

/**
 * Looks for a task of this type, created since the intent, whose input names one of `ids`. The spec shows the
 * input of few types, so a task without ids may be ours or not.
 */
export async function task(
  looking: Looking,
  operation: OnceId,
  type: TaskType,
  ids: readonly string[],
  intent: Intent,
): Promise<Found> {
  const candidates: Candidate[] = [];
  const filters = { type: { eq: type }, ...(await createdSince(looking, intent)) };
  for await (const { id, input, created_at } of looking.all('listTasks', { filters })) {
    const named = (input?.sites ?? []).flatMap((site) => (site.id === undefined ? [] : [site.id]));
    const isSure = named.some((name) => ids.includes(name));
    if (isSure || named.length === 0) candidates.push({ id, createdAt: created_at, isSure });
  }
  const own = await ownOf(looking, operation, intent, candidates, `A task of type ${type}`);
  return own.is === 'found' ? { is: 'found', taskId: own.id } : own;
}

/**
 * Looks for an item of a list, created since the intent, with the values that were sent. Costs one request
 * per 100 items created since.
 */
export async function item<Id extends ListId>(
  looking: Looking,
  operation: OnceId,
  intent: Intent,
  list: Id,
  query: Omit<Input<Id>, 'page' | 'perPage'>,
  isAsAsked: (item: Item<Id>) => boolean | undefined,
): Promise<Found> {
  const candidates: Candidate[] = [];
  for await (const one of looking.all(list, query)) {
    const { id, created_at } = one as { id: string; created_at?: string | null };
    const asAsked = isAsAsked(one);
    // An item that does not show its values may be the one.
    if (asAsked !== false) candidates.push({ id, createdAt: created_at, isSure: asAsked === true });
  }
  const own = await ownOf(looking, operation, intent, candidates);
  return own.is === 'found' ? found : own;
}

/** The same, for a list that can be filtered by the time of creation. */
export async function newItem<Id extends ListId>(
  looking: Looking,
  operation: OnceId,
  intent: Intent,
  list: Id,
  path: object,
  isAsAsked: (item: Item<Id>) => boolean | undefined,
): Promise<Found> {
  const query = { ...path, filters: await createdSince(looking, intent) };
  return item(looking, operation, intent, list, query as never, isAsAsked);
}

/**
 * Whether a text that the service shows is the one that was sent, ignoring case and outer spaces; undefined
 * when it shows none.
 */
export const same = (shown: string | null | undefined, sent: string | undefined): boolean | undefined =>
  shown === undefined ? undefined : shown?.trim().toLowerCase() === sent?.trim().toLowerCase();

/** Whether a value that the service shows is the one that was sent; undefined when it shows none. */
export const equal = <T>(shown: T | undefined, sent: T): boolean | undefined =>
  shown === undefined ? undefined : shown === sent;

/** A staging site's task may name the copy or the live site it was made from. */
export async function stagingTask(
  looking: Looking,
  operation: OnceId,
  type: TaskType,
  staging_site_id: string,
  intent: Intent,
): Promise<Found> {
  const { staging_site } = await looking.api.showStagingSite({ staging_site_id });
  const ids = [staging_site_id, staging_site.site_id ?? staging_site_id];
  return task(looking, operation, type, ids, intent);
}

/** Whether all parts match: false when one does not, undefined when one is not shown. */
export function all(...parts: readonly (boolean | undefined)[]): boolean | undefined {
  if (parts.includes(false)) return false;
  return parts.includes(undefined) ? undefined : true;
}
