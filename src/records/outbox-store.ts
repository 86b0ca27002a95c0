/**
 * The outbox: what is still to be written to the sites (`record:` of a policy), by account and site. The script
 * that ends a target adds to it, so no end is lost. Any process may claim a site that is due. A claim that is
 * not ended expires.
 *
 * Beside it: which custom work entries are there, and which note on a site is a policy's. Both are also found
 * in the service, if they are lost here.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { DAY_MS } from '../dates.ts';
import { defineScript } from '../redis/script.ts';
import type { Store } from '../redis/store.ts';
import { type OutboxState, SiteRecord } from '../run/recordings.ts';
import { Intent } from '../run/run.ts';
import { scrub } from '../secrets.ts';
import type { GenerationStore } from './generation-store.ts';
import { keys } from './keys.ts';
import { RECORDS_VERSION } from './migrations/migrations.ts';
import {
  claimSite,
  countRecordRequests,
  leaveSite,
  noteSiteIntent,
  OUTBOX_DELAY_MS,
  postponeSites,
  setRecordState,
  takeBackSites,
} from './outbox-scripts.ts';
import { parseRecord } from './parse-record.ts';

/** When a request was about to be sent, also by the service's clock. */
const SiteIntent = Intent.pick({ at: true, serviceAt: true });
export type SiteIntent = z.output<typeof SiteIntent>;

/** A site that this process writes to. */
export interface ClaimedSite {
  account: string;
  site: string;
  /** Identifies this claim. Nothing is written under an id that is not the latest. */
  id: string;
  /** The runs that have something to be written, and a number that grows with each of their ends. */
  runs: { id: string; version: string }[];
  /** When the requests without a known result were about to be sent, by name. */
  intents: ReadonlyMap<string, SiteIntent>;
  /** How often it was tried again. */
  waits: number;
}

/** The note of a policy on a site; or since when it is no longer the policy's, because a person removed it. */
const LivingNote = z.union([z.object({ noteId: z.string() }), z.object({ removedAt: z.number() })]);
export type LivingNote = z.output<typeof LivingNote>;

export type RecordKind = 'work' | 'note';

/** How many sites are read at once. */
const PAGE = 500;
/** Entries are written within days of their day. */
const ENTRIES_KEPT_MS = 20 * DAY_MS;
const NOTES_KEPT_MS = 400 * DAY_MS;

/** Sets a field of a hash that is forgotten when no one has set one for this long. */
const setField = defineScript(
  { keys: ['hash'], args: ['field', 'value', 'ttl'] },
  `
redis.call('HSET', keys.hash, args.field, args.value)
redis.call('PEXPIRE', keys.hash, args.ttl)
return 1`,
);

const entryField = (policy: string, site: string) => `${policy}\n${site}`;

export class OutboxStore {
  constructor(
    private readonly store: Store,
    private readonly generation: GenerationStore,
  ) {}

  /** The accounts that have something in their outbox. */
  accounts(): Promise<string[]> {
    return this.store.smembers(keys.outboxAccounts);
  }

  /** Claims the first site that is due, for `ms`. */
  async claim(account: string, now: number, ms: number, address = ''): Promise<ClaimedSite | undefined> {
    const id = randomUUID();
    const claimed = (await claimSite(this.store, {
      keys: { outbox: keys.outbox(account), addresses: keys.addresses },
      args: {
        account,
        address,
        now,
        due_at: now + ms,
        outbox_prefix: keys.outboxSite(account, ''),
        claim: id,
      },
    })) as [string, string[]] | null;
    if (!claimed) return undefined;
    const [site, flat] = claimed;
    const fields = new Map<string, string>();
    for (let i = 0; i + 1 < flat.length; i += 2) fields.set(flat[i] ?? '', flat[i + 1] ?? '');
    const named = (prefix: string) =>
      [...fields].flatMap(([field, value]) =>
        field.startsWith(prefix) ? [[field.slice(prefix.length), value] as const] : [],
      );
    return {
      account,
      site,
      id,
      runs: named('run:').map(([id, version]) => ({ id, version })),
      intents: new Map(
        named('intent:').map(([name, json]) => [
          name,
          parseRecord(SiteIntent, json, keys.outboxSite(account, site)),
        ]),
      ),
      waits: Number(fields.get('waits') ?? 0),
    };
  }

  /** Records that a request is about to be sent. False when nothing may be sent under this claim any more. */
  async noteIntent(
    { account, site, id: claim }: ClaimedSite,
    name: string,
    intent: SiteIntent,
  ): Promise<boolean> {
    const { id, number } = this.generation.remembered;
    const raised = Number(
      await noteSiteIntent(this.store, {
        keys: {
          site: keys.outboxSite(account, site),
          generation: keys.generation,
          schema: keys.schema,
        },
        args: {
          claim,
          name,
          intent: JSON.stringify(intent),
          generation_id: id,
          generation: number,
          records_version: RECORDS_VERSION,
        },
      }),
    );
    if (raised > 0) this.generation.observe({ id, number: raised });
    return raised > 0;
  }

