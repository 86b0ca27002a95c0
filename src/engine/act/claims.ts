/** Renews the claims of the steps in progress: all with one timer, since most steps are over before it fires. */
import type { Clock } from '../../clock.ts';

/** How often a worker renews the claims on its targets. */
const RENEW_INTERVAL_MS = 5_000;

interface Claim {
  /** Does not reject. */
  renew(): Promise<void>;
}

export class Claims {
  private readonly held = new Set<Claim>();
  private renewing: Promise<unknown> = Promise.resolve();
  private timer: AbortController | undefined;

  constructor(private readonly clock: Pick<Clock, 'sleep'>) {}

  hold(claim: Claim): void {
    this.held.add(claim);
    if (!this.timer) void this.renewUntil(new AbortController());
  }

  /** Resolves when the claim is not being renewed any more. */
  async release(claim: Claim): Promise<void> {
    this.held.delete(claim);
    if (this.held.size === 0) {
      this.timer?.abort('done');
      this.timer = undefined;
    }
    await this.renewing;
  }

  private async renewUntil(timer: AbortController): Promise<void> {
    this.timer = timer;
    while (!timer.signal.aborted) {
      await this.clock.sleep(RENEW_INTERVAL_MS, timer.signal);
      if (timer.signal.aborted) return;
      this.renewing = Promise.all([...this.held].map((claim) => claim.renew()));
      await this.renewing;
    }
  }
}
