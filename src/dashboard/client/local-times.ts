/** Shows times in the reader's own time zone, and keeps the relative ones current. */
import { lastingTime, relativeTime } from './relative-time.ts';

/** 22:00 is 22:00 on every page: those that are laid out by days have no other form. */
const short = {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
} as const;
const inThisYear = new Intl.DateTimeFormat(undefined, short);
const inAnyYear = new Intl.DateTimeFormat(undefined, { ...short, year: 'numeric' });

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

const toSecond = new Intl.DateTimeFormat(undefined, { ...short, second: '2-digit' });

const formatLocal = (date: Date, withSeconds = false): string => {
  if (withSeconds) return toSecond.format(date);
  return (date.getFullYear() === new Date().getFullYear() ? inThisYear : inAnyYear).format(date);
};

/** `02:14`, with the day when that is another one. */
export const formatClock = (date: Date): string =>
  date.toDateString() === new Date().toDateString() ? clock.format(date) : formatLocal(date);

/** Replaces the UTC text of every `<time>`; the UTC text becomes its title. Relative times get both as their title. */
export function showLocalTimes(root: Document): void {
  showLocalTitles(root);
  for (const time of root.querySelectorAll<HTMLTimeElement>('time[datetime]')) {
    const date = new Date(time.dateTime);
    const local = time.classList.contains('clock')
      ? clock.format(date)
      : formatLocal(date, time.classList.contains('to-second'));
    if (time.classList.contains('ago')) {
      time.title = `${local} (${time.title})`;
      continue;
    }
    time.title = time.textContent;
    time.textContent = local;
  }
}

/** A time in UTC inside a text that cannot have elements, as the server writes it. */
const WRITTEN_TIME = /\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?Z/g;

/** The same for the titles of what is drawn in charts. */
function showLocalTitles(root: Document): void {
  for (const title of root.querySelectorAll('svg title')) {
    title.textContent = title.textContent.replaceAll(WRITTEN_TIME, (at, seconds?: string) =>
      formatLocal(new Date(at.replace(' ', 'T')), seconds !== undefined),
    );
  }
}

/** Writes how long ago or ahead each time is, and how long what goes on has lasted. `now` is the server's clock. */
export function showRelativeTimes(root: Document, now: number): void {
  for (const element of root.querySelectorAll<HTMLElement>('.ago[data-of]')) {
    const text = relativeTime(Date.parse(element.dataset['of'] ?? '') - now);
    if (element.textContent !== text) element.textContent = text;
  }
  for (const element of root.querySelectorAll<HTMLElement>('.lasts[data-of]')) {
    const text = lastingTime(now - Date.parse(element.dataset['of'] ?? ''));
    if (element.textContent !== text) element.textContent = text;
  }
}

/** Says in the user's menu which time zone the page uses. */
export function showTimeZone(root: Document): void {
  const zone = root.getElementById('zone');
  if (!zone) return;
  const { timeZone } = inThisYear.resolvedOptions();
  zone.textContent = `Times are in your time zone, ${timeZone}; pointing at one shows it in UTC.`;
}
