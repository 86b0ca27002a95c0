/** What a plan is made from, and what it makes of a candidate. */
import type { CallOptions } from '../../client/call-options.ts';
import type { Client } from '../../client/client.ts';
import { GoneError, RejectedError } from '../../client/errors.ts';
import type { EarlierReading, Incomplete, ListPosition } from '../../client/pages.ts';
import type { Operator } from '../../contract/list.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { End } from '../../job/answer.ts';
import { type CandidateList, singleViewOf } from '../../job/candidates.ts';
import type { AnyJob, EarlierTarget, Once, OpenAnnouncements } from '../../job/job.ts';
import type { FindingsOf, Looks } from '../../job/look.ts';
import { completed } from '../../job/shown.ts';
import { fieldsOfSource } from '../../job/source.ts';
import type { Policy } from '../../policy/policy.ts';
import type { ScopedFreeze } from '../../records/freeze-scope.ts';
import type { Group } from '../../records/group-places.ts';
import type { StepEnd } from '../../run/run.ts';
import type { Facts } from './facts.ts';

/**
 * What the plan makes of a candidate: a target to work on, a target that has its outcome already, or an
 * excluded candidate.
 */
export type Planned =
  | {
      is: 'target';
      id: string;
      label: string;
      site?: string;
      recordSite?: string;
      jobState?: string;
      /** The batches of the policy whose condition holds for it, by their index. */
      inBatches?: readonly number[];
      /** What the job says that it would do. */
      plan?: string;
      /** The steps of the policy that are done already. */
      steps?: readonly StepEnd[];
      /** The limits of the number of targets do not apply to it. */
      takesBack?: true;
      /** It is a target of this step of the policy alone. */
      step?: number;
      /** Its client and its tags, as far as the policy has limits for them. */
      groups?: readonly Group[];
      /** Of each entry of `notify` with a route: who is notified of it. */
      told?: readonly string[];
      /** What the decision rests on; only with `Planning.withFacts`. */
      facts?: Facts;
    }
  | {
      is: 'ended';
      id: string;
      label: string;
      end: End;
      told?: readonly string[];
      steps?: readonly StepEnd[];
      /** It was requested by its id, and the policy does not select it. */
      unselected?: true;
      facts?: Facts;
    }
  | { is: 'excluded'; id: string; label: string; why: string };

/** A filter that is sent for a part of the condition. */
export interface PushedFilter {
  field: string;
  operator: Operator;
  value: string | boolean | string[];
  /** The part of the condition. */
  text: string;
}

/** What an earlier attempt at a plan has made: this one continues it. */
export interface EarlierPlan extends EarlierReading {
  /** How many targets its candidates became. */
  targets: number;
  /** The ids of its targets, ended ones too, for a job with targets other than the candidates. */
  selected?: readonly string[];
  /** The requested ids that have their target already. */
  planned: readonly string[];
}

/** The times of creation between which the requested items lie, as the service shows them. */
export interface CreatedWithin {
  gte: string;
  lte: string;
}

