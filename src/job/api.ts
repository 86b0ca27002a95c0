/** The service as a job sees it. */
import type { Readable } from 'node:stream';
import type { TimeBounds } from '../clock.ts';
import type { Answer, Input, Item, ListId, OperationId } from '../contract/operations.ts';

/**
 * The service as a job sees it: every operation by its name.
 *
 * Before an operation with an effect is sent, its intent is recorded, with `note` (a short text, no secret)
 * if one is given; one effect a step. Errors are the client's typed errors: those a job has no answer for are
 * the engine's.
 */
export type Api = { [Id in OperationId]: (input: Input<Id>, note?: string) => Promise<Answer<Id>> };

/** The service for reading: what planning may use. */
export interface JobApi {
  api: Api;
  /** Every item of a list, once, page after page. One request per 100. */
  all<Id extends ListId>(list: Id, query: Omit<Input<Id>, 'page' | 'perPage'>): AsyncGenerator<Item<Id>>;
  /**
   * When it was `at` (our clock), by the service's clock: its timestamps are compared with nothing else.
   * Costs nothing, but for one request when no answer has shown the service's time yet.
   */
  serviceTime(at: number): Promise<TimeBounds>;
  /** Streams a PDF. One request. */
  download(operation: 'downloadReport', input: Input<'downloadReport'>): Promise<Readable>;
}
