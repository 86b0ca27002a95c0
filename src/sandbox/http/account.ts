/** The one account: authentication (spec 5), and how many requests it may still send (spec 8). */
import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { Refusal } from '../refusal.ts';

export interface AccountOptions {
  token: string;
  /** Requests per window; 0 = unlimited, without rate headers. */
  rateLimit: number;
  windowMs: number;
  clock: Clock;
}

/** Test controls of the account. */
export interface AccountControl {
  /** From now on every request with the valid token is answered 403. */
  deactivate(): void;
  activate(): void;
  /** From now on the old token is answered 401. */
  changeToken(token: string): void;
  /** Another client of the same account sends `count` requests; opens a window if none is open. */
  useUpRequests(count: number): void;
}

export interface Account {
  control: AccountControl;
  /** @throws {Refusal} 401 unless the header has the account's token as a bearer token. */
  authenticate(authorization: string | undefined): void;
  /** Uses one request of the budget and returns the headers of the answer. */
  spend(): { headers: Record<string, string>; exhausted: boolean };
  /** @throws {Refusal} 403 while the account is inactive. */
  requireActive(): void;
}

/**
 * Opens the account. Its window is fixed: it starts with the first request in it and ends `windowMs` later by
 * the given clock. Requests without valid authentication do not count.
 */
export function openAccount({ token, rateLimit, windowMs, clock }: AccountOptions): Account {
  const state = { token, active: true };
  let window = { endsAt: Number.NEGATIVE_INFINITY, used: 0 };

  const use = (count: number) => {
    if (clock.now() >= window.endsAt) window = { endsAt: clock.now() + windowMs, used: 0 };
    const exhausted = rateLimit > 0 && window.used >= rateLimit;
    window.used += count;
    return exhausted;
  };
  const headers = (): Record<string, string> =>
    rateLimit === 0
      ? {}
      : {
          'X-RateLimit-Limit': String(rateLimit),
          'X-RateLimit-Remaining': String(Math.max(0, rateLimit - window.used)),
          'X-RateLimit-Reset': String(Math.ceil((window.endsAt - clock.now()) / 1000)),
        };

  return {
    control: {
      deactivate: () => {
        state.active = false;
      },
      activate: () => {
        state.active = true;
      },
      changeToken: (next) => {
        state.token = next;
      },
      useUpRequests: (count) => {
        use(count);
      },
    },
    authenticate(authorization) {
      const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
      if (given === undefined || !sameText(given, state.token)) {
        throw new Refusal(401, 'unauthenticated', 'Send the account\'s token as "Authorization: Bearer …".');
      }
    },
    spend() {
      const exhausted = use(1);
      return { headers: headers(), exhausted };
    },
    requireActive() {
      if (!state.active) throw new Refusal(403, 'account_inactive', 'The account is inactive.');
    },
  };
}

/** Compares two texts in constant time. Their lengths are not secret. */
function sameText(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