export interface Planning {
  policy: Policy;
  job: AnyJob;
  client: Client;
  /** The run retries the failed targets of an earlier run. */
  retry: boolean;
  /** In a retry: the steps of the policy that the failed run had done on each target. */
  stepsDone?: ReadonlyMap<string, readonly StepEnd[]>;
  /**
   * The ids of the only targets to plan, if given. A retry ignores what the policy selects now; any other run
   * plans only those of them that the policy selects.
   */
  only?: readonly string[] | undefined;
  now: number;
  /**
   * An earlier plan is made again, as of its time: `now` by the service's clock at that time. Parts of the condition
   * are sent as filters although ids are requested. `withoutFilters`: no filter is sent, but what the policy filters
   * by is among the facts. `createdWithin` is sent as a filter where the policy has none of that field, so that few
   * targets need few pages.
   */
  again?: { serviceNow: number; withoutFilters?: true; createdWithin?: CreatedWithin };
  /** Each target has the facts that the decision about it rests on. */
  withFacts?: true;
  /** Called with the time by the service's clock that candidates are evaluated at. */
  onServiceNow?: (serviceNow: number) => void;
  /** The scheduled time of the run. */
  at: number;
  /** When planning of the policy's last whole run started. */
  previousAt?: number | undefined;
  /** The outcomes of the targets of its last whole runs. */
  earlier: () => AsyncGenerator<EarlierTarget>;
  once: Pick<Once, 'results'>;
  announcements: Pick<OpenAnnouncements, 'all'>;
  /** Without `keep` for a plan that is no run's. */
  findingsOf: FindingsOf;
  looks: Pick<Looks, 'last'> & Partial<Looks>;
  /** Whether a person or a run waits for the plan. */
  requestClass: 'person' | 'action';
  /** See `CallOptions`; for a plan that is made again by a worker. */
  whenSpent?: 'leave';
  onRequest: (operation: OperationId) => void;
  onSent?: CallOptions['onSent'];
  /** Called when fewer items of a list arrived than the service counts, also of a list that the job or a join reads. */
  onIncomplete?: (incomplete: Incomplete) => void;
  /** Called with each item of the list, before it is evaluated. */
  onCandidate?: (candidate: unknown) => void;
  /** Called with each item of the list of `for_each`, before it is evaluated. */
  onParent?: (parent: unknown) => void;
  /**
   * Called when all that becomes of an item has been yielded, with its name and where to read on: an item of the list
   * of `for_each` if there is one, else of the list of candidates.
   */
  onProcessed?: (name: string, position: ListPosition) => Promise<void>;
  earlierPlan?: EarlierPlan | undefined;
  /** How many single views it may still request (`select.single_views`). */
  views: { left: number };
  /** The freezes of clients and tags that hold for the policy. */
  freezes?: readonly ScopedFreeze[];
  /** Called with the filters that are sent for the condition, or would be with `listsAll`. */
  onPushed?: (filters: readonly PushedFilter[]) => void;
  /** The condition is not sent as filters: each candidate that it excludes is listed with the reason. */
  listsAll?: boolean | undefined;
  signal?: AbortSignal;
}

export const notEligible = (detail: string): End => ({ is: 'skipped', reason: 'not-eligible', detail });

/** How many single views a plan requests, unless the policy says so. */
const MAX_SINGLE_VIEWS = 100;

/** The single views that the plan of a policy may request. */
export const viewsOf = ({ select }: Policy): Planning['views'] => ({
  left: select.singleViews ?? MAX_SINGLE_VIEWS,
});

/** Whether the requested targets are planned whatever the policy selects now. */
export const takesAll = ({ job, only, retry }: Planning): boolean =>
  only !== undefined && retry && !job.reportsSelection;

/** The call options of all requests of a plan. */
export const callOptionsOf = ({
  requestClass,
  whenSpent,
  policy,
  onRequest,
  onSent,
  signal,
}: Planning): CallOptions => ({
  requestClass,
  ...(whenSpent ? { whenSpent } : {}),
  policy: policy.name,
  onRequest,
  onSent,
  ...(signal ? { signal } : {}),
});

// Completes items of lists from their single views, when a decision needs what the list does not show.

/**
 * The item of this list with what only its single view shows; the item itself when there is none, or when
 * the plan has requested enough of them. `within` are the path parameters of the list. Costs one request.
 *
 * @throws the client's errors, except those that say that the item is gone or refused.
 */
export type Complete = (list: CandidateList, item: unknown, within: Params) => Promise<unknown>;

/** Path parameters. */
export type Params = Readonly<Record<string, string>>;

/** The items of a plan share the number of single views. */
export function createCompleter(planning: Planning): Complete {
  const { views } = planning;
  return async (list, item, within) => {
    const view = singleViewOf(list);
    const { id } = item as { id?: unknown };
    if (!view || typeof id !== 'string' || views.left === 0) return item;
    views.left -= 1;
    try {
      const input = { ...within, [view.parameter]: id } as never;
      const answer: unknown = await planning.client.call(view.operation, input, callOptionsOf(planning));
      return completed(fieldsOfSource(list), item, Object.values(answer as object)[0]);
    } catch (error) {
      if (error instanceof GoneError || error instanceof RejectedError) return item;
      throw error;
    }
  };
}
