import { isIPv6 } from 'node:net';
import type { Clock } from '../../clock.ts';

/** So many failed tries a minute and address; what comes beyond is refused unread, even the right password. */
export const MOST_TRIES = 10;
const WINDOW_MS = 60_000;
/** Addresses remembered; beyond, the one that began first is forgotten. */
const MOST_ADDRESSES = 10_000;

/** Counts failed tries to sign in, so that nobody can guess for long. */
export class Tries {
  private readonly windows = new Map<string, { failed: number; endsAt: number }>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** In how many milliseconds this address may try again; 0 = now. */
  waitMs(address: string): number {
    const window = this.windows.get(sourceOf(address));
    if (!window || window.failed < MOST_TRIES) return 0;
    return Math.max(0, window.endsAt - this.clock.now());
  }

  /** Counts a try that failed. */
  count(address: string): void {
    const now = this.clock.now();
    const source = sourceOf(address);
    const window = this.windows.get(source);
    if (window && window.endsAt > now) {
      window.failed += 1;
      return;
    }
    this.windows.delete(source);
    const [oldest] = this.windows.keys();
    if (oldest !== undefined && this.windows.size >= MOST_ADDRESSES) this.windows.delete(oldest);
    this.windows.set(source, { failed: 1, endsAt: now + WINDOW_MS });
  }
}

/** One caller has a whole /64 of IPv6 addresses to choose from, so they count as one. */
function sourceOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::')) return address;
  const [head = ''] = address.split('::');
  return head.split(':').slice(0, 4).join(':');
}
