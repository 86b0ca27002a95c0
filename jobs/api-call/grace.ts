/** `grace`: a destructive call is announced on the site of its target before it is made. */
import { createHash } from 'node:crypto';
import { isDestructive, isOperationId, type OperationId } from '../../src/contract/operations.ts';
import type { Answer, End } from '../../src/job/answer.ts';
import { type Identified, idOf, idWithin, isList } from '../../src/job/candidates.ts';
import { fieldsOfItem } from '../../src/job/fields.ts';
import { announcingChanges, formatUtc } from '../../src/job/grace/announcement.ts';
import { closeChange, type GracedChange } from '../../src/job/grace/grace.ts';
import type { Acting, Items, OptionFault } from '../../src/job/job.ts';
import { formatDuration } from '../../src/job/options.ts';
import { shown } from '../../src/job/shown.ts';
import type { Source } from '../../src/job/source.ts';
import type { CallTemplate } from './call-template.ts';

/** An announcement is remembered for 100 days, so a longer one could be forgotten before its date. */
export const MAX_GRACE_MS = 90 * 86_400_000;

/** Everything that is wrong with `grace` for an operation. */
export function graceFaults(operation: string, grace: number | undefined): OptionFault[] {
  if (grace === undefined || !isOperationId(operation)) return [];
  if (!isDestructive(operation)) {
    const message = `"grace" announces destructive calls, and ${operation} is not destructive.`;
    return [{ path: ['grace'], at: 'key', message, suggestion: 'remove it', form: true }];
  }
  if (grace <= MAX_GRACE_MS) return [];
  return [{ path: ['grace'], message: `"grace" can be at most ${formatDuration(MAX_GRACE_MS)}.` }];
}

/** The operations that the call and its announcement need; a call may have been announced before. */
export const changesOf = ({ operation }: { operation: string }) => [
  operation as OperationId,
  ...(isDestructive(operation as OperationId) ? announcingChanges : []),
];

/**
 * The site on which the change of a candidate is announced; undefined for an item of a list without sites.
 *
 * @throws {NotShownError} when the item does not show its site.
 */
export function siteOf(items: Items, { from, subject, parent }: Source): string | undefined {
  const { id, site_id } = items[subject] as { id?: string | null; site_id?: string };
  if (parent) return (items[parent.subject] as { id: string }).id;
  if (from === 'listSites') return id ?? undefined;
  if (!isList(from) || !Object.hasOwn(fieldsOfItem(from), 'site_id')) return undefined;
  return shown(site_id, `${subject}.site_id`);
}

/** The id under which an item is a target. */
export const targetIdOf = (item: Identified, items: Items, { parent }: Source): string =>
  parent ? idWithin(idOf(items[parent.subject] as Identified), idOf(item)) : idOf(item);

/** The call for one target, for its announcement. */
export function changeOf(
  { target, runContext: { policy } }: Pick<Acting<unknown>, 'target' | 'runContext'>,
  call: CallTemplate,
  graceMs: number,
  siteId: string | undefined,
): GracedChange {
  return {
    siteId,
    ...announcementIdFor(policy, call, target.id),
    operation: call.operation,
    graceMs,
    headline: (from) =>
      `Caretaker's policy "${policy}" calls ${call.operation} for ${target.label} (${target.id}) on or after ${from}, if it still selects it then.`,
    summary: (from) => `${call.operation} is to be called on or after ${from}.`,
  };
}

/** Identifies the announcement of a call. A call that the policy declares differently is another one. */
export function announcementIdFor(policy: string, { operation, params, body }: CallTemplate, target: string) {
  const details = params || body ? JSON.stringify({ params, body }) : undefined;
  const hash = details && createHash('sha256').update(details).digest('hex').slice(0, 8);
  return { marker: `caretaker ${policy}`, about: [operation, target, hash ?? []].flat().join(' ') };
}

/** An announced call that was made: its announcement is to be closed. */
export interface Closing {
  noteId?: string;
  /** How the target ends; absent when that is the end of the work that the call started. */
  end?: Pick<End, 'reason' | 'detail'>;
}

/** The answer to an announced call, with a last step that closes the announcement when the call succeeded. */
export function thenClose<State extends object>(
  answer: Answer<State>,
  state: State,
  noteId: string | undefined,
): Answer<State & { closing: Closing }> {
  const note = noteId === undefined ? {} : { noteId };
  if (answer.is === 'following') return { ...answer, next: { ...state, closing: note } };
  if (answer.is === 'next') return { is: 'next', state: { ...answer.state, closing: note } };
  if (answer.is !== 'done') return answer;
  const { reason, detail } = answer;
  const end = { reason, ...(detail === undefined ? {} : { detail }) };
  return { is: 'next', state: { ...state, closing: { ...note, end } } };
}

/**
 * Closes the announcement of a call, and ends the target. When the work that the call started has failed, the
 * announcement stays, and a later run makes the call again.
 */
export async function closeCall(
  acting: Pick<Acting<unknown>, 'api' | 'once' | 'announcements' | 'target' | 'runContext' | 'now' | 'ended'>,
  call: CallTemplate,
  change: GracedChange,
  closing: Closing,
): Promise<End> {
  const end = endOf(acting, closing);
  if (end.is !== 'done') return end;
  const { target, runContext, now } = acting;
  const text = `Caretaker's policy "${runContext.policy}" called ${call.operation} for ${target.label} (${target.id}) on ${formatUtc(now)}, as announced.`;
  const refusal = await closeChange(acting, change, closing.noteId, text);
  return withClosing(end, call, refusal);
}

/** How a target ends whose announcement is closed. */
export function endOf({ ended }: Pick<Acting<unknown>, 'ended'>, { end }: Closing): End {
  const found: End | undefined = end ? { is: 'done', ...end } : ended;
  if (!found) throw new Error('A call is being closed that has not ended.');
  return found;
}

/** A destructive call is also a finding, so that a run reports each on its own line. */
export function withClosing(end: End, { operation }: CallTemplate, refusal?: string): End {
  const about = 'announced';
  const findings = [{ severity: 'info' as const, about, message: `${operation} was called, as announced.` }];
  if (refusal === undefined) return { ...end, findings };
  const message = `The note that announced it could not be updated: ${refusal}`;
  return { ...end, findings: [...findings, { severity: 'warning', about, message }] };
}
