/** The question what runs between two times, and the answer: a sentence and the runs. `client/range.ts` asks it by dragging. */
import { offsetAt } from '../../dates.ts';
import type { Collision } from '../../schedule/load.ts';
import { countOf } from '../../text.ts';
import type { Range, Span } from '../queries/schedule-range.ts';
import { useNow } from './contexts.tsx';
import { Icon } from './icon.tsx';
import { number } from './progress.tsx';
import { DayList } from './schedule-list.tsx';
import { clockIn, timeOnDay } from './time.tsx';

interface FormProps {
  path: string;
  span: Span;
  zone: string;
  /** Other parameters that are kept. */
  keep: Readonly<Record<string, string | undefined>>;
}

export const RangeForm = ({ path, span, zone, keep }: FormProps) => (
  <form class="filters" id="range-form" method="get" action={path} autocomplete="off">
    {(['from', 'to'] as const).map((name) => (
      <label for={`range-${name}`}>
        {name === 'from' ? 'What runs from' : 'To'}
        <input
          id={`range-${name}`}
          name={name}
          required
          maxlength={40}
          value={new Date(span[name] + offsetAt(zone, span[name]))
            .toISOString()
            .slice(0, 16)
            .replace('T', ' ')}
        />
      </label>
    ))}
    {Object.entries(keep).map(([name, value]) => value && <input type="hidden" name={name} value={value} />)}
    <button type="submit">Show</button>
    <span class="count middle-only">or drag over the day</span>
  </form>
);

export const RangeAnswer = ({ range, zone }: { range: Range; zone: string }) => {
  const { isGood, text } = verdictOf(range, zone, useNow());
  return (
    <>
      <p class={`note is-${isGood ? 'busy' : 'warn'}`}>
        <Icon name={isGood ? 'info' : 'triangle-alert'} /> {timeOnDay(zone, range.from)} to{' '}
        {clockIn(zone, range.to)}: {text}
      </p>
      <DayList
        name="The runs of this time"
        none="Nothing ran in this time, and no run is predicted."
        shown={range.entries.map((entry) => ({ is: 'single', entry }))}
        zone={zone}
      />
    </>
  );
};

/** Whether the budget suffices, in one sentence. */
function verdictOf(range: Range, zone: string, now: number): { isGood: boolean; text: string } {
  const { entries, to, spent, accounts, collisions, unknown } = range;
  const ran = entries.filter(({ state }) => state === 'ran').length;
  const before = ran > 0 ? `${countOf(ran, 'run')} ran, with ${number(spent)} requests. ` : '';
  if (to <= now) return { isGood: true, text: `This time is over. ${before || 'Nothing ran.'}` };
  const needed = (of: Range['accounts']) => {
    const sum = (key: 'requests' | 'free') => number(Math.round(of.reduce((all, one) => all + one[key], 0)));
    return `about ${sum('requests')} requests are predicted, and ${sum('free')} can be spent`;
  };
  const missing = unknown.length > 0 ? ` What ${unknown.join(', ')} needs is not known.` : '';
  const short = accounts.find(({ requests, free }) => requests > free);
  const say = (isGood: boolean, text: string) => ({ isGood, text: `${before}${text}${missing}` });
  if (short)
    return say(
      false,
      `The budget of ${short.account} does not suffice: ${needed([short])}. Runs will take longer.`,
    );
  if (collisions[0])
    return say(
      false,
      `The budget suffices as a whole: ${needed(accounts)}. But ${collisionInWords(collisions[0], zone)}`,
    );
  return say(unknown.length === 0, `The budget suffices: ${needed(accounts)}.`);
}

/** How many names in one sentence. */
const MAX_NAMES = 6;

/** `a and b overlap on the account default, Tue 24 Nov 02:00 to 02:12: together ...`. */
export function collisionInWords(
  { policies, account, from, to, perMinute, available, times }: Collision,
  zone: string,
): string {
  const again = times > 1 ? `, and ${times - 1} more ${times === 2 ? 'time' : 'times'} this week` : '';
  const until = timeOnDay(zone, to).slice(-5);
  return `${namesOf(policies)} run at the same time on the account ${account}, ${timeOnDay(zone, from)} to ${until}${again}: together they need about ${number(perMinute)} requests a minute, and ${number(available)} can be spent. They will take longer.`;
}

export const namesOf = (names: readonly string[]): string => {
  const shown = names.slice(0, MAX_NAMES);
  const more = names.length - shown.length;
  const all = more > 0 ? [...shown, `${more} more`] : shown;
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
};
