import type { Exchange } from '../http/parts.ts';

/**
 * The only script of ours: shows moments in the reader's own time, and reads the live parts of a page again when an
 * event says that they changed. Pages are whole without it. A text, so that it is there after any build.
 */
const script = `
const live = document.body.dataset.liveOn;

function localTimes(root) {
  for (const time of root.querySelectorAll('time[datetime]')) {
    time.title = time.textContent;
    time.textContent = new Date(time.dateTime).toLocaleString(undefined, {
      year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit',
    });
  }
}

async function readAgain() {
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (answer.redirected) return location.reload();
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  localTimes(fresh);
  for (const part of document.querySelectorAll('[data-live]')) {
    const news = fresh.getElementById(part.id);
    if (news && news.innerHTML !== part.innerHTML) part.replaceChildren(...news.childNodes);
  }
}

let reading = Promise.resolve();
const refresh = () => (reading = reading.then(readAgain, readAgain));

function follow() {
  const events = new EventSource('/events');
  let lost = false;
  events.addEventListener('error', () => { lost = true; });
  events.addEventListener('hello', () => { if (lost) refresh(); lost = false; });
  events.addEventListener('changed', ({ data }) => {
    if (live === '*' || JSON.parse(data).runs.includes(live)) refresh();
  });
  addEventListener('pagehide', () => events.close());
}

localTimes(document);
addEventListener('pageshow', ({ persisted }) => { if (persisted) location.reload(); });
if (live) follow();
`;

export const sendScript = (c: Exchange): Response =>
  c.body(script, 200, { 'Content-Type': 'text/javascript; charset=UTF-8', 'Cache-Control': 'no-cache' });
