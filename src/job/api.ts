/** The service as a job sees it. */
import type { Readable } from 'node:stream';
import type { TimeBounds } from '../clock.ts';
import type { Answer, Input, Item, ListId, OperationId } from '../contract/operations.ts';

/**
 * The service as a job sees it: every operation by its name.
 *
 * Before an operation with an effect is sent, its intent is recorded, with `note` if given (a short text
 * without secrets). One effect per step. Errors are the client's typed errors; the engine handles those that
 * a job does not handle.
 */
export type Api = { [Id in OperationId]: (input: Input<Id>, note?: string) => Promise<Answer<Id>> };

/** What a job is given to call the service. While planning, only reads are allowed. */
export interface JobApi {
  api: Api;
  /** Every item of a list, once, page after page. One request per 100. */
  all<Id extends ListId>(list: Id, query: Omit<Input<Id>, 'page' | 'perPage'>): AsyncGenerator<Item<Id>>;
  /**
   * Converts a time `at` of our clock to the service's clock. Compare the service's timestamps only with such
   * a time. Costs nothing, except for one request when no answer has shown the service's time yet.
   */
  serviceTime(at: number): Promise<TimeBounds>;
  /** Streams a PDF. One request. */
  download(operation: 'downloadReport', input: Input<'downloadReport'>): Promise<Readable>;
}

// What jobs are given of their run and of the service's items.

/** What jobs need to know about their run. */
export interface RunContext {
  policy: string;
  /** The scheduled time of the run, in milliseconds since 1970. Periods such as last month count from it. */
  at: number;
  /** The policy's time zone (`schedule.timezone`). */
  timezone: string;
  /** The policy has an `approval`: what the plan did not say is not to be begun. */
  needsApproval?: true;
}

/** Items of the service by the names of their variables: `site`, `note`. */
export type Items = Readonly<Record<string, unknown>>;
