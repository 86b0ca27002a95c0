/**
 * The script of every page: shows times in the reader's time zone, and keeps the live parts of the page current.
 * The server sends what changed in the page's text (`page-text.ts`), while the page is visible. Pages are complete
 * without it.
 */

import { type Loss, openConnection } from './connection.ts';
import { followKeyboard } from './keyboard.ts';
import { showLocalTimes, showRelativeTimes, showTimeZone } from './local-times.ts';
import { followNewRows } from './new-rows.ts';
import { applyDelta, type Delta } from './page-text.ts';
import { changedRows, markChanged, patchContent } from './patch.ts';
import { pathHere } from './path-here.ts';
import { followQuestions } from './questions.ts';
import { followRange } from './range.ts';
import { suggestWhileTyping } from './search.ts';
import { followSelection } from './selection.ts';
import { openStreamPlaces } from './stream-places.ts';

const RELATIVE_TIMES_INTERVAL_MS = 10_000;
/** When the server refuses a stream, the page is read again in this interval. */
const REFRESH_INTERVAL_MS = 15_000;
/** The same when other windows hold the streams of this browser, and while there is no contact. */
const POLL_INTERVAL_MS = 4_000;
/** A stream says something every two seconds, and after four when Redis is slow. */
const SILENT_MS = 4_500;
const READ_TIMEOUT_MS = 6_000;
/** Under this the browser keeps the account that was chosen last. */
const ACCOUNT_KEY = 'caretaker-account';

/** Whether events change this page; and the server's time when it made the page. */
const { liveOn, now } = document.body.dataset;
const clockAheadMs = now ? Date.now() - Number(now) : 0;
const serverNow = (): number => Date.now() - clockAheadMs;

const connection = openConnection();

/** The latest text of the page, which may have rows that wait. */
let latest: string | undefined;
const newRows = followNewRows(() => {
  if (latest !== undefined) show(latest);
});

/** Brings the live parts up to date with a newer text of the page. */
function show(text: string): void {
  latest = text;
  const fresh = new DOMParser().parseFromString(text, 'text/html');
  showLocalTimes(fresh);
  showRelativeTimes(fresh, serverNow());
  for (const part of document.querySelectorAll('[data-live]')) {
    const freshPart = fresh.getElementById(part.id);
    if (!freshPart) continue;
    newRows.hold(part, freshPart);
    const changed = changedRows(part, freshPart);
    patchContent(part, freshPart);
    for (const row of changed) markChanged(row);
  }
}

/**
 * Follows the page until it is hidden or left. A page that events do not change follows a short one, for the notices
 * and numbers of its frame.
 */
function follow(): void {
  const places = openStreamPlaces();
  let since = now ?? '';
  let heardAt = Date.now();
  let events: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let starts = 0;
  let isReading = false;

  // Like all times of the page by the server's clock.
  const lose = (loss: Loss) => connection.lose(loss, heardAt - clockAheadMs);
  const hear = () => {
    heardAt = Date.now();
  };
  /** Reads the page again. Fresh data takes the bar away. */
  const read = async () => {
    if (isReading) return;
    isReading = true;
    const answer = await readPage();
    isReading = false;
    if (typeof answer !== 'object') return lose(answer);
    hear();
    if (answer.text !== undefined) show(answer.text);
    connection.regain();
  };
  const isBack = () => {
    if (connection.loss) void read();
    else hear();
  };

  const stop = () => {
    starts += 1;
    events?.close();
    clearTimeout(retry);
    events = undefined;
    places.leave();
  };
  const readIn = (ms: number) => {
    clearTimeout(retry);
    retry = setTimeout(() => void read().then(start), ms);
  };
  const start = async () => {
    stop();
    const own = starts;
    if (document.hidden) return;
    const mayStream = await places.take();
    if (own !== starts) return;
    if (!mayStream) return readIn(POLL_INTERVAL_MS);
    askedAt = Date.now();
    const page = liveOn ? location.pathname + location.search : pathHere('/search');
    events = new EventSource(pathHere(`/events?${new URLSearchParams({ page, since })}`));
    let parts: string[] = [];
    // After a new connection the first message is the whole page.
    events.addEventListener('hello', () => {
      parts = [];
    });
    events.addEventListener('pulse', ({ data }: MessageEvent<string>) => {
      askedAt = Date.now();
      if (data === 'redis' || data === 'gone') lose(data);
      else isBack();
    });
    events.addEventListener('page', ({ data }: MessageEvent<string>) => {
      parts = applyDelta(parts, JSON.parse(data) as Delta);
      since = String(serverNow());
      askedAt = Date.now();
      hear();
      show(parts.join(''));
      connection.regain();
    });
    events.addEventListener('error', () => {
      // The browser connects again; whether the server is there shows at once.
      if (events?.readyState !== EventSource.CLOSED) return void read();
      stop();
      // The session has ended, or there are too many streams.
      void read().then(() => readIn(connection.loss ? POLL_INTERVAL_MS : REFRESH_INTERVAL_MS));
    });
  };
  /** When the stream was opened or last said something. */
  let askedAt = Date.now();
  setInterval(() => {
    if (events && Date.now() - askedAt > SILENT_MS) lose('server');
  }, 500);
  addEventListener('pagehide', stop);
  document.addEventListener('visibilitychange', () => void start());
  void start();
}

