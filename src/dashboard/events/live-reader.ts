import type { Principal } from '../../access/principal.ts';

/** A person who has a page open. */
export interface LiveReader {
  /** What changed since the last call, as JSON of a `Delta`; undefined when nothing did for so long. */
  next(timeoutMs: number, ended: AbortSignal): Promise<string | undefined>;
  /** Whether there is no such page any more. */
  isGone(): boolean;
  close(): void;
}

/** The pages that readers have open. */
export interface LivePages {
  /**
   * Follows a page for a reader whose copy was made at `since`. The first delta is the whole page.
   *
   * The page is made for the grants of the principal, without a name: so what one reader sees can be sent to
   * another one with the same grants.
   */
  follow(path: string, principal: Principal, since: number): LiveReader;
  /** Makes all pages again: something changed of which there is no event. */
  renew(): void;
}
