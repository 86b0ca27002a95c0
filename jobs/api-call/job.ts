/**
 * Calls one operation of the service for each target of any list. It covers work that has no job of its own.
 *
 * The call is checked against the contract when the policy is loaded, and again for each candidate with the
 * candidate's values. `docs/reliability.md` shows for each operation how a lost answer is reconciled.
 */
import { z } from 'zod';
import { deletes } from '../../src/contract/operation.ts';
import { isDestructive, type OperationId, operationOf } from '../../src/contract/operations.ts';
import { defined } from '../../src/defined.ts';
import { ExpressionError } from '../../src/expression/expression.ts';
import type { Answer, Reconciled } from '../../src/job/answer.ts';
import { type Identified, idOf, labelOf } from '../../src/job/candidates.ts';
import {
  announcementKey,
  awaitGrace,
  isClosed,
  parseMemory,
  reconcileAnnouncement,
} from '../../src/job/grace/grace.ts';
import { announcementsFor, planOf } from '../../src/job/grace/plan.ts';
import { reconcileWithdrawal, Withdrawal, withdraw, withdrawals } from '../../src/job/grace/withdraw.ts';
import { type Acting, defineJob, type Evaluation, type ExtraTarget, type Intent } from '../../src/job/job.ts';
import { duration } from '../../src/job/options.ts';
import { problemWith } from '../../src/job/problem.ts';
import { isOnce } from '../../src/job/reconcile/find-effect.ts';
import { findSync } from '../../src/job/reconcile/find-sync.ts';
import { probeEffect } from '../../src/job/reconcile/probes.ts';
import { findReplacement, lastingIdOf } from '../../src/job/reconcile/replaced-item.ts';
import { probeState } from '../../src/job/reconcile/wanted-state.ts';
import type { Verification, Verifying } from '../../src/job/verify.ts';
import { canonicalJson } from '../../src/text.ts';
import { afterAnswer, endAfterError, endOfOther, namesTargetAlone, type ServiceAnswer } from './answers.ts';
import { callSchemas, changes, confirmFaults } from './call-schema.ts';
import {
  type CallTemplate,
  checkCall,
  compileCall,
  expressionsInCall,
  idsInCall,
  inputOf,
  namesInCall,
} from './call-template.ts';
import {
  announcementIdFor,
  changeOf,
  changesOf,
  closeCall,
  endOf,
  graceFaults,
  siteOf,
  targetIdOf,
  thenClose,
  withClosing,
} from './grace.ts';
import { claimCall, compileKey, keyExpressions, keyFaults, keyFor, noteCall } from './once.ts';
import { endOfChanged, lastChangeOf, looksFirst, valueBefore } from './unchanged.ts';
import {
  beginReversible,
  completeReversible,
  reconcileReversible,
  undoFaults,
  undoRequires,
} from './undo.ts';

const Options = z
  .strictObject({
    operation: z
      .string()
      .meta({
        title: 'name of an operation',
        anyOf: changes.map(([id, { summary }]) => ({ const: id, description: summary })),
      })
      .describe('The operation, by its name in the service, such as enableSiteActivityLogs.'),
    params: z
      .optional(z.record(z.string(), z.unknown()))
      .describe(
        'Its parameters by name. The id of the target itself is filled in; any other value may be `{ cel: ... }`, and the id of a tag, client, ... may be `{ name: ... }`. Default none.',
      ),
    body: z
      .optional(z.record(z.string(), z.unknown()))
      .describe(
        'The body of the request, as the service defines it; any value may be `{ cel: ... }`, and the id of a tag, client, ... may be `{ name: ... }`. Default none.',
      ),
    confirm: z
      .optional(z.string())
      .describe('The name of the operation again, which is required if it is destructive. Default none.'),
    grace: z
      .optional(duration(60_000))
      .describe(
        'How long a destructive call is announced before it is made, in a note on the site: at most 90d. Default: it is made at once.',
      ),
    undoable: z
      .optional(z.literal(true))
      .describe(
        'Record for each target whether the call changed anything, so that another policy can reverse it with `undo_of`. Costs one more request for each target. Default: nothing is recorded.',
      ),
    undo_of: z
      .optional(z.string().min(1))
      .describe(
        'The name of a policy with `undoable`: the call is made only for targets that this policy changed. Default: for all targets.',
      ),
    once: z
      .optional(z.string().min(1).max(200))
      .describe(
        'A key: the call is made at most once for each target and key, in whichever run. `{{ ... }}` holds a CEL expression over the candidate, `run.policy` and `run.date`. Default none: each run makes the call.',
      ),
  })
  .meta({
    // They take 20 ms, and only the JSON Schema needs them.
    get allOf() {
      return callSchemas();
    },
  });
