/**
 * Reversible calls: a policy with `undoable` records for each target whether its call really changed it, and a
 * policy with `undo_of` reverses only those changes.
 *
 * The record is a key of `Once`, by policy, setting and item. It is written before the request and completed
 * after the answer. So a request whose answer was lost, and that was never confirmed, counts as unknown, and what
 * is unknown is not reversed.
 */
import { isOperationId, type OperationId } from '../../src/contract/operations.ts';
import type { Answer, End } from '../../src/job/answer.ts';
import type { Api } from '../../src/job/api.ts';
import type { Acting, Holder, OptionFault, OtherPolicy, RequiredPolicy } from '../../src/job/job.ts';

type Input = Readonly<Record<string, unknown>>;

/** A setting that one operation sets and another clears. */
interface Setting {
  name: string;
  on: OperationId;
  off: OperationId;
  /** The ids of what is set. */
  ids(input: Input): readonly string[];
  /** Whether it is set now; undefined when the service does not show it. One request. */
  read(api: Api, input: Input): Promise<boolean | undefined>;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const taggedSites = ({ body }: Input): string[] =>
  ((body as { site_ids?: unknown[] } | undefined)?.site_ids ?? []).map(text);

const settings: readonly Setting[] = [
  {
    name: 'activity logs',
    on: 'enableSiteActivityLogs',
    off: 'disableSiteActivityLogs',
    ids: ({ site_id }) => [text(site_id)],
    read: async (api, { site_id }) =>
      (await api.showSite({ site_id: text(site_id) })).site.activity_logs?.enabled,
  },
  {
    name: 'auto update schedule',
    on: 'enableAutoUpdateSchedule',
    off: 'disableAutoUpdateSchedule',
    ids: (input) => [text(input['auto_update_schedule_id'])],
    async read(api, input) {
      const auto_update_schedule_id = text(input['auto_update_schedule_id']);
      const { status } = (await api.showAutoUpdateSchedule({ auto_update_schedule_id })).auto_update_schedule;
      return status === undefined ? undefined : status === 'active';
    },
  },
  {
    name: 'tag',
    on: 'assignTag',
    off: 'removeTag',
    ids: (input) => [text(input['tag_id']), ...taggedSites(input)],
    async read(api, input) {
      const { tags } = (await api.showSite({ site_id: taggedSites(input)[0] ?? '' })).site;
      return tags?.some(({ id }) => id === input['tag_id']);
    },
  },
];

const settingOf = (operation: string): Setting | undefined =>
  settings.find(({ on, off }) => on === operation || off === operation);

/** Whether the call of an operation can be reversed. */
export const canBeUndone = (operation: string): boolean => settingOf(operation) !== undefined;

export interface UndoOptions {
  undoable?: true | undefined;
  undo_of?: string | undefined;
}

export function undoFaults(
  operation: string,
  { undoable, undo_of }: UndoOptions,
  body: unknown,
): OptionFault[] {
  const key = undoable ? 'undoable' : 'undo_of';
  // What is no operation, such as a placeholder without a value, is reported where it stands.
  if (!isOperationId(operation) || (!undoable && undo_of === undefined)) return [];
  if (undoable && undo_of !== undefined)
    return [{ path: ['undo_of'], at: 'key', message: '"undo_of" cannot be used together with "undoable".' }];
  const known = settings.map(({ on, off }) => `${on} and ${off}`).join(', ');
  if (!canBeUndone(operation)) {
    const message = `"${key}" does not apply to ${operation}, only to ${known}.`;
    return [{ path: [key], at: 'key', message, form: true }];
  }
  const sites = (body as { site_ids?: unknown } | undefined)?.site_ids;
  if (Array.isArray(sites) && sites.length !== 1)
    return [{ path: ['body', 'site_ids'], message: `With "${key}", "site_ids" must have one entry.` }];
  return [];
}

/** A call of a policy, as far as reversing it is concerned. */
interface Call extends UndoOptions {
  operation: string;
  params?: Input | undefined;
}

/** The policy that `undo_of` names: it has to be there, and to record what this call reverses. */
export const undoRequires = (call: Call): RequiredPolicy[] =>
  call.undo_of === undefined
    ? []
    : [{ path: ['undo_of'], policy: call.undo_of, fault: (other, own) => whyNoUndoOf(call, other, own) }];

function whyNoUndoOf(
  { operation, params }: Call,
  { name, account, jobs }: OtherPolicy,
  own: Pick<OtherPolicy, 'account'>,
): ReturnType<RequiredPolicy['fault']> {
  const setting = settingOf(operation);
  const calls = jobs.flatMap(({ job, options }) => (job === 'api-call' ? [options as Call] : []));
  const recorded = calls.filter(({ undoable }) => undoable);
  const wanted = setting?.on === operation ? setting.off : setting?.on;
  const reversed = recorded.filter((call) => call.operation === wanted);
  if (recorded.length === 0) {
    const message = `The policy "${name}" has no call with "undoable", so it records nothing that could be reversed.`;
    const isPair = calls.some((call) => call.operation === wanted);
    return { message, suggestion: isPair ? `add undoable: true to its call` : undefined };
  }
  if (reversed.length === 0) {
    const [first = { operation: '' }] = recorded;
    const pair = settingOf(first.operation);
    const inverse = pair?.on === first.operation ? pair.off : pair?.on;
    const message = `${operation} does not reverse ${first.operation}, which the policy "${name}" calls.`;
    return { message, suggestion: inverse && `call ${inverse}` };
  }
  if (account !== own.account) {
    const message = `The policy "${name}" works in the account "${account}", and this one in "${own.account}".`;
    return { message, suggestion: 'use the same account in both' };
  }
  if (reversed.some((call) => mayBeSame(call.params, params))) return undefined;
  const message = `The policy "${name}" calls ${wanted} with other "params", so this call reverses nothing of it.`;
  return { message, suggestion: 'use the same params in both' };
}

/** Whether two calls can have the same parameters. A name, an id and an expression can stand for the same. */
function mayBeSame(one: Input = {}, other: Input = {}): boolean {
  const formOf = (value: unknown) => (typeof value === 'object' ? Object.keys(value ?? {}).join() : 'id');
  return Object.entries(one).every(([name, value]) => {
    const its = other[name];
    if (its === undefined || formOf(value) !== formOf(its) || formOf(value) === 'cel') return true;
    return typeof value === 'object'
      ? JSON.stringify(value) === JSON.stringify(its)
      : String(value) === String(its);
  });
}

/** The request was about to be sent; the service has confirmed it; the change was reversed. */
const SENDING = 'sending';
const CHANGED = 'changed';
const UNDONE = 'undone';

type Reversing = Pick<Acting<unknown>, 'api' | 'once' | 'runContext'>;

/** A call that is recorded, or that reverses a recorded one. */
interface Reversible {
  operation: OperationId;
  input: Input;
  options: UndoOptions;
}

/** The keys of the change by a policy, and of the attempt to reverse it. */
const keysOf = (policy: string, { name, ids }: Setting, input: Input) => {
  const of = [policy, name, ...ids(input)].join('\n');
  return { change: `change\n${of}`, attempt: `undo\n${of}` };
};

/**
 * Records that the call is about to be made. Gives the answer of the target instead when nothing may be sent.
 * Costs one request, or none when the records decide.
 */
export async function beginReversible(
  { once, api, runContext }: Reversing,
  { operation, input, options: { undoable, undo_of: policy } }: Reversible,
): Promise<Answer<never> | undefined> {
  const setting = settingOf(operation);
  if (!setting || (!undoable && policy === undefined)) return undefined;
  const keys = keysOf(policy ?? runContext.policy, setting, input);
  const change = await once.holder(keys.change);
  const attempt = policy === undefined ? undefined : await once.holder(keys.attempt);
  // This target has begun before, and the answer was lost or the service was busy: the call is made again.
  if (policy === undefined ? change?.isOurs && change.result === SENDING : attempt?.isOurs) return undefined;
  const refusal = policy === undefined ? undefined : whyNotUndone(policy, change, attempt);
  if (refusal) return refusal;
  const isSet = await setting.read(api, input);
  if (isSet === undefined) return skipped('The service does not show its present state.');
  if (isSet === (setting.on === operation)) {
    const detail = policy === undefined ? 'It was so before the call.' : 'It was reversed already.';
    return { is: 'done', reason: 'already-done', detail };
  }
  const key = policy === undefined ? keys.change : keys.attempt;
  const { isOurs } = await once.claim(key, policy === undefined ? change : attempt);
  if (!isOurs) return { is: 'waiting', reason: 'conflict', detail: 'Another run is changing it.' };
  if (policy === undefined) await once.note(key, SENDING);
  return undefined;
}

/** Completes the record of a call that the service has confirmed. */
export async function completeReversible(
  { once, runContext }: Reversing,
  { operation, input, options: { undoable, undo_of: policy } }: Reversible,
): Promise<void> {
  const setting = settingOf(operation);
  if (!setting || (!undoable && policy === undefined)) return;
  const { change } = keysOf(policy ?? runContext.policy, setting, input);
  if (policy === undefined) return once.note(change, CHANGED);
  await once.claim(change, await once.holder(change));
  await once.note(change, UNDONE);
}

/**
 * The end of a call whose answer was lost, when the service shows that it was made: before it was sent, the service
 * showed the opposite. Unknown when the service does not show it: it may refuse a repeated call. Undefined when the call
 * is to be sent again, and for one that is not recorded. One request.
 */
export async function reconcileReversible(
  acting: Reversing,
  reversible: Reversible,
): Promise<End | { is: 'unknown' } | undefined> {
  const { operation, input, options } = reversible;
  const setting = settingOf(operation);
  if (!setting || (!options.undoable && options.undo_of === undefined)) return undefined;
  const isSet = await setting.read(acting.api, input);
  if (isSet === undefined) return { is: 'unknown' };
  if (isSet !== (setting.on === operation)) return undefined;
  await completeReversible(acting, reversible);
  return { is: 'done', reason: 'done' };
}

/** Why a change is not reversed; undefined when the records show that the policy made it. */
function whyNotUndone(
  policy: string,
  change: Holder | undefined,
  attempt: Holder | undefined,
): Answer<never> | undefined {
  const active = [change, attempt].find((one) => one && !one.isOurs && one.endedAt === undefined);
  if (active) return { is: 'waiting', reason: 'conflict', detail: `The run ${active.run} is changing it.` };
  if (!change) return skipped(`The records do not show that the policy ${policy} changed it.`);
  if (change.result === UNDONE)
    return skipped(`The change by the policy ${policy} was reversed by the run ${change.run}.`);
  if (change.result !== CHANGED)
    return skipped(`It is not known whether the run ${change.run} of the policy ${policy} changed it.`);
  // An attempt that the service refused had no effect.
  const isOpen = attempt && attempt.at >= change.at && !refusals.includes(attempt.reason ?? '');
  return isOpen ? skipped(`It is not known whether the run ${attempt.run} has reversed it.`) : undefined;
}

const refusals = ['conflict', 'rejected'];

const skipped = (detail: string): End => ({ is: 'skipped', reason: 'not-eligible', detail });
