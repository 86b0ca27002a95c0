/**
 * How work that runs in the service is followed: each kind of watch says which list call shows everything
 * that ended lately, and how an item of that list is judged. The engine makes the calls, for all targets of
 * an account together.
 */
import type { TimeBounds } from '../../clock.ts';
import type { ListQuery } from '../../contract/list.ts';
import type { Watch } from '../../run/run.ts';
import type { End } from '../answer.ts';
import type { Api } from '../api.ts';

/** What a look at followed work found: its end, that it goes on, or nothing one could rely on. */
export type Verdict = End | { is: 'running' } | { is: 'unclear' };

/** The service plainly knows nothing of the work any more; `detail` says by what that shows. */
export interface Lost {
  is: 'lost';
  detail: string;
}

/** How one kind of work is followed. */
export interface WatchKind<W extends Watch, I> {
  /** What watches of this kind have as `kind`: unique among all jobs. */
  name: string;
  /** What messages call the work: `The task 42`. */
  label(watch: W): string;
  /** The id by which people find the work in the service; nothing while it is not known. */
  id?(watch: W): string | undefined;
  /** The list call whose pages show what ended since the oldest of `watches` began, however many they are. */
  sweep: {
    operation: 'listTasks' | 'listSites' | 'listReports' | 'listStagingSites';
    /** `from`: the service's time since which the sweep must show everything. */
    query(watches: readonly W[], from: string): Pick<ListQuery, 'filters' | 'sort'>;
  };
  /** The moment, by the service's clock, that the list is filtered by; nothing for a list that knows none. */
  movedAt?(item: I): string | null | undefined;
  /** What item and watch are matched by. */
  keyOfItem(item: I): string;
  keyOf(watch: W): string;
  /** What an item of the list says of the work. `since`: when the work began, by the service's clock. */
  evaluate(watch: W, item: I, since: TimeBounds): Verdict;
  /**
   * Looks at the work alone and closely, when the list left it unclear or its time is long over. One or two
   * requests.
   */
  poll(api: Api, watch: W, since: TimeBounds): Promise<Verdict | Lost>;
  /**
   * Ends the work in the service, for a cancelled run. Absent where the service offers no way. One request.
   */
  cancel?(api: Api, watch: W): Promise<void>;
  /** A bad end with what the service says of it, where the list shows only that it came. One request. */
  explain?(api: Api, watch: W, end: End): Promise<End>;
}

/** A kind of watch whose items and facts the reader does not know. */
// biome-ignore lint/suspicious/noExplicitAny: the facts of a watch go with its kind, which only its own functions know.
export type AnyWatchKind = WatchKind<any, any>;

/** The reason of a good end: followed work that somebody else had started was adopted. */
export const doneAs = (watch: Watch): Verdict => ({ is: 'done', reason: watch.adopted ? 'adopted' : 'done' });
