/**
 * What the service showed of the sites of each account when they were last read: facts for lists, without credentials and
 * email addresses. They decide nothing: a run reads what it needs itself.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { defineScript } from '../redis/script.ts';
import { type Store, toJson } from '../redis/store.ts';
import { redact, scrubOnce } from '../secrets.ts';
import { keys } from './keys.ts';
import { parseRecord } from './parse-record.ts';

const { exactOptional: optional, nullable } = z;
const text = z.string();
const named = z.object({ id: text, name: text });
const yes = z.boolean();

/**
 * One site, in the words of the service, so that programs get it as it is stored. A field that is missing was not in the
 * answer; null says that there is none.
 */
export const SiteFacts = z.object({
  id: text,
  title: text,
  url: text,
  client: optional(nullable(named)),
  tags: optional(z.array(named)),
  last_sync_at: optional(nullable(text)).describe('Null for a site that was never synced.'),
  last_sync_status: optional(nullable(text)),
  syncs_paused: optional(yes),
  connection: optional(text),
  scanner: optional(nullable(text)),
  backups_enabled: optional(yes),
  latest_snapshot: optional(nullable(z.object({ created_at: optional(text), status: optional(text) }))),
  core_update: optional(yes).describe('Whether an update of its core is available.'),
  php_version: optional(nullable(text)),
  locked: optional(yes),
});
export type SiteFacts = z.output<typeof SiteFacts>;

/** A complete reading of the sites of an account: when it began, and how many there were. */
const SiteReading = z.object({ at: z.number(), sites: z.number() });
export type SiteReading = z.output<typeof SiteReading>;

const PAGE = 250;
/** What a process that dies while it writes leaves behind is removed after this time. */
const DRAFT_MS = 600_000;

const takeDraft = defineScript(
  { keys: ['draft', 'sites', 'read'], args: ['account', 'reading', 'count'] },
  `
if args.count == '0' then
  redis.call('UNLINK', keys.sites)
else
  -- It was taken already, by the same command before the connection broke.
  if redis.call('EXISTS', keys.draft) == 0 then return 0 end
  redis.call('RENAME', keys.draft, keys.sites)
  redis.call('PERSIST', keys.sites)
end
redis.call('HSET', keys.read, args.account, args.reading)
return 1`,
);

export class SiteStore {
  constructor(private readonly store: Store) {}

  /** The last complete reading of each account. One that was never read is missing. */
  async readings(): Promise<Map<string, SiteReading>> {
    const all = Object.entries(await this.store.hgetall(keys.sitesRead));
    return new Map(all.map(([account, json]) => [account, parseRecord(SiteReading, json, keys.sitesRead)]));
  }

  /** Puts a complete reading in the place of the last one, in one step. */
  async replace(account: string, at: number, sites: readonly SiteFacts[]): Promise<void> {
    const draft = `${keys.sites(account)}:${randomUUID()}`;
    for (let from = 0; from < sites.length; from += PAGE) {
      const page = sites.slice(from, from + PAGE);
      await this.store.hset(
        draft,
        ...page.flatMap((site) => [site.id, toJson(redact(site, scrubOnce) as SiteFacts)]),
      );
      await this.store.pexpire(draft, DRAFT_MS);
    }
    await takeDraft(this.store, {
      keys: { draft, sites: keys.sites(account), read: keys.sitesRead },
      args: { account, reading: toJson({ at, sites: sites.length }), count: sites.length },
    });
  }

  /** The sites of an account, by the page. One may come twice while a reading takes the place of another. */
  async *pages(account: string): AsyncGenerator<SiteFacts[]> {
    const key = keys.sites(account);
    let cursor = '0';
    do {
      const [next, flat] = await this.store.hscan(key, cursor, 'COUNT', PAGE);
      yield flat.filter((_, at) => at % 2 === 1).map((json) => parseRecord(SiteFacts, json, key));
      cursor = next;
    } while (cursor !== '0');
  }

  /** The titles of some of its sites, by id. */
  async titles(account: string, ids: readonly string[]): Promise<Map<string, string>> {
    if (ids.length === 0) return new Map();
    const key = keys.sites(account);
    const found = await this.store.hmget(key, ...ids);
    return new Map(
      found.flatMap((json) => {
        if (!json) return [];
        const { id, title } = parseRecord(SiteFacts, json, key);
        return [[id, title] as const];
      }),
    );
  }

  /** For an account that is no longer in the settings. */
  async forget(account: string): Promise<void> {
    await this.store.multi().hdel(keys.sitesRead, account).unlink(keys.sites(account)).exec();
  }
}
