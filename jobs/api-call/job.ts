/**
 * Asks for one operation of the service's interface for each target of any list: what no other job does.
 *
 * The call is held to the contract when the policy is loaded, and again for each candidate, with what is
 * taken from it. A lost answer is looked for as `docs/reliability.md` says for each operation.
 */
import { z } from 'zod';
import { refusalOf } from '../../src/contract/answers.ts';
import { isDestructive } from '../../src/contract/destructive.ts';
import { pathParameters } from '../../src/contract/operation.ts';
import {
  type Input,
  isOperationId,
  type OperationId,
  operationOf,
  refusesItems,
} from '../../src/contract/operations.ts';
import type { Answer, End } from '../../src/job/answer.ts';
import type { Api } from '../../src/job/api.ts';
import { labelOf } from '../../src/job/candidates.ts';
import { type Acting, defineJob, type OptionFault } from '../../src/job/job.ts';
import { problemWith } from '../../src/job/problem.ts';
import { isOnce } from '../../src/job/reconcile/find-effect.ts';
import { findSync } from '../../src/job/reconcile/find-sync.ts';
import { probeEffect } from '../../src/job/reconcile/probes.ts';
import { type CallTemplate, checkCall, compileCall, inputOf } from './call-template.ts';

const Options = z.strictObject({
  operation: z.string().describe('The operation, by its name in the service: enableSiteActivityLogs.'),
  params: z
    .optional(z.record(z.string(), z.unknown()))
    .describe(
      'Its parameters by name. The id of the target itself is filled in; other values may be `{ cel: ... }`. Default none.',
    ),
  body: z
    .optional(z.record(z.string(), z.unknown()))
    .describe('What is sent along, as the service takes it; any value may be `{ cel: ... }`. Default none.'),
  confirm: z
    .optional(z.string())
    .describe('The name of the operation once more, where it takes something away. Default none.'),
});
type Options = z.output<typeof Options>;

const State = z.object({
  /** What was taken from the target, each with its place in the call. */
  fills: z.array(z.tuple([z.array(z.union([z.string(), z.number()])), z.unknown()])),
});
type State = z.output<typeof State>;
type Step = Acting<Options, State>;

/**
 * What is to be noted directly before the request, for those changes that only what was before can tell of.
 * One request.
 */
const shownBefore: Partial<Record<OperationId, (api: Api, input: never) => Promise<string | undefined>>> = {
  extendStagingSiteExpiry: async (api, input: Input<'extendStagingSiteExpiry'>) =>
    (await api.showStagingSite({ staging_site_id: input.staging_site_id })).staging_site.expires_at,
  rotateSenderEmailDkim: async (api, input: Input<'rotateSenderEmailDkim'>) =>
    (await api.showSenderEmail({ sender_email_id: input.sender_email_id })).sender_email.domain?.dkim?.value,
};

/** What an item of some list may have that matters here. */
interface Item {
  id?: string | null | undefined;
  provider?: string | undefined;
  site_id?: string | undefined;
}

export const apiCall = defineJob({
  name: 'api-call',
  summary: "Asks for one operation of the service's interface for each target of any list.",
  options: Options,
  check: ({ confirm, ...call }, { from }) => [
    ...checkCall(call, from),
    ...confirmFaults(call.operation, confirm),
  ],
  candidates: 'any',
  state: State,
  // A backup destination that nothing is saved for goes by its provider.
  target: (item: Item) => ({
    id: item.id ?? item.provider ?? '',
    label: labelOf(item),
    ...(item.site_id === undefined ? {} : { site: item.site_id }),
  }),
  prepare: async ({ options, from }) => compileCall(callOf(options), from),
  evaluate(item: Item, { prepared, runContext, serviceNow }) {
    const filled = prepared.fill(item, { now: new Date(serviceNow), timezone: runContext.timezone });
    if ('lacks' in filled) return { is: 'ineligible', why: filled.lacks };
    return { is: 'target', state: filled };
  },
  requestsPerTarget: (options) => (shownBefore[callOf(options).operation] ? 2 : 1),

  async act(acting): Promise<Answer<State>> {
    const { api, options, state } = acting;
    const call = callOf(options);
    const input = inputOf(call, state?.fills ?? []);
    try {
      const ask = api[call.operation] as (input: object, note?: string) => Promise<unknown>;
      const before = await shownBefore[call.operation]?.(api, input as never);
      return endOf(acting, input, ((await ask(input, before)) ?? {}) as Answered);
    } catch (error) {
      const end = endBy(acting, input, error);
      if (end) return end;
      if (problemWith(error).conflict && call.operation === 'syncSite') {
        const intent = { operation: call.operation, at: acting.now };
        const running = await findSync(acting, String(input['site_id']), intent);
        if (running.is === 'following') return running;
      }
      throw error;
    }
  },

  async reconcile(acting, intent) {
    const call = callOf(acting.options);
    // What is harmless to repeat is asked for again.
    if (!isOnce(call.operation)) return { is: 'absent' };
    const input = inputOf(call, acting.state?.fills ?? []);
    if (call.operation === 'syncSite') return findSync(acting, String(input['site_id']), intent);
    const found = await probeEffect(call.operation, acting, input as never, intent);
    if (found.is !== 'found') return found;
    if (found.taskId === undefined) return { is: 'done', reason: 'done' };
    const watch = { kind: 'task', taskId: found.taskId, since: intent.at, adopted: true } as const;
    return { is: 'following', watch };
  },
});