  /** What the run has to write to the site, and whether it is written; undefined when the run was removed. */
  async recordOf(run: string, site: string): Promise<SiteRecord | undefined> {
    const key = keys.records(run);
    const json = await this.store.hget(key, site);
    return json === null ? undefined : parseRecord(SiteRecord, json, key);
  }

  /**
   * Sets the state of one record of a run, as it was read. A note for which more targets have ended meanwhile
   * stays pending. `drop`: the name of an intent that has its result.
   */
  async setState(
    { account, site, id: claim }: ClaimedSite,
    run: string,
    kind: RecordKind,
    { done, failed }: SiteRecord,
    to: { state: 'recorded' | 'failed' | 'left'; why?: string; drop?: string },
  ): Promise<void> {
    await setRecordState(this.store, {
      keys: {
        run: keys.run(run),
        records: keys.records(run),
        site_hash: keys.outboxSite(account, site),
      },
      args: {
        site,
        kind,
        state: to.state,
        why: scrub(to.why ?? ''),
        done,
        failed,
        claim,
        drop: to.drop ?? '',
      },
    });
  }

  /** Counts requests that were sent to write what the run did. */
  async countRequests(run: string, requests: number): Promise<void> {
    if (requests > 0)
      await countRecordRequests(this.store, { keys: { run: keys.run(run) }, args: { requests } });
  }

  /**
   * Ends a claim. The `settled` runs leave the outbox; with any left, the site is due again at `due`. Targets
   * that ended meanwhile keep their run in the outbox.
   */
  async leave(
    { account, site, id: claim }: ClaimedSite,
    settled: ClaimedSite['runs'],
    { due, waits = 0, detail = '' }: { due: number; waits?: number; detail?: string },
  ): Promise<void> {
    await leaveSite(this.store, {
      keys: {
        outbox: keys.outbox(account),
        outbox_since: keys.outboxSince(account),
        outbox_accounts: keys.outboxAccounts,
        site: keys.outboxSite(account, site),
      },
      args: { site, claim, due, waits, detail: scrub(detail), account },
      argList: settled.flatMap(({ id, version }) => [id, version]),
    });
  }

  /**
   * Makes everything wait again and ends all claims, because Redis was restored to an older state: the lists of
   * the service may not yet show what was written after it.
   */
  async postpone(now: number): Promise<void> {
    for (const account of await this.accounts()) {
      const args = { due_at: now + OUTBOX_DELAY_MS, outbox_prefix: keys.outboxSite(account, '') };
      const outbox = keys.outbox(account);
      for await (const argList of this.sitesIn(outbox))
        await postponeSites(this.store, { keys: { outbox }, args, argList });
    }
  }

  /** The clock went back from `before` to `now`: what is due at a time that was set meanwhile is due as much earlier. */
  async takeBack(account: string, { now, before }: { now: number; before: number }): Promise<void> {
    const outbox = keys.outbox(account);
    const args = { now, ahead: before - now };
    for await (const argList of this.sitesIn(outbox))
      await takeBackSites(this.store, { keys: { outbox }, args, argList });
  }

  private async *sitesIn(outbox: string): AsyncGenerator<string[]> {
    let cursor = '0';
    do {
      const [next, flat] = await this.store.zscan(outbox, cursor, 'COUNT', PAGE);
      yield flat.filter((_, at) => at % 2 === 0);
      cursor = next;
    } while (cursor !== '0');
  }

  async state(account: string): Promise<OutboxState> {
    const since = keys.outboxSince(account);
    const waiting = await this.store.zcard(since);
    const [site, at] = await this.store.zrange(since, '0', '0', 'WITHSCORES');
    if (site === undefined) return { waiting };
    const detail = await this.store.hget(keys.outboxSite(account, site), 'detail');
    return { waiting, oldest: { site, since: Number(at), ...(detail ? { detail } : {}) } };
  }

  /** Whether the site has the policy's custom work entry of a day, as far as the records show. */
  async hasEntry(account: string, { policy, site, day }: EntryId): Promise<boolean> {
    return (await this.store.hexists(keys.entries(account, day), entryField(policy, site))) === 1;
  }

  async noteEntry(account: string, { policy, site, day }: EntryId): Promise<void> {
    const args = { field: entryField(policy, site), value: '1', ttl: ENTRIES_KEPT_MS };
    await setField(this.store, { keys: { hash: keys.entries(account, day) }, args });
  }

  async livingNote(account: string, policy: string, site: string): Promise<LivingNote | undefined> {
    const key = keys.livingNotes(account, policy);
    const json = await this.store.hget(key, site);
    return json === null ? undefined : parseRecord(LivingNote, json, key);
  }

  async setLivingNote(account: string, policy: string, site: string, note: LivingNote): Promise<void> {
    const args = { field: site, value: JSON.stringify(note), ttl: NOTES_KEPT_MS };
    await setField(this.store, { keys: { hash: keys.livingNotes(account, policy) }, args });
  }
}

/** What a custom work entry is about. */
export interface EntryId {
  policy: string;
  site: string;
  /** In the time zone of the schedule. */
  day: string;
}
