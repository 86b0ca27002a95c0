import type { Exchange } from '../http/context.ts';

/**
 * The only script of ours: shows moments in the reader's own time and zone, and reads the live context of a
 * page again when an event says that they changed. What stayed the same stays in place, so that nobody loses
 * what they have focused, opened or typed. Pages are whole without it. A text, so that it is there after any
 * build.
 */
const script = `
const { liveOn, now } = document.body.dataset;
const clockAhead = now ? Date.now() - Number(now) : 0;
const short = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' };
const thisYear = new Intl.DateTimeFormat(undefined, short);
const anyYear = new Intl.DateTimeFormat(undefined, { ...short, year: 'numeric' });
const absolute = (date) => (date.getFullYear() === new Date().getFullYear() ? thisYear : anyYear).format(date);

function relative(ms) {
  const seconds = Math.abs(ms) / 1000;
  if (seconds < 45) return ms > 0 ? 'soon' : 'just now';
  const [size, unit] = seconds < 3570 ? [60, 'min'] : seconds < 84600 ? [3600, 'h'] : [86400, 'd'];
  const text = Math.round(seconds / size) + ' ' + unit;
  return ms > 0 ? 'in ' + text : text + ' ago';
}

function localTimes(root) {
  for (const time of root.querySelectorAll('time[datetime]')) {
    time.title = time.textContent;
    time.textContent = absolute(new Date(time.dateTime));
  }
}

function ages(root) {
  for (const age of root.querySelectorAll('.ago[data-of]')) {
    const text = relative(Date.parse(age.dataset.of) - (Date.now() - clockAhead));
    if (age.textContent !== text) age.textContent = text;
  }
}

const keyOf = (node) => (node.dataset ? node.dataset.key : undefined);
const isLike = (a, b) => a && a.nodeName === b.nodeName && a.id === b.id && !keyOf(a) && !keyOf(b);

/**
 * Makes the inside of one element like that of another, keeping every node that stands for the same thing.
 */
function become(old, fresh) {
  const keyed = new Map([...old.children].filter(keyOf).map((node) => [keyOf(node), node]));
  let at = old.firstChild;
  for (const node of [...fresh.childNodes]) {
    const same = keyOf(node) ? keyed.get(keyOf(node)) : isLike(at, node) ? at : undefined;
    if (!same) old.insertBefore(node, at);
    else {
      if (same === at) at = at.nextSibling;
      else old.insertBefore(same, at);
      if (same.nodeType === Node.ELEMENT_NODE) becomeOne(same, node);
      else if (same.data !== node.data) same.data = node.data;
    }
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

function becomeOne(old, fresh) {
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !(name === 'open' && old.nodeName === 'DETAILS')) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  become(old, fresh);
}

async function readAgain() {
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (answer.redirected) return location.reload();
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  localTimes(fresh);
  ages(fresh);
  for (const part of document.querySelectorAll('[data-live]')) {
    const news = fresh.getElementById(part.id);
    if (news) become(part, news);
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
    if (liveOn === '*' || JSON.parse(data).runs.includes(liveOn)) refresh();
  });
  addEventListener('pagehide', () => events.close());
  // What no event tells of: who is at work, and what stands in the way.
  setInterval(() => { if (!document.hidden) refresh(); }, 15000);
}

localTimes(document);
ages(document);
setInterval(() => ages(document), 10000);
const zone = document.getElementById('zone');
if (zone) {
  zone.textContent =
    'Times are in your time zone, ' + thisYear.resolvedOptions().timeZone + '; pointing at one shows it in UTC.';
}
addEventListener('pageshow', ({ persisted }) => { if (persisted) location.reload(); });
if (liveOn) follow();
`;

export const sendScript = (c: Exchange): Response =>
  c.body(script, 200, { 'Content-Type': 'text/javascript; charset=UTF-8', 'Cache-Control': 'no-cache' });
