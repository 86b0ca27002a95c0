/**
 * Why Redis does not do what it is asked, in a sentence a person can act upon: it cannot be reached, or
 * refuses to write.
 */
import { CaretakerError, messageOf } from '../errors.ts';
import type { Log } from '../log.ts';

/** Codes of answers with which Redis refuses to write, whoever asks. */
const refusals = {
  OOM: 'Redis is out of memory (maxmemory) and refuses to write: nothing moves until there is room. Raise maxmemory, or give Caretaker a Redis of its own',
  READONLY:
    'this Redis is a replica and refuses to write: nothing moves until Caretaker is connected to the primary (REDIS_URL)',
  MISCONF:
    'Redis cannot write to its disk and therefore refuses to write at all: nothing moves until its disk has room and its log shows no errors',
  NOREPLICAS:
    'Redis has fewer replicas in step than it is to have (min-replicas-to-write) and refuses to write: nothing moves until they are back',
} as const;

/** Redis answers, and refuses to write. */
export class RedisRefusesError extends CaretakerError {
  readonly code = 'REDIS_REFUSES';
  constructor(why: string) {
    super(`${why[0]?.toUpperCase()}${why.slice(1)}.`);
  }
}

/** Why Redis refuses to write, if this error is the answer that says so, or was caused by it. */
export function writeRefusal(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const code = /^-?([A-Z]+)\b/.exec(at.message)?.[1];
    if (code !== undefined && code in refusals) return refusals[code as keyof typeof refusals];
  }
  return undefined;
}

/**
 * A log that leaves out that Redis refuses to write, but for its lines of debugging: whoever watches Redis
 * tells the cause once, and everything that has to wait for it would tell it again and again.
 */
export const withoutRefusals = (log: Log): Log => {
  const unless = (level: 'warn' | 'error') => (facts: object | string, message?: string) => {
    if (typeof facts === 'string') return log[level](facts);
    const refused = 'err' in facts && writeRefusal(facts.err) !== undefined;
    if (message === undefined) return log[refused ? 'debug' : level](facts);
    log[refused ? 'debug' : level](facts, message);
  };
  return {
    debug: log.debug,
    info: log.info,
    warn: unless('warn'),
    error: unless('error'),
    child: (facts) => withoutRefusals(log.child(facts)),
  };
};

const UNKNOWN_AUTHORITY =
  'the authority that signed its certificate is not known here: set NODE_EXTRA_CA_CERTS to a file with the certificate of that authority';
export const NO_TLS = 'what answers there does not speak TLS: use redis:// instead of rediss://';
export const ONLY_TLS = 'it speaks TLS there: use rediss:// instead of redis://';

/** By the code of the error. */
const causes: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name of the host could not be looked up',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: compare the clocks',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is for another host name: use a name that the certificate has',
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  EPROTO: NO_TLS,
};

/** By the beginning of what Redis, or its client, says. */
const words: readonly [RegExp, string][] = [
  [
    /^WRONGPASS|invalid password|invalid username-password/,
    'it refuses the user name or the password (WRONGPASS): correct them in the configuration',
  ],
  [/^NOAUTH|Authentication required/, 'it asks for a password (NOAUTH): put it into the configuration'],
  [
    /without any password configured/,
    'it has no password set, and one was given: leave the password out of the configuration',
  ],
  [/^NOPERM/, 'its user may not do what Caretaker needs (NOPERM): allow it all commands, keys and channels'],
  [/^Protocol error|^Unknown RESP type/, 'what responds there is not Redis'],
];

/** Why Redis cannot be reached, as far as the error tells. */
export function unreachableBecause(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof AggregateError && at.errors.length > 0) return unreachableBecause(at.errors[0]);
    const { code } = at as { code?: unknown };
    const cause = typeof code === 'string' ? causes[code] : undefined;
    if (cause !== undefined) return cause;
    const message = at.message;
    const said = words.find(([pattern]) => pattern.test(message));
    if (said) return said[1];
  }
  return messageOf(error).replace(/\.$/, '');
}
