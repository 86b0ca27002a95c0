/**
 * Keeps the pages that people have open up to date. However many readers have the same page with the same
 * permissions, it is made once, and each is sent only what changed in its text.
 *
 * Pages are made one at a time, with pauses in between that are a multiple of the work. So all live updates
 * together use a bounded part of a core: with more pages, or larger ones, updates come less often.
 */
import { isPermitted, type Principal } from '../../access/principal.ts';
import { type Delta, deltaOf, type Parts, partsOf } from '../client/page-text.ts';
import type { PageContext } from '../http/context.ts';
import { addEvent, type Changes, isNone, noChanges, seenBy } from './changes.ts';
import type { LivePages } from './live-reader.ts';

/** A page is made at most once in this time. */
const UPDATE_INTERVAL_MS = 1_000;
/** For what no event reports: which processes are running, and what blocks them. */
const REFRESH_INTERVAL_MS = 15_000;
/** After making a page, pause for this many times the CPU time that it took: less than 4% of a core. */
const PAUSES = 25;
/** A page that took long because the process was busy does not stop all others. */
const MAX_PAUSE_MS = 10_000;
/** A page shows the records as they were a little before the time that it bears. */
const READING_MS = 1_000;

/** Makes a page as a GET by this principal would; null when there is none, undefined when it has no page for another reason. */
export type MakePage = (path: string, principal: Principal) => Promise<string | null | undefined>;

/** A page with who sees it. */
interface Followed {
  page: LivePage;
  path: string;
  /** With the grants of its readers, and no name. */
  principal: Principal;
  changes: Changes;
  /** To be made although nothing is known to have changed. */
  isStale: boolean;
  madeAt: number;
}

export function openLivePages(context: PageContext, make: MakePage): LivePages {
  const { clock, closing, eventBus, log } = context;
  const pages = new Map<string, Followed>();
  let wake = new AbortController();
  let isUpdating = false;
  // What happened before this process started is not known.
  let lastEventAt = clock.now();
  const stop = eventBus.on((event) => {
    lastEventAt = clock.now();
    for (const { page, changes } of pages.values()) {
      if (page.on === '*' || ('run' in event && event.run === page.on)) addEvent(changes, event);
    }
    wake.abort();
  });
  closing.addEventListener('abort', stop, { once: true });

  /** When the page is to be made next. */
  const dueAt = ({ isStale, changes, madeAt }: Followed): number =>
    madeAt + (isStale || !isNone(changes) ? UPDATE_INTERVAL_MS : REFRESH_INTERVAL_MS);

  async function update(one: Followed): Promise<void> {
    const { changes } = one;
    one.changes = noChanges();
    const isChanged = async () => !isNone(changes) && !isNone(await seenBy(one.principal, changes, context));
    const isNeeded = one.isStale || clock.now() - one.madeAt >= REFRESH_INTERVAL_MS || (await isChanged());
    if (!isNeeded) return;
    one.madeAt = clock.now();
    one.isStale = false;
    const text = await make(one.path, one.principal);
    one.page.isGone = text === null;
    if (text) one.page.take(text);
  }

  async function keepUpToDate(): Promise<void> {
    while (pages.size > 0 && !closing.aborted) {
      const [next] = [...pages.values()].sort((a, b) => dueAt(a) - dueAt(b));
      const wait = next ? dueAt(next) - clock.now() : 0;
      if (!next || wait > 0) {
        wake = new AbortController();
        await clock.sleep(wait, AbortSignal.any([wake.signal, closing]));
        continue;
      }
      const before = process.cpuUsage();
      await update(next).catch((error: unknown) => {
        // It is made again with the next event or refresh.
        next.madeAt = clock.now();
        log.debug({ err: error, path: next.path }, 'an open page could not be updated');
      });
      const { user, system } = process.cpuUsage(before);
      await clock.sleep(Math.min(((user + system) / 1_000) * PAUSES, MAX_PAUSE_MS), closing);
    }
  }

  function start(): void {
    wake.abort();
    if (isUpdating) return;
    isUpdating = true;
    void keepUpToDate().finally(() => {
      isUpdating = false;
      if (pages.size > 0 && !closing.aborted) start();
    });
  }

  return {
    renew() {
      for (const page of pages.values()) page.isStale = true;
      wake.abort();
    },
    follow(path, principal, since) {
      const key = `${path}\n${JSON.stringify(principal.grants)}`;
      const followed = pages.get(key) ?? {
        page: new LivePage(),
        path,
        principal: { kind: principal.kind, name: '', grants: principal.grants },
        changes: noChanges(),
        isStale: false,
        madeAt: Number.NEGATIVE_INFINITY,
      };
      const { page } = followed;
      // Whether something changed since is known for everything only: others could learn when others work.
      const missed = !isPermitted(principal, 'viewer') || lastEventAt >= since - READING_MS;
      const isCurrent = followed.madeAt >= since;
      if (!isCurrent) {
        if (missed) followed.isStale = true;
        else if (followed.madeAt < 0) followed.madeAt = since;
      }
      page.readers += 1;
      pages.set(key, followed);
      start();
      let held: Parts = [];
      // What the reader's own copy shows.
      let shown = isCurrent || missed ? undefined : page.parts;
      return {
        async next(timeoutMs, ended) {
          if (!page.parts || page.parts === shown)
            await clock.sleep(timeoutMs, AbortSignal.any([page.nextChange, ended]));
          const { parts } = page;
          if (!parts || parts === shown) return undefined;
          const delta = page.deltaFrom(held, parts);
          held = parts;
          shown = parts;
          return delta;
        },
        isGone: () => page.isGone,
        close() {
          page.readers -= 1;
          if (page.readers === 0) pages.delete(key);
          wake.abort();
        },
      };
    },
  };
}

/** Where `Layout` writes when the page was made: the only text that differs although nothing changed. */
const MADE_AT = / data-now="\d+"/;
const LIVE_ON = / data-live-on="([^"]*)"/;

/** A page that readers have open: its latest text, and what each reader is to be sent. */
class LivePage {
  /** As it was last made; missing before that. */
  parts: Parts | undefined;
  /** The run whose events concern it, or `*` for any; undefined for a page that does not change any more. */
  on: string | undefined = '*';
  /** Its policy, run or site is no longer there. */
  isGone = false;
  /** How many readers follow it. */
  readers = 0;
  private changed = new AbortController();
  /** Readers that have the same text are sent the same. */
  private readonly deltas = new WeakMap<Parts, { to: Parts; json: string }>();

  /** Takes a newly made text. */
  take(text: string): void {
    this.on = LIVE_ON.exec(text)?.[1];
    const parts = partsOf(text.replace(MADE_AT, ''));
    const { parts: before } = this;
    if (before && before.length === parts.length && before.every((part, at) => part === parts[at])) return;
    this.parts = parts;
    this.changed.abort();
    this.changed = new AbortController();
  }

  /** Aborts when the text changes. */
  get nextChange(): AbortSignal {
    return this.changed.signal;
  }

  /** What leads from the text that a reader has to the latest one, as JSON. */
  deltaFrom(held: Parts, to: Parts): string {
    const known = this.deltas.get(held);
    if (known?.to === to) return known.json;
    const json = JSON.stringify(deltaOf(held, to) satisfies Delta);
    this.deltas.set(held, { to, json });
    return json;
  }
}