type Options = z.output<typeof Options>;

const State = z.object({
  /** The values from the target, each with its path in the call. */
  fills: z.array(z.tuple([z.array(z.union([z.string(), z.number()])), z.unknown()])),
  /** The key of `once` for the target. */
  once: z.exactOptional(z.string()),
  /** What the target is known by when the service replaces it and gives it a new id. */
  lasting: z.exactOptional(z.string()),
  /** When a note or an entry of custom work was last changed before the plan. */
  lastChange: z.exactOptional(z.string()),
  /** The site that the call is announced on. */
  siteId: z.exactOptional(z.string()),
  /** When the last run began that did not select the target, if that was the last one. */
  missedAt: z.exactOptional(z.number()),
  /** The target is an announcement that is to be withdrawn. */
  withdraws: z.exactOptional(Withdrawal),
  /** The announced call was made: its announcement has to be closed. */
  closing: z.exactOptional(
    z.object({
      noteId: z.exactOptional(z.string()),
      end: z.exactOptional(z.object({ reason: z.string(), detail: z.exactOptional(z.string()) })),
    }),
  ),
});
type State = z.output<typeof State>;
type Step = Acting<Options, State>;

/** The fields of a list item that this job reads. */
interface Item extends Identified {
  site_id?: string | undefined;
}

