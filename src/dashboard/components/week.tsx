/** A week as a calendar: a column for each day, a line for each time. On a phone only the days, to choose one. */
import type { Calendar } from '../queries/schedule.ts';
import { type Entry, type Shown, startOf } from '../queries/schedule-entries.ts';
import { Icon } from './icon.tsx';
import { number } from './progress.tsx';
import { clockIn, dayName } from './time.tsx';

/** How many lines of a day; the others are counted. */
const MAX_LINES = 7;

/** It did not run, and no one decided that it should not. */
export const isMissed = ({ state }: Entry): boolean => state === 'missed' || state === 'not decided';

/** The tone of a state, or of the status of a run. */
export const toneOf = (entry: Entry): string | undefined => {
  const { state, status, isLate } = entry;
  if (isMissed(entry)) return 'missed';
  if (isLate) return 'bad';
  if (state === 'ran') return status ?? 'none';
  return state === 'planned' ? undefined : 'none';
};

interface WeekProps {
  calendar: Calendar;
  /** What is shown of each day. */
  days: readonly (readonly Shown[])[];
  /** The address of a day. */
  pathOf(day: string): string;
}

export const WeekCalendar = ({
  calendar: { zone, day: chosen, today, days: all },
  days,
  pathOf,
}: WeekProps) => (
  <ol class="week">
    {all.map(({ day }, index) => {
      const shown = days[index] ?? [];
      const runs = shown.reduce((sum, one) => sum + (one.is === 'many' ? one.entries.length : 1), 0);
      return (
        <li class={day === chosen ? 'chosen' : ''} data-key={day}>
          <a class="day" href={pathOf(day)} {...(day === chosen ? { 'aria-current': 'date' } : {})}>
            <span class={day === today ? 'strong' : ''}>
              {dayName(day)}
              {day === today && <span class="unseen">, today</span>}
            </span>
            <span class="dim" title={`${number(runs)} times on the schedule`}>
              {number(runs)}
            </span>
          </a>
          <ul>
            {shown.slice(0, MAX_LINES).map((one) => (
              <Line one={one} zone={zone} />
            ))}
            {shown.length > MAX_LINES && (
              <li>
                <a href={pathOf(day)}>{shown.length - MAX_LINES} more</a>
              </li>
            )}
            {shown.length === 0 && <li class="dim">nothing</li>}
          </ul>
        </li>
      );
    })}
  </ol>
);

const Line = ({ one, zone }: { one: Shown; zone: string }) => {
  const at = clockIn(zone, startOf(one));
  if (one.is === 'many') {
    const { entries, policy, to } = one;
    const troubled = entries.filter(isMissed).length;
    const text = `${at} to ${clockIn(zone, to)} ${policy.name}, ${entries.length} times`;
    return (
      <li class={troubled > 0 ? 'cut is-missed' : 'cut'} title={text}>
        <span class="at">{at}</span> {troubled > 0 && <Icon name="triangle-alert" />} {policy.name}{' '}
        <span class="dim">×{entries.length}</span>
        {troubled > 0 && <span class="unseen"> {troubled} missed</span>}
      </li>
    );
  }
  const { entry } = one;
  const tone = toneOf(entry);
  const isOff = entry.state === 'skipped' || entry.state === 'will be skipped' || entry.state === 'merged';
  const word = entry.state === 'planned' || entry.state === 'ran' ? '' : `: ${entry.state}`;
  const note = entry.note === undefined ? '' : `, ${entry.note}`;
  return (
    <li
      class={['cut', tone && `is-${tone}`, isOff && 'off'].filter(Boolean).join(' ')}
      title={`${at} ${entry.policy.name}${word}${note}`}
    >
      <span class="at">{at}</span> {isMissed(entry) && <Icon name="triangle-alert" />}
      <span class="of">{entry.policy.name}</span>
      {word && <span class="unseen">{word}</span>}
    </li>
  );
};
