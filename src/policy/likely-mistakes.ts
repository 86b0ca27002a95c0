/** Policies that are valid in form and probably not what their author wants: remarks with suggestions. */
import type { Path, Remark } from '../yaml/yaml-file.ts';
import { alwaysBlackedOut } from './always-blacked-out.ts';
import type { PolicyEntry } from './policy-file.ts';
import { type Calendars, toBlackout } from './to-policy.ts';

/** Where numbers are sent as text, so that YAML must not change them. */
const textPlaces = (entry: unknown): Path[] => {
  const { steps } = (entry ?? {}) as { steps?: unknown };
  return [
    ['select', 'filters'],
    ['select', 'for_each', 'filters'],
    ['select', 'join'],
    ['with', 'params'],
    ...(Array.isArray(steps) ? steps.map((_, i): Path => ['steps', i, 'with', 'params']) : []),
  ];
};

/** Numbers whose value in YAML differs from their text: YAML reads `8.10` as 8.1, and `012` as 12. */
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
  return textPlaces(entry).flatMap((place) => {
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
 * A remark when every time of the schedule is on a day of its blackout. It is certain when that is so
 * forever, and a warning when it is so for the days that were checked.
 */
export function blackoutRemark(
  { schedule }: { schedule?: Partial<NonNullable<PolicyEntry['schedule']>> | undefined },
  calendars: Calendars,
  now: number,
): (Remark & { certain: boolean }) | undefined {
  const { cron, blackout: entries, on_blackout: onBlackout = 'skip' } = schedule ?? {};
  if (cron === undefined || entries === undefined) return undefined;
  const blackout = entries.flatMap((one) => toBlackout(one, calendars));
  const found = alwaysBlackedOut([cron].flat(), blackout, onBlackout, now);
  if (!found) return undefined;
  const certain = found.is === 'always';
  const until = certain ? '' : ` until ${found.day}`;
  return {
    at: 'key',
    certain,
    message: `The policy never fires${until}: every time of the schedule is on a day of "blackout".`,
    suggestion: certain
      ? 'remove a weekday from it, or set "enabled: false" to switch the schedule off'
      : undefined,
  };
}

interface Limited {
  select?: { limit?: number | undefined };
  limits?: { max_targets?: number };
}

/** A remark when a policy without a schedule has a deadline: only scheduled runs have one. */
export const uselessDeadline = ({ deadline, schedule }: Partial<PolicyEntry>): Remark[] =>
  deadline === undefined || schedule !== undefined
    ? []
    : [
        {
          at: 'key',
          message:
            '"deadline" has no effect, because only scheduled runs have one, and the policy has no schedule.',
          suggestion: 'add a schedule, or remove it',
        },
      ];

/** A plan larger than `max_targets` stops the run before a larger `limit` applies. */
export function uselessLimit({ select, limits }: Limited): Remark[] {
  const [limit, most] = [select?.limit, limits?.max_targets];
  if (limit === undefined || most === undefined || limit <= most) return [];
  return [
    {
      message: `The limit of ${limit} is above limits.max_targets (${most}): a plan of more than ${most} targets stops the run, so the limit never applies.`,
      suggestion: `set max_targets to ${limit} or more, or reduce the limit`,
    },
  ];
}
