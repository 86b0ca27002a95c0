/** Times in which policies start no run, or skip targets: freezes, pauses that have an end, and days of blackout. */
import { DAY_MS, firstAt } from '../../dates.ts';
import type { Policy } from '../../policy/policy.ts';
import { formatRule } from '../../records/freeze-scope.ts';
import { effectOf, type Freeze, formatFreeze, formatFrozen } from '../../records/freeze-store.ts';
import { type PolicyState, pauseAt } from '../../records/policy-store.ts';
import { blackoutOnDay, dayNumber, formatBlackout } from '../../schedule/skip-cause.ts';

/** One cause, with all its times between two others. */
export interface ClosedTime {
  key: string;
  /** `Freeze: the tag "Premium"`. */
  what: string;
  /** The same with who and why. */
  text: string;
  spans: { from: number; to: number }[];
  /** What ends it, when it is a freeze. */
  freeze?: { id: string; account: string | undefined };
}

export function closedTimes(
  policies: readonly Policy[],
  states: ReadonlyMap<string, PolicyState>,
  freezes: readonly Freeze[],
  { from, to, now }: { from: number; to: number; now: number },
): ClosedTime[] {
  const found = new Map<string, ClosedTime & { names: string[] }>();
  const add = (
    key: string,
    one: Omit<ClosedTime, 'key' | 'spans'>,
    begin: number,
    end: number,
    name = '',
  ) => {
    if (end <= from || begin >= to) return;
    const known = found.get(key) ?? { key, ...one, spans: [], names: [] };
    if (!known.names.includes(name)) known.names.push(name);
    const last = known.spans.at(-1);
    if (last?.to === begin) last.to = end;
    else if (!known.spans.some((span) => span.from <= begin && span.to >= end))
      known.spans.push({ from: begin, to: end });
    found.set(key, known);
  };
  for (const freeze of freezes) {
    const { id = 'everything', rule, scope, at, until } = freeze;
    const what = `Freeze: ${formatFrozen(freeze)}`;
    // A rule of the settings has no end here: one time of it has.
    const isOfPerson = rule !== undefined && !freeze.by.startsWith('maintenance ');
    const ends = until > now && { freeze: { id: isOfPerson ? rule.id : id, account: scope?.account } };
    const again = rule ? `; again ${formatRule(rule)}` : '';
    const text = `${what}, ${formatFreeze(freeze)}: ${effectOf(freeze)}${again}`;
    add(`freeze ${rule?.id ?? id}`, { what, text, ...(ends || {}) }, at, until);
  }
  for (const policy of policies) {
    const { name, schedule } = policy;
    const pause = pauseAt(states.get(name), now);
    if (pause?.until !== undefined) {
      const text = formatFreeze({ ...pause, until: pause.until }).replace('frozen', 'paused');
      add(`pause ${text}`, { what: 'Pause', text }, pause.at, pause.until, name);
    }
    const { blackout = [], timezone: zone = 'UTC' } = schedule ?? {};
    for (let day = dayNumber(zone, from); blackout.length > 0 && day <= dayNumber(zone, to - 1); day += 1) {
      const days = blackoutOnDay(blackout, day);
      const text = days && `${formatBlackout(days)} (${zone})`;
      const [begin, end] = [firstAt(zone, day * DAY_MS), firstAt(zone, (day + 1) * DAY_MS)];
      if (text) add(`blackout ${text}`, { what: 'Blackout', text }, begin, end, name);
    }
  }
  return [...found.values()].map(({ names, ...one }) => {
    if (names[0] === '') return one;
    const whose = names.length > 3 ? `${names.length} policies` : names.join(', ');
    return { ...one, what: `${one.what}: ${whose}`, text: `${one.what} of ${names.join(', ')}: ${one.text}` };
  });
}
