/** What a policy may say by its form, and nobody means: each is a remark, with what was probably meant. */
import type { Path, Remark } from '../yaml/yaml-file.ts';
import { alwaysBlackedOut } from './always-blacked-out.ts';
import type { PolicyEntry } from './policy-file.ts';
import { type Calendars, toBlackout } from './to-policy.ts';

/** Where a number would be sent as a text: what YAML makes of it has to be what is written. */
const textPlaces: readonly Path[] = [
  ['select', 'filters'],
  ['with', 'params'],
];

/** Numbers that YAML reads as others than they look: `8.10` is 8.1 to it, and `012` is 12. */
export function misreadNumbers(
  entry: unknown,
  sourceOf: (path: Path) => string | undefined,
): [Path, Remark][] {
  const numbersIn = (value: unknown, at: Path): [Path, number][] => {
    if (typeof value === 'number') return [[at, value]];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) =>
      numbersIn(inner, [...at, Array.isArray(value) ? Number(key) : key]),
    );
  };
  return textPlaces.flatMap((place) => {
    const held = place.reduce<unknown>(
      (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
      entry,
    );
    return numbersIn(held, place).flatMap(([at, number]): [Path, Remark][] => {
      const source = sourceOf(at);
      if (source === undefined || source === String(number)) return [];
      const message = `Without quotes, ${source} is the number ${number}.`;
      return [[at, { message, suggestion: `quote it: "${source}"` }]];
    });
  });
}

/**
 * That every time of the schedule is on a day of its blackout: for ever, which is certain, or as far as one
 * looks ahead.
 */
export function blackoutRemark(
  { schedule }: { schedule?: Partial<NonNullable<PolicyEntry['schedule']>> | undefined },
  calendars: Calendars,
  now: number,
): (Remark & { certain: boolean }) | undefined {
  const { cron, blackout: entries } = schedule ?? {};
  if (cron === undefined || entries === undefined) return undefined;
  const blackout = entries.flatMap((one) => toBlackout(one, calendars));
  const found = alwaysBlackedOut([cron].flat(), blackout, now);
  if (!found) return undefined;
  const certain = found.is === 'always';
  const until = certain ? '' : ` until ${found.day}`;
  return {
    at: 'key',
    certain,
    message: `The policy never fires${until}: every time of the schedule is on a day of "blackout".`,
    suggestion: certain
      ? 'leave a weekday out, or set "enabled: false" to switch the schedule off'
      : undefined,
  };
}

interface Limited {
  select?: { limit?: number | undefined };
  limits?: { max_targets?: number };
}

/** A plan larger than `max_targets` is stopped before a larger `limit` could cut it. */
export function uselessLimit({ select, limits }: Limited): Remark[] {
  const [limit, most] = [select?.limit, limits?.max_targets];
  if (limit === undefined || most === undefined || limit <= most) return [];
  return [
    {
      message: `The limit of ${limit} is above limits.max_targets (${most}): a plan of more than ${most} targets stops the run instead of being cut.`,
      suggestion: `set max_targets to ${limit} or more, or a smaller limit`,
    },
  ];
}
