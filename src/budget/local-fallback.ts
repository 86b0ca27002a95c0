/**
 * What a process may send while Redis is unavailable and the use by other processes is unknown: an equal part
 * of the limit.
 *
 * It counts in windows of its own and follows the answers of the service. When they show that only the
 * reserve is left, or after a 429, nothing is sent until the service's window ends.
 */
import type { Clock } from '../clock.ts';
import type { Decision, WindowReport } from './ticket.ts';

const WINDOW_MS = 60_000;
/** The window number of tickets that Redis does not count. */
const NO_WINDOW = -1;

export class LocalFallback {
  /** How many processes shared the account when Redis last answered. */
  processes = 1;
  private limit: number;
  private sent = 0;
  private endsAt = 0;
  /** Until when the account has no requests left, whichever client used them. */
  private emptyUntil = 0;

  constructor(
    private readonly clock: Clock,
    private readonly options: { requestsPerMinute: number; reserve: number },
  ) {
    this.limit = options.requestsPerMinute;
  }

  /** Grants one request, or returns how long to wait. */
  take(): Decision {
    const now = this.clock.now();
    if (now >= this.endsAt) {
      this.endsAt = now + WINDOW_MS;
      this.sent = 0;
    }
    const spendable = this.limit - Math.round(this.limit * this.options.reserve);
    const part = Math.max(1, Math.floor(spendable / Math.max(1, this.processes)));
    const waitMs = Math.max(this.emptyUntil - now, this.sent < part ? 0 : this.endsAt - now, 0);
    if (waitMs === 0) this.sent += 1;
    return { waitMs, retryAfterMs: waitMs, ticket: { window: NO_WINDOW } };
  }

  /**
   * Records every report, also while Redis is available, so that the numbers are current when they are
   * needed.
   */
  learn(report: WindowReport | undefined): void {
    if (!report || report.kind === 'failed') return;
    this.limit = report.limit ?? this.limit;
    const empty = report.kind === 'limited' || (report.remaining ?? 1) <= this.limit * this.options.reserve;
    if (empty && (report.resetMs !== undefined || report.kind === 'limited'))
      this.emptyUntil = this.clock.now() + (report.resetMs ?? WINDOW_MS);
  }
}