export const apiCall = defineJob({
  name: 'api-call',
  summary: 'Calls one operation of the service for each target of any list.',
  options: Options,
  check: ({ confirm, once, grace, undoable, undo_of, ...call }, { source }) => [
    ...checkCall(call, source),
    ...undoFaults(call.operation, { undoable, undo_of }, call.body),
    ...graceFaults(call.operation, grace),
    ...keyFaults(once, source),
    ...confirmFaults(call.operation, confirm),
  ],
  names: (options) => namesInCall(callOf(options)),
  ids: (options) => idsInCall(callOf(options)),
  expressions: (options, source) => [
    ...expressionsInCall(callOf(options), source),
    ...keyExpressions(options.once, source),
  ],
  requires: (options) => undoRequires(options),
  changes: (options: Options) => changesOf(options),
  verified: ({ operation, undoable, undo_of }) => verifiedCall(operation as OperationId, undoable ?? undo_of),
  verify: verifyCall,
  candidates: 'any',
  state: State,
  target: (item: Item) => ({
    id: idOf(item),
    label: labelOf(item),
    ...defined({ site: item.site_id }),
  }),
  prepare: async ({ options, source, runContext, ...preparing }) => ({
    source,
    announced: await announcementsFor(options.grace, preparing, (target) =>
      announcementIdFor(runContext.policy, callOf(options), target),
    ),
    call: compileCall(callOf(options), source),
    ...(options.once === undefined ? {} : { key: compileKey(options.once, source) }),
  }),
  evaluate(
    item: Item,
    { prepared: { source, call, key, announced }, options, retry, runContext, now: ourNow, serviceNow },
    items,
  ): Evaluation<State> {
    const now = new Date(serviceNow);
    const filled = call.fill(items, { now, timezone: runContext.timezone });
    if ('missing' in filled) return { is: 'ineligible', why: filled.missing };
    const siteId = options.grace === undefined ? undefined : siteOf(items, source);
    const id = targetIdOf(item, items, source);
    const missedAt = retry ? undefined : announced.missedAt(id);
    const lastChange = lastChangeOf(callOf(options).operation, source, items);
    const lasting = lastingIdOf(source, items);
    const state = {
      ...filled,
      ...defined({ lasting, siteId, missedAt, lastChange }),
    };
    const plan =
      options.grace === undefined ? {} : { plan: planOf(announced.known.get(id), options.grace, ourNow) };
    if (!key) return { is: 'target', state, ...plan };
    try {
      const once = keyFor(key, items, runContext, now);
      return { is: 'target', state: { ...state, once }, ...plan };
    } catch (error) {
      if (error instanceof ExpressionError) return { is: 'ineligible', why: error.message };
      throw error;
    }
  },
  extraTargets: ({ prepared: { announced }, options, isSelected }): Iterable<ExtraTarget<State>> =>
    isDestructive(options.operation as OperationId)
      ? withdrawals(announced, isSelected, (withdraws) => ({ fills: [], withdraws }))
      : [],
  requestsPerTarget(options) {
    const { operation } = callOf(options);
    const look = valueBefore[operation] || looksFirst(operation) ? 1 : 0;
    const reads = options.undoable || options.undo_of !== undefined ? 1 : 0;
    return 1 + look + reads + (options.grace === undefined ? 0 : 2);
  },

  async act(acting): Promise<Answer<State>> {
    const { options, state } = acting;
    if (state?.withdraws) return withdraw(acting, state.withdraws);
    const change = announcedOf(acting);
    if (!change || !state) return makeCall(acting);
    if (state.closing) return closeCall(acting, callOf(options), change, state.closing);
    const instead = await claimCall(acting, keyedCallOf(acting));
    if (instead) return instead;
    const awaited = await awaitGrace(acting, change);
    return awaited.is === 'due' ? thenClose(await makeCall(acting), state, awaited.noteId) : awaited;
  },

  async reconcile(acting, intent): Promise<Reconciled<State>> {
    const { state, options, once } = acting;
    if (state?.withdraws) return reconcileWithdrawal(acting, state.withdraws, intent);
    const change = announcedOf(acting);
    if (!change || !state) return reconcileCall(acting, intent);
    if (state.closing) {
      const isDone = await isClosed(acting, change, state.closing.noteId ?? '');
      return isDone ? withClosing(endOf(acting, state.closing), callOf(options)) : { is: 'absent' };
    }
    // The call itself is destructive, so these two can only be about its announcement.
    if (intent.operation === 'createSiteNote' || intent.operation === 'updateSiteNote')
      return (await reconcileAnnouncement(acting, change, intent)) ?? { is: 'absent' };
    const found = await reconcileCall(acting, intent);
    if (found.is === 'absent' || found.is === 'unknown') return found;
    const holder = await once.holder(announcementKey(change));
    return thenClose(found, state, parseMemory(holder?.result)?.noteId);
  },
});

/** A call that takes back itself, or can be taken back, is verified only if it is destructive; a sync does no harm. */
const verifiedCall = (operation: OperationId, undo: unknown): OperationId[] =>
  isDestructive(operation) || (undo === undefined && operation !== 'syncSite') ? [operation] : [];

/** Whether the values that the call takes from its target are those that were planned. */
async function verifyCall({
  options,
  source,
  runContext,
  plannedAt,
}: Verifying<Options, State>): Promise<Verification<State>> {
  const call = compileCall(callOf(options), source);
  const at = { now: new Date(plannedAt), timezone: runContext.timezone };
  return {
    readsItems: call.readsItems,
    takesBack: ({ state }) => state.withdraws !== undefined,
    differs({ state }, items) {
      if (!items || !call.readsItems) return undefined;
      const filled = call.fill(items, at);
      if ('missing' in filled) return filled.missing;
      const changed = filled.fills.find((fill, i) => canonicalJson(fill) !== canonicalJson(state.fills[i]));
      return changed && `The value of ${changed[0].join('.')} is not the one that was planned.`;
    },
  };
}

/** The call for its announcement; undefined when the policy does not announce it. */
const announcedOf = (acting: Step) => {
  const { options, state } = acting;
  return options.grace === undefined
    ? undefined
    : { ...changeOf(acting, callOf(options), options.grace, state?.siteId), missedAt: state?.missedAt };
};

