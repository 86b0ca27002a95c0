/**
 * What a process may send while Redis is away and cannot say what the others do: its part, when all share alike.
 *
 * It keeps to windows of its own, and to what the service's answers tell: when they show that the account has no more
 * than its reserve left, or a 429 comes, nothing goes out until the service's window ends.
 */
import type { Clock } from '../clock.ts';
import type { WindowNews } from './words.ts';

const WINDOW_MS = 60_000;
/** A ticket of no window that Redis counts: what is learnt by it is learnt here. */
const NO_WINDOW = -1;

export class Alone {
  /** How many processes shared the account when Redis was last heard. */
  processes = 1;
  private limit: number;
  private sent = 0;
  private endsAt = 0;
  /** Until when the account is used up, whoever did it. */
  private emptyUntil = 0;

  constructor(
    private readonly clock: Clock,
    private readonly options: { requestsPerMinute: number; reserve: number },
  ) {
    this.limit = options.requestsPerMinute;
  }

  /** One request, or how long to wait for one. */
  ask(): { waitMs: number; awayMs: number; ticket: { window: number } } {
    const now = this.clock.now();
    if (now >= this.endsAt) {
      this.endsAt = now + WINDOW_MS;
      this.sent = 0;
    }
    const spendable = this.limit - Math.round(this.limit * this.options.reserve);
    const part = Math.max(1, Math.floor(spendable / Math.max(1, this.processes)));
    const waitMs = Math.max(this.emptyUntil - now, this.sent < part ? 0 : this.endsAt - now, 0);
    if (waitMs === 0) this.sent += 1;
    return { waitMs, awayMs: waitMs, ticket: { window: NO_WINDOW } };
  }

  /** Takes in what any answer said, so that it is known when it is needed. */
  learn(news: WindowNews | undefined): void {
    if (!news || news.kind === 'failed') return;
    this.limit = news.limit ?? this.limit;
    const empty = news.kind === 'limited' || (news.remaining ?? 1) <= this.limit * this.options.reserve;
    if (empty && (news.resetMs !== undefined || news.kind === 'limited'))
      this.emptyUntil = this.clock.now() + (news.resetMs ?? WINDOW_MS);
  }
}
