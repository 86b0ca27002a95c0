/**
 * Whether a change that is harmless to repeat (`repeatable` in the contract) has happened, by what the account shows
 * now, whoever made it so: the item is gone, has the requested values, or is in the state that the contract says. It is
 * looked for before the request is sent again: the repeated request may be refused, or its answer lost again.
 */
import { GoneError } from '../../client/errors.ts';
import { deletes, type Operation, pathParameters } from '../../contract/operation.ts';
import { type OperationId, operationIds, operationOf } from '../../contract/operations.ts';
import { absent, all, type Found, found, unknown } from './find-effect.ts';
import type { Looking } from './own-effect.ts';

type Input = Readonly<Record<string, unknown>>;

/** What is looked for, and when that stays unknown: each one sentence, for the docs. */
export function looksForState(id: OperationId): { looksFor: string; unknown?: string } {
  const { leadsTo } = operationOf(id);
  if (leadsTo?.status !== undefined)
    return {
      looksFor: `The status \`${leadsTo.status}\`, whoever set it: the same request is refused then.`,
      unknown: 'When the service does not show the status.',
    };
  const state = leadsTo
    ? `\`${JSON.stringify(leadsTo)}\` in the view of the item`
    : deletes(operationOf(id))
      ? 'Whether the item is gone'
      : updates(id)
        ? 'The requested values in the view of the item'
        : tagging(id) && 'Whether the tag has the sites';
  return {
    looksFor: state
      ? `${state}, whoever did that; if not, the request is sent again.`
      : 'Not looked for: it is sent again, which has the same effect as sending it once.',
  };
}

const updates = (id: OperationId): boolean => operationOf(id).path.endsWith('/update');
const tagging = (id: OperationId): boolean => id === 'assignTag' || id === 'removeTag';

/**
 * Looks for a change that is harmless to repeat. Costs one request, or one for each item of a deletion of several, or one
 * per 100 managed accounts. Throws the client's errors.
 */
export async function probeState(id: OperationId, looking: Looking, input: Input): Promise<Found> {
  const operation = operationOf(id);
  const body = input['body'] as Input | undefined;
  const wanted = operation.leadsTo ?? (updates(id) ? Object.values(body ?? {})[0] : undefined);
  if (!wanted && !deletes(operation) && !tagging(id)) return absent;
  const shown = await itemsOf(id, looking, input);
  // The list shows neither a rejected invitation nor one that was taken back: it is closed in any case.
  if (deletes(operation) || (id === 'rejectManagedAccount' && shown.includes(undefined)))
    return shown.every((one) => one === undefined) ? found : absent;
  // The request, sent again, gets the answer that is right for what is gone.
  const [item] = shown;
  if (!item && id !== 'acceptManagedAccount') return absent;
  const isReached = tagging(id) ? hasSites(item, body, id === 'assignTag') : shows(item, wanted);
  if (isReached === undefined && operation.leadsTo?.status !== undefined)
    return unknown('The account does not show its status.');
  return isReached ? found : absent;
}

/** The items that an operation is about, as they are now; undefined for one that is gone. */
async function itemsOf(id: OperationId, { api, all: list }: Looking, input: Input) {
  const { path } = operationOf(id);
  if (path.startsWith('/managed-accounts/')) {
    for await (const account of list('listManagedAccounts', {}))
      if (account.id === input['managed_account_id']) return [account];
    return [undefined];
  }
  const view = viewOf(operationOf(id));
  const names = pathParameters(operationOf(view).path);
  const { ids } = (input['body'] ?? {}) as { ids?: readonly string[] };
  const ofEach = path.endsWith('/delete') ? (ids ?? []).map((one) => ({ [names[0] ?? '']: one })) : [input];
  const show = api[view] as (query: object) => Promise<object>;
  return Promise.all(
    ofEach.map(async (given: Input) => {
      try {
        return Object.values(
          await show(Object.fromEntries(names.map((name) => [name, given[name]]))),
        )[0] as object;
      } catch (error) {
        if (error instanceof GoneError) return undefined;
        throw error;
      }
    }),
  );
}

/** The operation that shows alone what another one is about: the nearest one above it in the paths of the service. */
function viewOf({ path }: Operation): OperationId {
  const views = operationIds.filter((id) => {
    const { method, list, answer } = operationOf(id);
    return method === 'GET' && !list && answer !== undefined;
  });
  const parts = path.replace(/\/delete$/, '/{}/').split('/');
  for (let length = parts.length; length > 0; length -= 1) {
    const above = parts
      .slice(0, length)
      .join('/')
      .replaceAll(/\{\w*\}/g, '{}');
    const view = views.find((id) => operationOf(id).path.replaceAll(/\{\w+\}/g, '{}') === above);
    if (view) return view;
  }
  throw new Error(`Nothing shows what ${path} is about.`);
}

const hasSites = (item: unknown, body: Input | undefined, isAssigned: boolean): boolean | undefined => {
  const { site_ids: shown } = item as { site_ids?: readonly string[] };
  return shown && (body as { site_ids: string[] }).site_ids.every((id) => shown.includes(id) === isAssigned);
};

/** Whether an item has these values; undefined when it does not show one of them. */
function shows(item: unknown, wanted: unknown): boolean | undefined {
  if (item === undefined) return undefined;
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted) || item === null)
    return JSON.stringify(item) === JSON.stringify(wanted);
  return all(...Object.entries(wanted).map(([field, value]) => shows((item as Input)[field], value)));
}
