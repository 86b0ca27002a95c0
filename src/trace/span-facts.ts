/** What the spans of a run say. Pure functions; `open-traces.ts` sends them. Times are milliseconds since 1970. */
import type { SentRequest } from '../client/call-options.ts';
import { isoTime } from '../clock.ts';
import type { Run, Target, TargetIn } from '../run/run.ts';
import type { Work } from './traces.ts';

/** What identifies a span in its trace; the same in every process. */
export type Place = readonly (string | number)[];

export interface SpanFacts {
  /** Without ids, so that there are few names. */
  name: string;
  kind: 'internal' | 'client';
  /** Missing for a request: each is sent by one process, and nothing is below it. */
  place?: Place;
  /** Missing for the run. */
  parent?: Place;
  from: number;
  to: number;
  attributes: Readonly<Record<string, string | number | boolean | string[] | undefined>>;
  events?: readonly { name: string; at: number }[];
  /** Why it failed, in a word or two. Missing when it did not. */
  failed?: string | undefined;
}

export const RUN: Place = ['run'];
const targetPlace = (target: string): Place => ['target', target];
const followPlace = (target: string, since: number): Place => ['follow', target, since];

/** From its creation to its end, with what came of it. */
export function runSpan(run: Run): SpanFacts {
  const { id, policy, job, account, trigger, status, counts, requests, createdAt, startedAt } = run;
  const failed = status === 'failed' || status === 'stopped';
  return {
    name: `run ${policy}`,
    kind: 'internal',
    place: RUN,
    from: createdAt,
    to: run.finishedAt ?? createdAt,
    attributes: {
      'caretaker.run.id': id,
      'caretaker.policy': policy,
      'caretaker.job': job,
      'caretaker.account': account,
      'caretaker.run.trigger': trigger,
      'caretaker.run.scheduled_for': isoTime(run.scheduledFor),
      'caretaker.run.status': status,
      'caretaker.run.requests': requests,
      ...Object.fromEntries(
        Object.entries(counts).map(([outcome, count]) => [`caretaker.run.targets.${outcome}`, count]),
      ),
      'error.type': failed ? status : undefined,
    },
    events: startedAt === undefined ? [] : [{ name: 'planning starts', at: startedAt }],
    failed: failed ? status : undefined,
  };
}

/** From its first dispatch to its end. Undefined when it was never dispatched. */
export function targetSpan(
  run: Pick<Run, 'id' | 'account' | 'job'>,
  target: TargetIn<'ended'>,
): SpanFacts | undefined {
  const { id, outcome, reason, attempts, waits, startedAt, finishedAt, taskId } = target;
  if (startedAt === undefined) return undefined;
  const failed = outcome === 'failed' ? reason : undefined;
  return {
    name: `target ${run.job}`,
    kind: 'internal',
    place: targetPlace(id),
    parent: RUN,
    from: startedAt,
    to: finishedAt,
    attributes: {
      'caretaker.run.id': run.id,
      'caretaker.job': run.job,
      'caretaker.account': run.account,
      'caretaker.target.id': id,
      'caretaker.target.outcome': outcome,
      'caretaker.target.reason': reason,
      'caretaker.target.attempts': attempts,
      'caretaker.target.waits': waits,
      'caretaker.task.id': taskId,
      'error.type': failed,
    },
    failed,
  };
}

/** From the start of the work in the service until it was seen to end, or was given up. */
export function followSpan(
  run: Pick<Run, 'id' | 'account'>,
  { was, now, at }: { was: TargetIn<'following'>; now: Target; at: number },
): SpanFacts {
  const { id, taskId, watch } = was;
  const reason = endReason(now);
  const failed = now.outcome === 'failed' || now.ended?.is === 'failed' ? reason : undefined;
  return {
    name: `follow ${watch.kind}`,
    kind: 'internal',
    place: followPlace(id, watch.since),
    parent: targetPlace(id),
    from: watch.since,
    to: at,
    attributes: {
      'caretaker.run.id': run.id,
      'caretaker.account': run.account,
      'caretaker.target.id': id,
      'caretaker.task.id': taskId,
      'caretaker.task.reason': reason,
      'caretaker.task.adopted': watch.adopted,
      'error.type': failed,
    },
    failed,
  };
}

/** How the followed work ended: the end of the target, of a step of its job, or of a step of its policy. */
const endReason = ({ reason, ended, steps }: Target): string | undefined =>
  ended?.reason ?? reason ?? steps?.at(-1)?.reason;

/** From sending a request until its answer begins. Without its address, body and answer, which hold data of clients. */
export function requestSpan({ run, target, followedSince }: Work, sent: SentRequest): SpanFacts {
  const { operation, method, template, server, status, error } = sent;
  const failed = error ?? (status !== undefined && status >= 400 ? String(status) : undefined);
  return {
    name: `${method} ${template}`,
    kind: 'client',
    parent: placeOf(target, followedSince),
    from: sent.sentAt,
    to: sent.endedAt,
    attributes: {
      'http.request.method': method,
      'url.scheme': server.scheme,
      'url.template': template,
      'server.address': server.address,
      'server.port': server.port,
      'http.response.status_code': status,
      'http.request.resend_count': sent.resends === 0 ? undefined : sent.resends,
      'http.response.header.x-request-id': sent.requestId === undefined ? undefined : [sent.requestId],
      'error.type': failed,
      'caretaker.operation': operation,
      'caretaker.request.class': sent.requestClass,
      'caretaker.budget.wait_ms': sent.budgetWaitMs,
      'caretaker.account': sent.account,
      'caretaker.run.id': run,
      'caretaker.target.id': target,
    },
    failed,
  };
}

function placeOf(target: string | undefined, followedSince: number | undefined): Place {
  if (target === undefined) return RUN;
  return followedSince === undefined ? targetPlace(target) : followPlace(target, followedSince);
}
