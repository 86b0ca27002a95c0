/** Attempts to sign in: slowed down, and passed on to the audit log. */
import type { Identity } from '../../access/access.ts';
import { adminPrincipal, type Principal } from '../../access/principal.ts';
import { refuse } from '../api/problem-document.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { addressOf } from './client-address.ts';
import { signIn } from './cookie.ts';

/** Longer names are cut: they are remembered for a while, and no one has one. */
const MAX_NAME = 100;

/** An attempt that may be made, with its end. */
export interface Attempt {
  /**
   * Begins the session.
   *
   * @throws {SessionsAwayError}
   */
  succeed(identity: Identity, principal: Principal): Promise<void>;
  fail(why: string): void;
  /** The password was not checked: the attempt does not count. */
  withdraw(): void;
}

/**
 * Begins an attempt with a name, or without one for the single password and for links. Gives how long to wait when the
 * address, or the name, had too many failed ones.
 */
export function beginAttempt(
  c: Exchange,
  context: DashboardContext,
  given = '',
): Attempt | { waitMs: number } {
  const { loginThrottle, onSignIn, log } = context;
  const address = addressOf(c);
  const name = given.slice(0, MAX_NAME);
  const key = name === '' ? adminPrincipal.name : name;
  const named = name === '' ? {} : { name };
  const waitMs = loginThrottle.waitOf(key) || loginThrottle.begin(address, key);
  if (waitMs > 0) {
    onSignIn({ ...named, address, ok: false, why: 'too many attempts' });
    return { waitMs };
  }
  return {
    async succeed(identity, principal) {
      loginThrottle.withdraw(address, key);
      await signIn(c, context, identity, principal);
      loginThrottle.succeed(key);
      onSignIn({ name: principal.name, principal, address, ok: true });
    },
    withdraw: () => loginThrottle.withdraw(address, key),
    fail(why) {
      log.warn({ address, ...named }, `a sign-in to the dashboard failed: ${why}`);
      onSignIn({ ...named, address, ok: false, why });
    },
  };
}

/**
 * The program whose credentials the request carries: a token, which no one can guess and which therefore is not
 * slowed down, or the single password. Gives the answer to send when too many attempts failed; nothing for wrong
 * credentials.
 */
export function programIn(c: Exchange, context: DashboardContext): Principal | Response | undefined {
  const { authenticator, loginThrottle, onSignIn } = context;
  const sent = credentialsIn(c);
  if (sent === undefined) return undefined;
  const program = authenticator.program(sent);
  if (program) return program;
  const address = addressOf(c);
  const waitMs = loginThrottle.begin(address, adminPrincipal.name);
  if (waitMs > 0) return tooMany(c, waitMs);
  if (authenticator.isDashboardPassword(sent)) {
    loginThrottle.withdraw(address, adminPrincipal.name);
    return adminPrincipal;
  }
  onSignIn({ address, ok: false, why: 'wrong token or password' });
  return undefined;
}

/** Whether the credentials of a request that was admitted are still valid. */
export function programNow(c: Exchange, { authenticator }: DashboardContext): Principal | undefined {
  const sent = credentialsIn(c) ?? '';
  return (
    authenticator.program(sent) ?? (authenticator.isDashboardPassword(sent) ? adminPrincipal : undefined)
  );
}

/** What an `Authorization` header carries: a bearer token, or the password of HTTP Basic with any user name. */
function credentialsIn(c: Exchange): string | undefined {
  const authorization = c.req.header('authorization') ?? '';
  const [, scheme = '', value = ''] = /^(\w+) +(.+)$/.exec(authorization) ?? [];
  // Node reads headers as Latin-1; what programs send is UTF-8.
  if (scheme.toLowerCase() === 'bearer') return Buffer.from(value, 'latin1').toString('utf8');
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const pair = Buffer.from(value, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1);
}

function tooMany(c: Exchange, waitMs: number): Response {
  c.header('Retry-After', String(Math.ceil(waitMs / 1000)));
  return refuse(c, 429, 'TOO_MANY_ATTEMPTS', 'Too many attempts to sign in. Wait a minute.');
}
