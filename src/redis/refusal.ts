/** Explains why Redis cannot be reached or refuses writes, in one sentence with what to do. */
import { CaretakerError, messageOf } from '../errors.ts';
import type { Log } from '../log.ts';

export const MIN_REDIS = [6, 2] as const;

/** Error codes with which Redis refuses writes from every client. */
const refusals = {
  OOM: 'Redis is out of memory (maxmemory) and refuses to write: work continues when there is room. Raise maxmemory, or give Caretaker a Redis of its own',
  READONLY:
    'this Redis is a replica and refuses to write: work continues when the primary is reached at this address again, or at another one (REDIS_URL)',
  MISCONF:
    'Redis cannot write to its disk and therefore refuses to write: work continues when its disk has room and its log shows no errors',
  NOREPLICAS:
    'Redis has fewer connected replicas than min-replicas-to-write requires and refuses to write: work continues when they are back',
} as const;

/** Redis answers, but refuses writes. */
export class RedisRefusesError extends CaretakerError {
  readonly code = 'REDIS_REFUSES';
  constructor(why: string) {
    super(`${why[0]?.toUpperCase()}${why.slice(1)}.`);
  }
}

/** Why Redis refuses writes, if this error or one of its causes shows that. */
export function writeRefusal(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const code = /^-?([A-Z]+)\b/.exec(at.message)?.[1];
    if (code !== undefined && code in refusals) return refusals[code as keyof typeof refusals];
  }
  return undefined;
}

/**
 * Which command Redis does not permit or does not know, if this error or one of its causes shows that; as a clause about
 * the server.
 */
export function commandRefusal(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { message } = at;
    const { command } = at as { command?: { name?: unknown } };
    const named = /(?:run the|unknown (?:sub)?command) ['`"]?([\w|.-]+)/i.exec(message)?.[1] ?? command?.name;
    const name =
      typeof named === 'string' ? `the command ${named.replace('|', ' ').toUpperCase()}` : 'a command';
    if (/^NOPERM|The user executing the script can't|ACL failure in script/.test(message))
      return /keys? |channel/.test(message)
        ? `its user may not use some keys or channels with ${name} (NOPERM): allow it all commands, keys and channels`
        : `its user may not use ${name}, or one that it needs (NOPERM): allow it all commands, keys and channels`;
    if (/^ERR unknown (sub)?command/i.test(message))
      return `it does not know ${name}: Redis ${MIN_REDIS.join('.')} or newer is required, and no proxy that leaves out commands`;
  }
  return undefined;
}

/**
 * A log that reports refused writes at level `debug` only. `watchRedis` logs the cause once; otherwise
 * everything that waits for Redis would repeat it.
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
  'the authority that signed its certificate is unknown: set NODE_EXTRA_CA_CERTS to a file with the certificate of that authority';
export const NO_TLS = 'the server does not use TLS: use redis:// instead of rediss://';
export const ONLY_TLS = 'the server requires TLS: use rediss:// instead of redis://';

/** By error code. */
const causes: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the host name could not be resolved',
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

/** By the beginning of the message of Redis or its client. */
const messagePatterns: readonly [RegExp, string][] = [
  [
    /^(failed to connect to sentinel .*No such master|connected to sentinel .* invalid reply)/,
    'the sentinels know no group of that name: correct "name"',
  ],
  [
    /^failed to connect to sentinel .*(WRONGPASS|invalid password|invalid username-password)/,
    'the sentinels refuse the user name or the password (WRONGPASS): correct "sentinel_username" and "sentinel_password"',
  ],
  [
    /^failed to connect to sentinel .*(NOAUTH|Authentication required)/,
    'the sentinels require a password (NOAUTH): set "sentinel_password"',
  ],
  [
    /^failed to connect to sentinel/,
    'no sentinel answers: correct "sentinels", and "sentinel_tls" if they use TLS',
  ],
  [
    /^WRONGPASS|invalid password|invalid username-password/,
    'it refuses the user name or the password (WRONGPASS): correct them in the configuration',
  ],
  [/^NOAUTH|Authentication required/, 'it requires a password (NOAUTH): add it to the configuration'],
  [
    /without any password configured/,
    'it has no password set, and one was given: remove the password from the configuration',
  ],
  [
    /DB index is out of range|invalid DB index|SELECT is not allowed/,
    'it does not have the database of the address: use a number below its setting "databases" (16 by default), or none',
  ],
  [/^Socket timeout/, 'the connection is open, and no answer comes'],
  [/^Protocol error|^Unknown RESP type/, 'what responds there is not Redis'],
];

/** Why Redis cannot be reached, as far as the error shows. */
export function unreachableBecause(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof AggregateError && at.errors.length > 0) return unreachableBecause(at.errors[0]);
    const { code } = at as { code?: unknown };
    const cause = typeof code === 'string' ? causes[code] : undefined;
    if (cause !== undefined) return cause;
    const message = at.message;
    const refused = commandRefusal(at);
    if (refused !== undefined) return refused;
    const known = messagePatterns.find(([pattern]) => pattern.test(message));
    if (known) return known[1];
  }
  return messageOf(error).replace(/\.$/, '');
}
