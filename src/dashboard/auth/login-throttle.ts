import { isIPv6 } from 'node:net';
import type { Clock } from '../../clock.ts';

/** Failed sign-ins per minute and address. Further attempts are refused unread, even with the right password. */
export const MAX_FAILED = 10;
/**
 * Failed sign-ins per minute from all addresses. Beyond that each address has one attempt a minute, so many
 * addresses guess no faster than a few.
 */
export const MAX_FAILED_OVERALL = 20;
const WINDOW_MS = 60_000;
/** Addresses that are remembered. Beyond that the oldest window is dropped. */
const MAX_ADDRESSES = 10_000;

interface Window {
  failed: number;
  endsAt: number;
}

/**
 * Slows down guessing of the password, from one address or many. The first attempt of an address in a minute is
 * always read, so other addresses cannot lock anybody out.
 */
export class LoginThrottle {
  private readonly windows = new Map<string, Window>();
  private overall: Window = { failed: 0, endsAt: 0 };

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /** In how many milliseconds this address may try again; 0 = now. */
  waitMs(address: string): number {
    const now = this.clock.now();
    const window = this.windows.get(sourceOf(address));
    if (!window || window.failed < (this.isFlooded(now) ? 1 : MAX_FAILED)) return 0;
    return Math.max(0, window.endsAt - now);
  }

  /** Counts a failed attempt. True when so many failed from all addresses that the caller has to wait. */
  count(address: string): boolean {
    const now = this.clock.now();
    const flooded = this.isFlooded(now);
    this.overall = addTo(this.overall, now);
    const source = sourceOf(address);
    const window = addTo(this.windows.get(source), now);
    // Windows are kept in the order in which they began.
    if (window.failed === 1) this.windows.delete(source);
    const [oldest] = this.windows.keys();
    if (window.failed === 1 && oldest !== undefined && this.windows.size >= MAX_ADDRESSES)
      this.windows.delete(oldest);
    this.windows.set(source, window);
    return flooded;
  }

  private isFlooded(now: number): boolean {
    return this.overall.endsAt > now && this.overall.failed >= MAX_FAILED_OVERALL;
  }
}

const addTo = (window: Window | undefined, now: number): Window =>
  window && window.endsAt > now
    ? { ...window, failed: window.failed + 1 }
    : { failed: 1, endsAt: now + WINDOW_MS };

/** One caller has a whole /64 of IPv6 addresses to choose from, so they count as one. */
function sourceOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::')) return address;
  const [head = ''] = address.split('::');
  return head.split(':').slice(0, 4).join(':');
}
