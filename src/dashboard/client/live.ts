/**
 * The script of every page: shows times in the reader's time zone, and keeps the live parts of the page current.
 * The server sends what changed in the page's text (`page-text.ts`), while the page is visible. Pages are complete
 * without it.
 */
import { followAccount } from './account.ts';
import { changedRows, markChanged } from './changed-rows.ts';
import { followKeyboard } from './keyboard.ts';
import { showLocalTimes, showRelativeTimes, showTimeZone } from './local-times.ts';
import { followNewRows } from './new-rows.ts';
import { applyDelta, type Delta } from './page-text.ts';
import { patchContent } from './patch.ts';
import { pathHere } from './path-here.ts';
import { followQuestions } from './questions.ts';
import { suggestWhileTyping } from './search.ts';
import { followSelection } from './selection.ts';
import { followTheme } from './theme.ts';
import { followZone } from './zone.ts';

const RELATIVE_TIMES_INTERVAL_MS = 10_000;
/** When no stream can be opened, the page is read again in this interval. */
const REFRESH_INTERVAL_MS = 15_000;

/** Whether events change this page; and the server's time when it made the page. */
const { liveOn, now } = document.body.dataset;
const clockAheadMs = now ? Date.now() - Number(now) : 0;
const serverNow = (): number => Date.now() - clockAheadMs;

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

/** Follows the page until it is hidden or left. */
function follow(): void {
  let since = now ?? '';
  let events: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    events?.close();
    clearTimeout(retry);
    events = undefined;
  };
  const start = () => {
    stop();
    const page = location.pathname + location.search;
    events = new EventSource(pathHere(`/events?${new URLSearchParams({ page, since })}`));
    let parts: string[] = [];
    // After a new connection the first message is the whole page.
    events.addEventListener('hello', () => {
      parts = [];
    });
    events.addEventListener('page', ({ data }: MessageEvent<string>) => {
      parts = applyDelta(parts, JSON.parse(data) as Delta);
      since = String(serverNow());
      show(parts.join(''));
    });
    events.addEventListener('error', () => {
      if (events?.readyState !== EventSource.CLOSED) return;
      retry = setTimeout(() => void read().finally(start), REFRESH_INTERVAL_MS);
    });
  };
  addEventListener('pagehide', stop);
  document.addEventListener('visibilitychange', () => (document.hidden ? stop() : start()));
  if (!document.hidden) start();
}

/** Reads the page again: the server refused a stream. */
async function read(): Promise<void> {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => undefined);
  // The session has ended: the reload leads to the sign-in page.
  if (response?.redirected) return location.reload();
  if (response?.ok) show(await response.text());
}

showLocalTimes(document);
showRelativeTimes(document, serverNow());
showTimeZone(document);
setInterval(() => showRelativeTimes(document, serverNow()), RELATIVE_TIMES_INTERVAL_MS);
// A page from the browser's cache has closed its events.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
followAccount();
followKeyboard();
followQuestions();
suggestWhileTyping();
followSelection();
followTheme();
followZone();
if (liveOn) follow();
