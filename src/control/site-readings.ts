/**
 * Reads the sites of accounts into the records (`records/site-store.ts`), when somebody looks at them and they are not
 * recent. One reading of an account at a time, for all who look, in all processes.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BudgetSpentError } from '../budget/budget.ts';
import type { Client } from '../client/client.ts';
import { type ListPosition, readList, refuseIncomplete } from '../client/pages.ts';
import type { Item } from '../contract/operations.ts';
import { defined } from '../defined.ts';
import { messageOf } from '../errors.ts';
import type { Records } from '../records/records.ts';
import type { SiteFacts, SiteReading } from '../records/site-store.ts';

export interface SiteReadingDeps {
  settings: { accounts: Readonly<Record<string, unknown>> };
  link(account: string): { client: Client };
  /**
   * How long somebody waits for a reading, which goes on meanwhile. Default 3 s; 0: none is started, for a page that is
   * brought up to date.
   */
  maxReadingMs?: number;
}

type Deps = SiteReadingDeps & { records: Records; clock: { now(): number } };

const MAX_READING_MS = 3_000;
/** A reading is recent for this long; of a large account longer, so that it takes at most ten requests a minute. */
const RECENT_MS = 300_000;
const RECENT_MS_PER_SITE = 60;
/** After a reading that ended early, the account is not asked again for this long. */
const RETRY_MS = 60_000;
/** For so long, the next reading goes on where the budget ended one: a large account takes several windows. */
const CONTINUED_MS = 900_000;
const LEASE_MS = 30_000;
const LEASE_INTERVAL_MS = 200;

/** The last reading of an account in this process. */
interface Reading {
  at: number;
  done: Promise<void>;
  isOver?: true;
  /** Why it ended early. */
  why?: string;
  /** What was read, since when, and where to go on; only after a spent budget. */
  part?: { at: number; sites: Map<string, SiteFacts>; position?: ListPosition };
}

const ofProcess = new WeakMap<Records, Map<string, Reading>>();

/**
 * Makes the record of these accounts recent, and waits for it up to `maxReadingMs`. Gives the accounts of which it is not
 * recent, each with a sentence that says why. Never throws for what the service does.
 */
export async function readSites(deps: Deps, accounts: readonly string[]): Promise<Map<string, string>> {
  const { records, settings, clock, maxReadingMs = MAX_READING_MS } = deps;
  const recorded = await records.sites.readings();
  for (const account of recorded.keys())
    if (!Object.hasOwn(settings.accounts, account)) await records.sites.forget(account);
  const known = ofProcess.get(records) ?? new Map<string, Reading>();
  ofProcess.set(records, known);
  const end = new AbortController();
  const time = Number.isFinite(maxReadingMs)
    ? sleep(maxReadingMs, undefined, { ref: false, signal: end.signal }).catch(() => undefined)
    : new Promise<never>(() => undefined);
  const notNewer = new Map<string, string>();
  await Promise.all(
    accounts.map(async (account) => {
      if (isRecent(recorded.get(account), clock.now())) return;
      const reading = maxReadingMs > 0 ? readingOf(deps, account, known) : known.get(account);
      if (maxReadingMs > 0) await Promise.race([reading?.done, time]);
      if (reading?.why !== undefined) notNewer.set(account, reading.why);
      else if (reading && !reading.isOver)
        notNewer.set(account, 'The service has not shown all of them yet; the reading goes on.');
    }),
  );
  end.abort();
  return notNewer;
}

const isRecent = (reading: SiteReading | undefined, now: number): boolean =>
  reading !== undefined &&
  Math.abs(now - reading.at) < Math.max(RECENT_MS, reading.sites * RECENT_MS_PER_SITE);

/** The reading that is in progress, or ended early just now; else a new one. */
function readingOf(deps: Deps, account: string, known: Map<string, Reading>): Reading {
  const last = known.get(account);
  const now = deps.clock.now();
  if (last && (!last.isOver || (last.why !== undefined && now - last.at < RETRY_MS))) return last;
  const part = last?.part && now - last.part.at < CONTINUED_MS ? last.part : { at: now, sites: new Map() };
  const reading: Reading = { at: now, done: Promise.resolve() };
  reading.done = read(deps, account, part)
    .catch((error: unknown) => {
      reading.why = messageOf(error);
      if (error instanceof BudgetSpentError) reading.part = part;
    })
    .then(() => {
      reading.isOver = true;
    });
  known.set(account, reading);
  return reading;
}

async function read({ records, clock, link }: Deps, account: string, part: NonNullable<Reading['part']>) {
  const [lease, owner] = [`sites-${account}`, randomUUID()];
  const acquire = () => records.locks.acquire(lease, owner, LEASE_MS);
  while (!(await acquire())) {
    await sleep(LEASE_INTERVAL_MS);
    // Another process has read them meanwhile.
    if (isRecent((await records.sites.readings()).get(account), clock.now())) return;
  }
  try {
    const { client } = link(account);
    const fetchPage = async (page: object) => {
      await acquire();
      return client.call('listSites', page, { requestClass: 'person', whenSpent: 'leave' });
    };
    const earlier = part.position && { position: part.position, given: [...part.sites.keys()] };
    const listed = readList('listSites', fetchPage, { earlier, onIncomplete: refuseIncomplete });
    for await (const { item, position } of listed) {
      part.sites.set(item.id, factsOf(item));
      part.position = position;
    }
    await records.sites.replace(account, part.at, [...part.sites.values()]);
  } finally {
    await records.locks.release(lease, owner);
  }
}

/** What lists show of a site. Credentials and email addresses are left out. */
function factsOf({
  id,
  title,
  url,
  client,
  tags,
  server,
  sync,
  backups,
  ...site
}: Item<'listSites'>): SiteFacts {
  const { id: clientId = '', company_name: company, first_name: first, last_name: last } = client ?? {};
  const name = company?.trim() || [first, last].filter(Boolean).join(' ').trim() || clientId;
  const snapshot = backups?.latest_snapshot;
  return {
    ...{ id, title: title ?? '', url },
    ...defined({
      client: client && { id: clientId, name },
      tags: tags?.map((tag) => ({ id: tag.id, name: tag.name ?? tag.id })),
      last_sync_at: sync?.last_sync_at,
      last_sync_status: sync?.last_sync_status,
      syncs_paused: sync?.paused,
      connection: site.connection?.status,
      scanner: site.security?.scanner?.status,
      backups_enabled: backups?.enabled,
      latest_snapshot: snapshot && defined({ created_at: snapshot.created_at, status: snapshot.status }),
      core_update: site.wp?.core?.update_available,
      php_version: server?.php_version,
      locked: site.locked,
    }),
  };
}