/** What a target sends, with its key of `once`. */
const keyedCallOf = ({ options, state }: Step) => {
  const call = callOf(options);
  return {
    operation: call.operation,
    input: inputOf(call, state?.fills ?? []),
    key: state?.once,
    lasting: state?.lasting,
  };
};

async function makeCall(acting: Step, input = keyedCallOf(acting).input): Promise<Answer<State>> {
  const { api, options, state } = acting;
  const call = callOf(options);
  const keyed = { ...keyedCallOf(acting), input };
  const instead = await claimCall(acting, keyed);
  if (instead) return instead;
  const reversible = { operation: call.operation, input, options };
  let isBegun = false;
  const noted = async <Result extends Answer<State>>(answer: Result) => {
    if (isBegun && answer.is === 'done') await completeReversible(acting, reversible);
    return noteCall(acting, keyed, answer);
  };
  try {
    const lastChange = state?.lastChange;
    const changed =
      lastChange === undefined || !namesTargetAlone({ ...acting, ...call }, input)
        ? undefined
        : await endOfChanged(api, call.operation, input, lastChange);
    if (changed) return await noted(changed);
    const unneeded = await beginReversible(acting, reversible);
    if (unneeded) return unneeded;
    isBegun = true;
    const send = api[call.operation] as (input: object, note?: string) => Promise<unknown>;
    const before = await valueBefore[call.operation]?.(api, input as never);
    return await noted(
      afterAnswer({ ...acting, ...call }, input, ((await send(input, before)) ?? {}) as ServiceAnswer),
    );
  } catch (error) {
    const instead = await callUnderNewId(acting, input, error);
    if (instead) return instead;
    const end = endAfterError({ ...acting, ...call }, input, error);
    if (end) return await noted(end);
    if (problemWith(error).conflict && call.operation === 'syncSite') {
      const intent = { operation: call.operation, at: acting.now };
      const running = await findSync(acting, String(input['site_id']), intent);
      if (running.is === 'following') return await noted(running);
    }
    throw error;
  }
}

/** What replaced the target of a call, when its id is gone. */
const replacementIn = (acting: Step, input: Record<string, unknown>) =>
  findReplacement(acting, callOf(acting.options).operation, input, {
    id: acting.target.id,
    lasting: acting.state?.lasting,
  });

/** Makes the call for what replaced the target; undefined for an error with another cause. */
async function callUnderNewId(acting: Step, input: Record<string, unknown>, error: unknown) {
  const found = problemWith(error).gone && (await replacementIn(acting, input));
  if (!found) return undefined;
  return found.is === 'replaced' ? makeCall(acting, found.input) : endOfOther(found.status);
}

async function reconcileCall(acting: Step, intent: Intent): Promise<Reconciled<State>> {
  const call = callOf(acting.options);
  const keyed = keyedCallOf(acting);
  const { input } = keyed;
  const reversed = await reconcileReversible(acting, {
    operation: call.operation,
    input,
    options: acting.options,
  });
  if (reversed?.is === 'unknown') return reversed;
  const noted = <Result extends Answer<State>>(answer: Result) => noteCall(acting, keyed, answer);
  if (reversed) return noted(reversed);
  if (!isOnce(call.operation)) {
    const found = await probeState(call.operation, acting, input);
    // What is gone under its id can be there under a new one.
    if (found.is === 'found' && deletes(operationOf(call.operation)) && (await replacementIn(acting, input)))
      return { is: 'absent' };
    return found.is === 'found' ? noted({ is: 'done', reason: 'done' }) : found;
  }
  if (call.operation === 'syncSite') {
    const sync = await findSync(acting, String(input['site_id']), intent);
    return sync.is === 'absent' || sync.is === 'unknown' ? sync : noted(sync);
  }
  const found = await probeEffect(call.operation, acting, input as never, intent);
  if (found.is !== 'found') return found;
  if (found.taskId === undefined) return noted({ is: 'done', reason: 'done' });
  const watch = { kind: 'task', taskId: found.taskId, since: intent.at, adopted: true } as const;
  return noted({ is: 'following', watch });
}

/** The call of options that `check` found no fault in. */
const callOf = ({ operation, params, body }: Options): CallTemplate => ({
  operation: operation as OperationId,
  params,
  body,
});
