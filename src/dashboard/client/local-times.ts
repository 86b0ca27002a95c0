/** Shows times in the reader's own time zone, and keeps the relative ones current. */
import { relativeTime } from './relative-time.ts';

const short = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const;
const inThisYear = new Intl.DateTimeFormat(undefined, short);
const inAnyYear = new Intl.DateTimeFormat(undefined, { ...short, year: 'numeric' });

const formatLocal = (date: Date): string =>
  (date.getFullYear() === new Date().getFullYear() ? inThisYear : inAnyYear).format(date);

/** Replaces the UTC text of every `<time>`; the UTC text becomes its title. */
export function showLocalTimes(root: Document): void {
  for (const time of root.querySelectorAll<HTMLTimeElement>('time[datetime]')) {
    time.title = time.textContent;
    time.textContent = formatLocal(new Date(time.dateTime));
  }
}

/** Writes how long ago or ahead each time is. `now` is the server's clock. */
export function showRelativeTimes(root: Document, now: number): void {
  for (const element of root.querySelectorAll<HTMLElement>('.ago[data-of]')) {
    const text = relativeTime(Date.parse(element.dataset['of'] ?? '') - now);
    if (element.textContent !== text) element.textContent = text;
  }
}

/** Says in the footer which time zone the page uses. */
export function showTimeZone(root: Document): void {
  const zone = root.getElementById('zone');
  if (!zone) return;
  const { timeZone } = inThisYear.resolvedOptions();
  zone.textContent = `Times are in your time zone, ${timeZone}; pointing at one shows it in UTC.`;
}