/** The page as it is now, without a text when it is no page any more; or why it cannot be read. */
async function readPage(): Promise<{ text?: string } | Loss> {
  try {
    const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
    const response = await fetch(location.href, { headers: { accept: 'text/html' }, signal });
    if (response.redirected) return 'session';
    const text = await response.text();
    if (response.ok) return { text };
    if (response.status === 404) return 'gone';
    if (response.status < 500) return {};
    return text.includes('Redis does not answer') ? 'redis' : 'server';
  } catch {
    return 'server';
  }
}

showLocalTimes(document);
showRelativeTimes(document, serverNow());
showTimeZone(document);
setInterval(() => {
  if (!connection.loss) showRelativeTimes(document, serverNow());
}, RELATIVE_TIMES_INTERVAL_MS);
// A page from the browser's cache has closed its events.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
followAccount();
followKeyboard();
followQuestions();
followRange();
suggestWhileTyping();
followSelection();
followFilters();
followTheme();
followZone();
follow();

/**
 * A filter that is chosen with the pointer acts at once. With the keys it waits for Enter or the button: an arrow key
 * changes a list that is closed, one value after the other.
 */
function followFilters(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('form.filters')) {
    let isByKey = false;
    form.addEventListener('keydown', () => {
      isByKey = true;
    });
    form.addEventListener('pointerdown', () => {
      isByKey = false;
    });
    form.addEventListener('change', ({ target }) => {
      if (target instanceof HTMLSelectElement && !isByKey) form.requestSubmit();
    });
  }
}

/** Applies the theme that the reader chooses, and keeps it in a cookie for the next pages. */
function followTheme(): void {
  document.getElementById('theme')?.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    const { value } = target;
    if (value === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = value;
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in some browsers.
    document.cookie = `caretaker_theme=${value}; path=${pathHere('/')}; max-age=31536000; samesite=strict`;
  });
}

/** Pages that are laid out by days have the reader's time zone in their address: the server cannot know it otherwise. */
function followZone(): void {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  if (timeZone !== 'UTC')
    for (const link of document.querySelectorAll<HTMLAnchorElement>('nav.side a')) {
      const url = new URL(link.href);
      if (url.pathname !== pathHere('/schedule')) continue;
      url.searchParams.set('zone', timeZone);
      link.href = url.href;
    }
  const url = new URL(location.href);
  if (!document.querySelector('[data-zone]') || timeZone === (url.searchParams.get('zone') ?? 'UTC')) return;
  url.searchParams.set('zone', timeZone);
  location.replace(url);
}

/**
 * The choice of an account is in the address of pages that show one account alone. A page about one thing has none:
 * there the links of the sidebar keep the last choice of this tab.
 */
function followAccount(): void {
  const { account } = document.body.dataset;
  if (account !== undefined) {
    sessionStorage.setItem(ACCOUNT_KEY, account);
    return;
  }
  const kept = sessionStorage.getItem(ACCOUNT_KEY);
  if (!kept) return;
  for (const link of document.querySelectorAll<HTMLAnchorElement>('nav a[data-by-account]')) {
    const url = new URL(link.href);
    url.searchParams.set('account', kept);
    link.href = url.href;
  }
}
