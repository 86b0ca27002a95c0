/** Times and durations. The server writes UTC; `client/live.ts` shows the reader's time zone. */
import { formatSpan, isoTime } from '../../clock.ts';
import { isTimezone, offsetAt } from '../../dates.ts';
import { lastingTime, relativeTime } from '../client/relative-time.ts';
import { useNow } from './contexts.tsx';

/**
 * A time. `relative`: how long ago or ahead, the exact time on hover. `both`: the exact time, and how long ago or
 * ahead. `exact`: only the exact time.
 */
export const Time = ({
  at,
  show = 'both',
}: {
  at: number | undefined;
  show?: 'relative' | 'both' | 'exact';
}) => {
  const now = useNow();
  if (at === undefined) return <span class="dim">–</span>;
  const iso = isoTime(at);
  if (show === 'relative') {
    return (
      <time class="ago" datetime={iso} data-of={iso} title={utcMinute(at)}>
        {relativeTime(at - now)}
      </time>
    );
  }
  const exact = <time datetime={iso}>{utcMinute(at)}</time>;
  if (show === 'exact') return exact;
  return (
    <span class="with-age">
      {exact}{' '}
      <span class="ago dim" data-of={iso}>
        {relativeTime(at - now)}
      </span>
    </span>
  );
};

/** A time in UTC, as other rooms write it into sentences. */
const WRITTEN_TIME = /(\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z)/;

/** How long something took; while it goes on, how long it has lasted, in whole minutes that the browser keeps current. */
export const Took = ({ from, to }: { from: number | undefined; to: number | undefined }) => {
  const now = useNow();
  if (from === undefined) return <span class="dim">–</span>;
  if (to !== undefined) return <>{span(to - from)}</>;
  return (
    <span class="lasts" data-of={isoTime(from)}>
      {lastingTime(now - from)}
    </span>
  );
};

/** A recorded sentence. Its times are marked, so that `client/live.ts` shows them in the reader's time zone. */
export const Sentence = ({ text }: { text: string }) => (
  <>
    {text.split(WRITTEN_TIME).map((part) => {
      const at = WRITTEN_TIME.test(part) ? Date.parse(part.replace(' ', 'T')) : Number.NaN;
      if (Number.isNaN(at)) return part;
      return /:\d\d:/.test(part) ? (
        <time class="to-second" datetime={isoTime(at)}>
          {isoTime(at).slice(0, 19).replace('T', ' ')} UTC
        </time>
      ) : (
        <time datetime={isoTime(at)}>{utcMinute(at)}</time>
      );
    })}
  </>
);

const utcMinute = (at: number): string => `${isoTime(at).slice(0, 16).replace('T', ' ')} UTC`;

/** A time in a given time zone, with its name: `Sun 22 Nov, 02:04 Europe/Berlin`. */
export function timeIn(at: number, timeZone: string): string {
  const form = {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  } as const;
  return `${new Date(at).toLocaleString('en-GB', { ...form, timeZone })} ${timeZone}`;
}

/** A short duration: `12 ms`. */
export const millis = (ms: number): string => (ms < 1 ? 'under 1\u00a0ms' : `${Math.round(ms)}\u00a0ms`);

/** A duration in its two largest units: `1 h 4 min`; a number and its unit stay on one line. */
export const span = (ms: number): string => formatSpan(ms).replaceAll(/(?<=\d) /g, '\u00a0');

// Days and times as texts in a given time zone, for pages that are laid out by days.

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** The time zone that an address names; UTC without one and for a name that is not known. */
export const zoneOf = (name: string | undefined): string =>
  name !== undefined && name.length <= 64 && isTimezone(name) ? name : 'UTC';

/** `02:00`. */
export const clockIn = (zone: string, at: number): string =>
  new Date(at + offsetAt(zone, at)).toISOString().slice(11, 16);

/** `Tue 24 Nov`, of a day such as `2026-11-24`. */
export function dayName(day: string): string {
  const date = new Date(day);
  return `${weekdays[date.getUTCDay()]} ${date.getUTCDate()} ${months[date.getUTCMonth()]}`;
}

/** `Tue 24 Nov 02:00`. */
export const timeOnDay = (zone: string, at: number): string => {
  const wall = new Date(at + offsetAt(zone, at)).toISOString();
  return `${dayName(wall.slice(0, 10))} ${wall.slice(11, 16)}`;
};
