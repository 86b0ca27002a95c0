/** The look at followed work whose time limit has passed, by its own view: no list may have shown its end. */
import type { CallOptions } from '../../client/call-options.ts';
import { CaretakerError } from '../../errors.ts';
import type { EngineDeps } from '../deps.ts';
import { createJobApi, readOnlyCall } from '../job-api.ts';
import { RequestLog } from '../request-log.ts';
import { Spending } from '../spending.ts';
import { type Evaluated, type Followed, withRequestsOf, workOf } from './followed.ts';
import { requestStatus } from './status.ts';

/** How many looks one round makes: a round delays the other work of the supervisor. */
export const MAX_LAST_LOOKS = 20;

/** The result of the work; undefined when the service does not answer now. One or two requests, counted for the run. */
export async function lastLook(
  deps: EngineDeps,
  one: Followed,
  signal: AbortSignal,
): Promise<Evaluated | undefined> {
  const { run, target, watch } = one;
  const { client } = deps.link(run.account);
  const spent = new Spending();
  const log = new RequestLog();
  const options: CallOptions = {
    ...{ requestClass: 'follow', whenSpent: 'leave', signal, onRequest: spent.count, onAnswer: log.note },
    onSent: deps.traces?.requestsOf(workOf(one)),
  };
  const startOf = async () => watch.serviceSince ?? client.serviceTime(watch.since, options);
  try {
    const { api } = createJobApi(client, options, readOnlyCall(client, options));
    const found = await requestStatus(api, watch, startOf, deps);
    const looked = withRequestsOf(log, one);
    if (found.is !== 'lost') return { one: looked, verdict: found };
    const detail = target.detail ?? found.detail;
    return { one: { ...looked, target: { ...looked.target, detail } }, verdict: { is: 'unclear' } };
  } catch (error) {
    if (!(error instanceof CaretakerError)) throw error;
    return undefined;
  } finally {
    await deps.records.runs.countRequests(run.id, spent.take());
  }
}

/** This long after its time limit, followed work ends although nothing could show its result. */
export const UNSEEN_TIMEOUT_MS = 5 * 60_000;

/** The same for the first of these whose own limit (`until`) has passed. The others, and what nothing shows now, wait. */
export async function lastLooks(
  deps: EngineDeps,
  late: readonly { one: Followed }[],
  signal: AbortSignal,
): Promise<Evaluated[]> {
  const looked: Evaluated[] = [];
  for (const { one } of late.slice(0, MAX_LAST_LOOKS)) {
    const found = await lastLook(deps, one, signal);
    if (found) looked.push(found);
    else if (deps.clock.now() >= (one.watch.until ?? 0) + UNSEEN_TIMEOUT_MS)
      looked.push({ one, verdict: { is: 'unclear' } });
  }
  return looked;
}
