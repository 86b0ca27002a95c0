/**
 * The script of every page: shows times in the reader's time zone, and reads the live parts of the page again
 * when an event says that they changed. Pages are complete without it.
 */
import { showLocalTimes, showRelativeTimes, showTimeZone } from './local-times.ts';
import { patchContent } from './patch.ts';

const RELATIVE_TIMES_INTERVAL_MS = 10_000;
/** For what no event reports: which processes are running, and what blocks them. */
const REFRESH_INTERVAL_MS = 15_000;

/** The run whose events change this page, or `*` for any; and the server's time when it made the page. */
const { liveOn, now } = document.body.dataset;
const clockAheadMs = now ? Date.now() - Number(now) : 0;
const serverNow = (): number => Date.now() - clockAheadMs;

/** Reads the page again and brings its live parts up to date. */
async function update(): Promise<void> {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } });
  // The session has ended: the reload leads to the sign-in page.
  if (response.redirected) return location.reload();
  if (!response.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
  showLocalTimes(fresh);
  showRelativeTimes(fresh, serverNow());
  for (const part of document.querySelectorAll('[data-live]')) {
    const freshPart = fresh.getElementById(part.id);
    if (freshPart) patchContent(part, freshPart);
  }
}

let updating: Promise<void> = Promise.resolve();
/** One update at a time. One that fails is not repeated: the next event or interval starts another. */
function refresh(): void {
  updating = updating.then(update).catch(() => undefined);
}

function followEvents(): void {
  const events = new EventSource('/events');
  let lost = false;
  events.addEventListener('error', () => {
    lost = true;
  });
  events.addEventListener('hello', () => {
    if (lost) refresh();
    lost = false;
  });
  events.addEventListener('changed', ({ data }: MessageEvent<string>) => {
    const { runs } = JSON.parse(data) as { runs: string[] };
    if (liveOn === '*' || (liveOn && runs.includes(liveOn))) refresh();
  });
  addEventListener('pagehide', () => events.close());
  setInterval(() => {
    if (!document.hidden) refresh();
  }, REFRESH_INTERVAL_MS);
}

showLocalTimes(document);
showRelativeTimes(document, serverNow());
showTimeZone(document);
setInterval(() => showRelativeTimes(document, serverNow()), RELATIVE_TIMES_INTERVAL_MS);
// A page from the browser's cache has closed its events.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
if (liveOn) followEvents();