/** The call of options that `check` has found nothing wrong with. */
const callOf = ({ operation, params, body }: Options): CallTemplate => ({
  operation: operation as OperationId,
  params,
  body,
});

function confirmFaults(operation: string, confirm: string | undefined): OptionFault[] {
  if (!isOperationId(operation) || confirm === operation) return [];
  if (confirm !== undefined) {
    return [
      { path: ['confirm'], message: `"confirm" says "${confirm}", and the operation is ${operation}.` },
    ];
  }
  if (!isDestructive(operation)) return [];
  const message = `${operation} takes something away that asking again does not bring back.`;
  return [{ path: ['operation'], message, suggestion: `if that is meant, add confirm: ${operation}` }];
}

const deletes = (operation: OperationId): boolean => {
  const { method, path } = operationOf(operation);
  return method === 'DELETE' || path.endsWith('/delete');
};

/** Whether a good status says it all: nothing has to be followed, and no item of it can have been refused. */
const saysAllByStatus = (operation: OperationId): boolean => !isOnce(operation) && !refusesItems(operation);

/**
 * What an answer that is no success, or cannot be read, says of the target; nothing where the engine knows
 * better.
 */
function endBy(acting: Step, input: Record<string, unknown>, error: unknown): End | undefined {
  const { operation } = callOf(acting.options);
  const { gone, rejected, made } = problemWith(error);
  if (gone && deletes(operation)) return { is: 'done', reason: 'already-done' };
  if (gone && !namesTargetAlone(acting, input))
    return { is: 'failed', reason: 'rejected', detail: gone.message };
  const refusal = rejected && refusalOf(rejected);
  if (refusal) return { is: 'skipped', reason: refusal, detail: rejected.message };
  if (!made || !saysAllByStatus(operation)) return undefined;
  const detail = 'The service reported success; the rest of its answer could not be read.';
  return { is: 'done', reason: 'done', detail };
}

/** Whether nothing but the target itself can be what the service does not find (404). */
const namesTargetAlone = ({ target, options }: Step, input: Record<string, unknown>): boolean =>
  pathParameters(operationOf(callOf(options).operation).path).every((name) => input[name] === target.id);

/** What answers may hold that says more than that it went well. */
interface Answered {
  task?: { id: string };
  sync?: { snapshot_id: string };
  [part: string]: unknown;
}

/** What the answer to a call says of its target. */
function endOf({ options, now }: Step, input: Record<string, unknown>, answer: Answered): Answer<State> {
  const { operation } = callOf(options);
  const { task, sync, ...rest } = answer;
  // Cancelling a task answers a task too, which is over.
  if (task && isOnce(operation)) {
    return { is: 'following', watch: { kind: 'task', taskId: task.id, since: now } };
  }
  if (sync && operation === 'syncSite') {
    const watch = { kind: 'sync', siteId: String(input['site_id']), snapshotId: sync.snapshot_id } as const;
    return { is: 'following', watch: { ...watch, since: now } };
  }
  return refusedPart(operation, rest) ?? { is: 'done', reason: 'done' };
}

/** Calls for several items answer well, and tell in a list what they refused: here, the one of the target. */
function refusedPart(operation: OperationId, answer: Record<string, unknown>): Answer<State> | undefined {
  for (const part of Object.values(answer)) {
    const { errors } = (part ?? {}) as { errors?: { code?: string; message?: string }[] };
    const [error] = Array.isArray(errors) ? errors : [];
    if (!error) continue;
    if (error.code === 'not_found') {
      return deletes(operation) ? { is: 'done', reason: 'already-done' } : { is: 'skipped', reason: 'gone' };
    }
    const { code, message = code ?? 'The service gave no reason.' } = error;
    const refusal = refusalOf({ ...(code === undefined ? {} : { code }), message });
    return refusal
      ? { is: 'skipped', reason: refusal, detail: message }
      : { is: 'failed', reason: 'rejected', detail: message };
  }
  return undefined;
}
