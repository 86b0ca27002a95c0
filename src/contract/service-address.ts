/**
 * Which service the records of an account belong to: the one with which they began. A process that is configured
 * with another address does not touch them, since the ids in them mean something else there, or nothing.
 */
import { CaretakerError } from '../errors.ts';

/** The address of a service, for comparison: origin and path of its base URL, without anything secret. */
export function serviceAddress(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const { origin, pathname } = new URL(baseUrl);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** The records of an account belong to another service than the one that this process is configured with. */
export class AccountMovedError extends CaretakerError {
  readonly code = 'ACCOUNT_MOVED';
  constructor(
    readonly account: string,
    /** The address in the configuration. */
    readonly configured: string,
    /** The address that the records belong to. */
    readonly bound: string,
  ) {
    super(
      `The records of the account "${account}" belong to ${bound}, but the configuration has ${configured}: nothing is planned, sent or followed. If the service itself has moved, use "caretaker accounts move ${account}". If it is another service, give its account another name, or use another data_dir or redis.prefix.`,
    );
  }
}

/** The `Server` header by which the sandbox names itself: no other service answers with it. */
export const SANDBOX_SERVER = 'caretaker-sandbox';
