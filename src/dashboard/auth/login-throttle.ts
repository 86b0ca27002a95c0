import { isIPv6 } from 'node:net';
import type { Clock } from '../../clock.ts';

/**
 * Failed attempts to sign in per minute and address; what comes beyond is refused unread, even the right
 * password.
 */
export const MAX_FAILED = 10;
/**
 * Failed attempts per minute from all addresses. Beyond, each address has one a minute: many addresses guess
 * no faster.
 */
export const MAX_FAILED_OVERALL = 20;
const WINDOW_MS = 60_000;
/** Addresses remembered; beyond, the one that began first is forgotten. */
const MAX_ADDRESSES = 10_000;

interface Window {
  failed: number;
  endsAt: number;
}

/**
 * Slows down whoever guesses the password, from one address or from many. The first attempt of an address in
 * a minute is always read: the right password cannot be locked out from another address.
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

  /**
   * Counts a failed attempt. True when so many failed everywhere that its author is told to wait, not only
   * that it failed.
   */
  count(address: string): boolean {
    const now = this.clock.now();
    const flooded = this.isFlooded(now);
    this.overall = addTo(this.overall, now);
    const source = sourceOf(address);
    const window = addTo(this.windows.get(source), now);
    // A window that begins goes to the end.
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
