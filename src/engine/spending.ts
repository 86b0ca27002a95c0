/** Requests that were sent and are not counted on a run yet, by operation. */
import type { OperationId } from '../contract/operations.ts';
import type { Spent } from '../run/run.ts';

export class Spending {
  private spent: Record<string, number> = {};

  /** What a call takes as `onRequest`. */
  readonly count = (operation: OperationId): void => {
    this.spent[operation] = (this.spent[operation] ?? 0) + 1;
  };

  /** What has gathered since the last time, to be counted on a run. */
  take(): Spent {
    const { spent } = this;
    this.spent = {};
    return spent;
  }
}
