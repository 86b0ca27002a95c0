/** Requests that were sent and are not yet counted for a run, by operation. */
import type { OperationId } from '../contract/operations.ts';
import type { Spent } from '../run/run.ts';

export class Spending {
  private spent: Record<string, number> = {};

  /** Pass this as `onRequest` of a call. */
  readonly count = (operation: OperationId): void => {
    this.spent[operation] = (this.spent[operation] ?? 0) + 1;
  };

  /** Returns the requests since the last call of `take`, and starts again from zero. */
  take(): Spent {
    const { spent } = this;
    this.spent = {};
    return spent;
  }
}
