import { isIPv6 } from 'node:net';
import type { Clock } from '../../clock.ts';

/** Failed attempts per minute and address. Further ones are refused unread, even with the right password. */
export const MAX_FAILED = 10;
/** Failed attempts per minute with one name, from all addresses. Beyond that each address has one a minute. */
export const MAX_FAILED_OF_NAME = 10;
/** Failed attempts per minute from all addresses. Beyond that each address has one a minute. */
export const MAX_FAILED_OVERALL = 20;
/** Sign-ins per minute with one name: each makes a session and a line of the audit log. */
export const MAX_SUCCEEDED = 20;
const WINDOW_MS = 60_000;
/** Addresses, and names, that are remembered. Beyond that the oldest window is dropped. */
const MAX_WINDOWS = 10_000;

/**
 * Slows down guessing of passwords, from one address or many: from `n` addresses at most `n` + 20 wrong
 * passwords are checked a minute, and at most `n` + 10 for one name. The first attempt of an address in a
 * minute is always checked, so other addresses cannot lock anyone out.
 */
export class LoginThrottle {
  private readonly addresses: Windows;
  private readonly names: Windows;
  private readonly overall: Windows;
  private readonly succeeded: Windows;

  constructor(clock: Pick<Clock, 'now'>) {
    this.addresses = new Windows(clock);
    this.names = new Windows(clock);
    this.overall = new Windows(clock);
    this.succeeded = new Windows(clock);
  }

  /**
   * Begins an attempt, which counts as failed until it is withdrawn: so attempts at the same time count too. Gives
   * the milliseconds to wait before it may be made; 0 = now.
   */
  begin(address: string, name: string): number {
    const source = sourceOf(address);
    const isFlooded =
      this.overall.count('') >= MAX_FAILED_OVERALL || this.names.count(name) >= MAX_FAILED_OF_NAME;
    if (this.addresses.count(source) >= (isFlooded ? 1 : MAX_FAILED)) return this.addresses.endsIn(source);
    this.addresses.add(source, 1);
    this.names.add(name, 1);
    this.overall.add('', 1);
    return 0;
  }

  /** For how long a name has had too many sign-ins. */
  waitOf(name: string): number {
    return this.succeeded.count(name) >= MAX_SUCCEEDED ? this.succeeded.endsIn(name) : 0;
  }

  /** Counts a sign-in with this name. */
  succeed(name: string): void {
    this.succeeded.add(name, 1);
  }

  /** Takes back what `begin` counted: the password was right, or was not checked. */
  withdraw(address: string, name: string): void {
    this.addresses.add(sourceOf(address), -1);
    this.names.add(name, -1);
    this.overall.add('', -1);
  }
}

/** Counts by key, each over its own minute. */
class Windows {
  private readonly windows = new Map<string, { count: number; endsAt: number }>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  count(key: string): number {
    const window = this.windows.get(key);
    return window && window.endsAt > this.clock.now() ? window.count : 0;
  }

  endsIn(key: string): number {
    return Math.max(0, (this.windows.get(key)?.endsAt ?? 0) - this.clock.now());
  }

  add(key: string, change: number): void {
    const now = this.clock.now();
    const window = this.windows.get(key);
    if (window && window.endsAt > now) {
      window.count = Math.max(0, window.count + change);
      return;
    }
    if (change < 0) return;
    // Windows are kept in the order in which they began.
    this.windows.delete(key);
    const [oldest] = this.windows.keys();
    if (oldest !== undefined && this.windows.size >= MAX_WINDOWS) this.windows.delete(oldest);
    this.windows.set(key, { count: change, endsAt: now + WINDOW_MS });
  }
}

/** One caller has a whole /64 of IPv6 addresses to choose from, so they count as one, however its zeros are written. */
function sourceOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::')) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const groups = head.split(':');
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - rest.length) }, () => '0');
  return [...groups, ...zeros, ...rest]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
