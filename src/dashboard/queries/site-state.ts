/** How a site is, as the service says now. */
import type { Client } from '../../client/client.ts';
import type { Clock } from '../../clock.ts';
import type { SiteDetails } from '../../contract/operations/sites.ts';
import { messageOf } from '../../errors.ts';
import { redact } from '../../secrets.ts';

/** What is shown of a site. The rest of the answer, which may have credentials, is dropped at once. */
export type SiteFacts = Pick<
  SiteDetails,
  'url' | 'title' | 'client' | 'tags' | 'server' | 'sync' | 'locked'
> & {
  connection: string | undefined;
  core: SiteDetails['wp'];
};

export type SiteState = { at: number } & ({ site: SiteFacts } | { unknown: string });

interface StateDeps {
  link(account: string): { client: Client };
  clock: Pick<Clock, 'now'>;
}

const KEPT_MS = 60_000;
const MAX_KEPT = 500;
/** The page waits no longer for the service. */
const TIMEOUT_MS = 3_000;

/** A state that was asked for, perhaps without an answer so far. */
interface Kept {
  at: number;
  state: Promise<SiteState>;
}

/** The states that were read last, of each process. */
const kept = new WeakMap<object, Map<string, Kept>>();

/**
 * The state of a site: one request of the class `person`, at most once a minute for all readers of a process, also when
 * they ask at the same time. Says why when it is not known; never throws.
 */
export function siteState(deps: StateDeps, account: string, site: string): Promise<SiteState> {
  const states = kept.get(deps) ?? new Map<string, Kept>();
  kept.set(deps, states);
  const key = `${account}\n${site}`;
  const known = states.get(key);
  const at = deps.clock.now();
  if (known && at - known.at < KEPT_MS) return known.state;
  const state = readState(deps, account, site);
  states.delete(key);
  states.set(key, { at, state });
  const [oldest] = states.keys();
  if (states.size > MAX_KEPT && oldest !== undefined) states.delete(oldest);
  return state;
}

async function readState({ link, clock }: StateDeps, account: string, id: string): Promise<SiteState> {
  const at = clock.now();
  try {
    const { site } = await link(account).client.call(
      'showSite',
      { site_id: id },
      { requestClass: 'person', whenSpent: 'leave', signal: AbortSignal.timeout(TIMEOUT_MS) },
    );
    const { url, title, client, tags, server, sync, locked, connection, wp } = site;
    const facts = {
      url,
      title,
      client,
      tags,
      server,
      sync,
      locked,
      connection: connection?.status,
      core: wp,
    };
    return { at, site: redact(facts) as SiteFacts };
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError';
    return {
      at,
      unknown: isLate ? `The service did not answer within ${TIMEOUT_MS / 1000} s.` : messageOf(error),
    };
  }
}
