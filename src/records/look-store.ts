/**
 * What planning of a policy's last run saw, in the form of its job (`job/look.ts`), for people to look at. It decides
 * nothing. The part of each site is a field of its own, so that the page of a site reads only that.
 */
import { z } from 'zod';
import { type Store, toJson } from '../redis/store.ts';
import { redact, scrub } from '../secrets.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

const KEPT_MS = 30 * 86_400_000;
const SEEN = 'seen';
const SITE = 'site:';
/** How many sites are written at once. */
const PAGE = 500;

/** What was seen, by which run and when. */
const Seen = z.object({ run: z.string(), at: z.number(), view: z.unknown() });
export type Seen = z.output<typeof Seen>;

export class LookStore {
  constructor(private readonly store: Store) {}

  /** Keeps it in place of the last one, without secrets. */
  async keep(
    account: string,
    policy: string,
    seen: Seen,
    sites: ReadonlyMap<string, unknown>,
  ): Promise<void> {
    const key = keys.look(account, policy);
    const writing = this.store
      .multi()
      .del(key)
      .hset(key, SEEN, toJson(redact(seen, scrub) as object));
    const fields = [...sites].map(
      ([id, one]) => [`${SITE}${id}`, toJson(redact(one, scrub) as object)] as const,
    );
    for (let from = 0; from < fields.length; from += PAGE)
      writing.hset(key, ...fields.slice(from, from + PAGE).flat());
    await writing.pexpire(key, KEPT_MS).exec();
  }

  /** What was seen last; undefined when no run has planned within 30 days. */
  async last(account: string, policy: string): Promise<Seen | undefined> {
    const key = keys.look(account, policy);
    const json = await this.store.hget(key, SEEN);
    return json === null ? undefined : parseRecord(Seen, json, key);
  }

  /** The part of a site, in the form of the job. */
  async ofSite(account: string, policy: string, site: string): Promise<unknown> {
    const key = keys.look(account, policy);
    const json = await this.store.hget(key, `${SITE}${site}`);
    return json === null ? undefined : parseRecord(z.unknown(), json, key);
  }
}
