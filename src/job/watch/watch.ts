/**
 * How work that runs in the service is followed. Each watch kind declares which list call shows everything
 * that ended recently, and how an item of that list is evaluated. The engine makes the calls, for all targets
 * of an account together.
 */
import type { TimeBounds } from '../../clock.ts';
import type { ListQuery } from '../../contract/list.ts';
import type { Watch } from '../../run/run.ts';
import type { End } from '../answer.ts';
import type { Api } from '../api.ts';

/** What a sweep or poll found: the end of the work, that it is running, or nothing certain. */
export type Verdict = End | { is: 'running' } | { is: 'unclear' };

/** The service clearly no longer knows the work; `detail` says what shows that. */
export interface Lost {
  is: 'lost';
  detail: string;
}

/** How one kind of work is followed. */
export interface WatchKind<W extends Watch, I> {
  /** The value of `kind` in watches of this kind; unique among all jobs. */
  name: string;
  /** What messages call the work: `The task 42`. */
  label(watch: W): string;
  /** The id by which people find the work in the service; undefined while it is not known. */
  id?(watch: W): string | undefined;
  /** The list call that shows what ended since the oldest of `watches` began, for any number of them. */
  sweep: {
    operation: 'listTasks' | 'listSites' | 'listReports' | 'listStagingSites';
    /** `from`: the service's time since which the sweep must show everything. */
    query(watches: readonly W[], from: string): Pick<ListQuery, 'filters' | 'sort'>;
  };
  /** Whether the list shows this work. Work that it does not show is polled early and several times. Default: yes. */
  isSwept?(watch: W): boolean;
  /** The timestamp of the service that the list is filtered by; absent for a list without one. */
  movedAt?(item: I): string | null | undefined;
  /** Items and watches with the same key belong together. */
  keyOfItem(item: I): string;
  keyOf(watch: W): string;
  /** What an item of the list shows about the work. `since`: when the work began, by the service's clock. */
  evaluate(watch: W, item: I, since: TimeBounds): Verdict;
  /**
   * Polls the work individually, when the list left it unclear or it is long overdue. One or two requests.
   */
  poll(api: Api, watch: W, since: TimeBounds): Promise<Verdict | Lost>;
  /**
   * Cancels the work in the service, for a cancelled run. Absent where the service cannot cancel it. One
   * request.
   */
  cancel?(api: Api, watch: W): Promise<void>;
  /** Adds the service's explanation to an end that failed, where the list does not show it. One request. */
  explain?(api: Api, watch: W, end: End): Promise<End>;
}

/** A watch kind whose items and fields are not known here. */
// biome-ignore lint/suspicious/noExplicitAny: the facts of a watch go with its kind, which only its own functions know.
export type AnyWatchKind = WatchKind<any, any>;

/** The verdict for work that succeeded. Work that someone else had started is `adopted`. */
export const successVerdict = (watch: Watch): Verdict => ({
  is: 'done',
  reason: watch.adopted ? 'adopted' : 'done',
});
