/** The native schedule that a ring should have, compared with the one that it has. Pure. */
import { isoTime } from '../../src/clock.ts';
import type { AutoUpdateSchedule, recurrences } from '../../src/contract/operations/auto-updates.ts';
import { DAY_MS, dayIn, daysAfter, firstAt, HOUR_MS, MINUTE_MS } from '../../src/dates.ts';
import type { Decision, Extensions, Updates } from './decide.ts';

export interface Desired {
  name: string;
  schedule: (typeof recurrences)[number];
  sites: readonly string[];
  /** Undefined: as they are. */
  updates: Updates | undefined;
  backup: boolean;
  visualRegression: boolean;
  isActive: boolean;
  /** Undefined: whatever it is, because the schedule is paused. */
  at: string | undefined;
}

/** A field of a schedule that is not as it should be. */
export interface Difference {
  field: 'name' | 'schedule' | 'sites' | 'updates' | 'options' | 'starts' | 'status';
  from: string;
  to: string;
}

/** The mark by which a schedule of the policy is found when our records are lost. */
export const markOf = (policy: string, ring: string): string => `[caretaker ${policy}/${ring}]`;

/** The ring whose mark a name has, among those of the policy. */
export const ringIn = (policy: string, name: string): string | undefined => {
  const start = `[caretaker ${policy}/`;
  const at = name.lastIndexOf(start);
  return at !== -1 && name.endsWith(']') ? name.slice(at + start.length, -1) : undefined;
};

/** How far away the first run of a new schedule is: it is created active, and paused by a second request. */
const FAR_AWAY_MS = 360 * DAY_MS;

/** The next time, an hour from now at least, at which clocks in the zone show `at`. */
export function nextAt(at: string, zone: string, now: number): number {
  const from = now + HOUR_MS;
  for (let day = dayIn(zone, from); ; day = daysAfter(day, 1)) {
    const time = timeOn(day, at, zone);
    if (time >= from) return time;
  }
}

/** On a day that skips that time of day, the time at which clocks change. */
const timeOn = (day: string, at: string, zone: string): number => firstAt(zone, Date.parse(`${day}T${at}Z`));
const isAt = (time: number, at: string, zone: string): boolean =>
  Math.abs(time - timeOn(dayIn(zone, time), at, zone)) < MINUTE_MS;

/** When it runs next. Of a paused one, that is computed when it is enabled (spec 3). */
const nextOf = ({ status, started_at, next_update_at }: AutoUpdateSchedule): string | undefined =>
  status === 'paused' ? (started_at ?? next_update_at) : next_update_at;

/** The fields that are compared with what they should be and that the service does not show: absent is not empty. */
export function notShown(schedule: AutoUpdateSchedule): string[] {
  const { scope, options } = schedule;
  const compared = {
    ...{ name: schedule.name, schedule: schedule.schedule, status: schedule.status },
    next_update_at: nextOf(schedule),
    'scope.sites': scope?.sites?.selection === 'all' ? [] : scope?.sites?.ids,
    'scope.updates': scope?.updates,
    'options.backup': options?.backup,
    'options.visual_regression': options?.visual_regression,
  };
  return Object.entries(compared).flatMap(([field, value]) => (value === undefined ? [field] : []));
}

/** What has to change, field by field, in the order in which it is changed. Empty when it is as it should be. */
export function differences(
  desired: Desired,
  schedule: AutoUpdateSchedule,
  zone: string,
  now: number,
): Difference[] {
  const { scope, options } = schedule;
  const found: Difference[] = [];
  const compare = (field: Difference['field'], from: string, to: string) => {
    if (from !== to) found.push({ field, from, to });
  };
  compare('name', schedule.name ?? '?', desired.name);
  compare('schedule', schedule.schedule ?? '?', desired.schedule);
  const ids = scope?.sites?.selection === 'all' ? ['all'] : [...(scope?.sites?.ids ?? [])].sort();
  // The service takes no schedule without sites: that of a ring without any stays paused as it is.
  if (desired.sites.length > 0 && ids.join() !== desired.sites.join())
    found.push({ field: 'sites', ...sitesText(ids, desired.sites) });
  if (desired.updates) compare('updates', updatesText(updatesIn(schedule)), updatesText(desired.updates));
  compare(
    'options',
    optionsText(options?.backup, options?.visual_regression),
    optionsText(desired.backup, desired.visualRegression),
  );
  const next = Date.parse(nextOf(schedule) ?? '') || 0;
  if (desired.at !== undefined && !(next > now && next < now + 40 * DAY_MS && isAt(next, desired.at, zone)))
    found.push({
      field: 'starts',
      from: nextOf(schedule) ?? '?',
      to: isoTime(nextAt(desired.at, zone, now)),
    });
  compare('status', schedule.status ?? '?', desired.isActive ? 'active' : 'paused');
  return found;
}

export const updatesIn = ({ scope }: AutoUpdateSchedule): Updates => {
  const of = (
    one: { selection?: string | undefined; filenames?: string[] | undefined } | null | undefined,
  ): Extensions | null =>
    one ? { selection: one.selection === 'all' ? 'all' : 'specific', filenames: one.filenames ?? [] } : null;
  const { wordpress_core = false, plugins, themes } = scope?.updates ?? {};
  return { core: wordpress_core, plugins: of(plugins), themes: of(themes) };
};

const extensionsText = (kind: string, one: Extensions | null): string[] =>
  one === null || (one.selection === 'specific' && one.filenames.length === 0)
    ? []
    : one.selection === 'all'
      ? [`all ${kind}s`]
      : [...one.filenames].sort();

const updatesText = ({ core, plugins, themes }: Updates): string =>
  [...(core ? ['core'] : []), ...extensionsText('plugin', plugins), ...extensionsText('theme', themes)].join(
    ', ',
  ) || 'nothing';

const optionsText = (backup = false, visual = false): string =>
  [...(backup ? ['backup'] : []), ...(visual ? ['visual regression'] : [])].join(', ') || 'none';

function sitesText(from: readonly string[], to: readonly string[]): { from: string; to: string } {
  const [added, removed] = [to.filter((id) => !from.includes(id)), from.filter((id) => !to.includes(id))];
  const list = (sign: string, ids: readonly string[]) =>
    ids.length === 0
      ? ''
      : ` ${sign}${ids.slice(0, 3).join(` ${sign}`)}${ids.length > 3 ? ` ${sign}${ids.length - 3} more` : ''}`;
  return {
    from: `${from.length}`,
    to: `${to.length} (${`${list('+', added)}${list('-', removed)}`.trim()})`,
  };
}

/** The fields of a request that makes the schedule so. */
export const bodyOf = ({ name, schedule, sites, updates, backup, visualRegression }: Desired) => ({
  name,
  schedule,
  scope: {
    ...(sites.length > 0 && { sites: { selection: 'specific' as const, ids: [...sites] } }),
    ...(updates && {
      updates: { wordpress_core: updates.core, plugins: updates.plugins, themes: updates.themes },
    }),
  },
  options: { backup, visual_regression: visualRegression },
});

/** The same for these fields alone: the others stay as they are. */
export function changesOf(desired: Desired, fields: readonly Difference['field'][]) {
  const { name, schedule, scope, options } = bodyOf(desired);
  const has = (field: Difference['field']) => fields.includes(field);
  return {
    ...(has('name') && { name }),
    ...(has('schedule') && { schedule }),
    ...((has('sites') || has('updates')) && {
      scope: {
        ...(has('sites') && { sites: scope.sites }),
        ...(has('updates') && { updates: scope.updates }),
      },
    }),
    ...(has('options') && { options }),
  };
}

/** The service takes no schedule that updates nothing, so one with nothing to update names a plugin that no site has. */
export const nothing: Updates = {
  core: false,
  plugins: { selection: 'specific', filenames: ['nothing-is-proven-yet'] },
  themes: null,
};
const isNothing = ({ core, plugins, themes }: Updates): boolean => !core && !plugins && !themes;

/** When the first run of a new schedule would be. */
export const farAway = (at: string, zone: string, now: number): number => nextAt(at, zone, now + FAR_AWAY_MS);

/** A time of day, this much later: `23:00` and two hours are `01:00`. */
const laterBy = (at: string, ms: number): string =>
  new Date(Date.parse(`1970-01-01T${at}Z`) + ms).toISOString().slice(11, 16);

/** The schedule that a ring should have. */
export const desiredOf = (
  ring: { name: string; sites: readonly string[]; index: number },
  { is, updates }: Decision,
  policy: string,
  native: {
    schedule: Desired['schedule'];
    at: string;
    apart: number;
    backup: boolean;
    visual_regression: boolean;
  },
): Desired => {
  // A schedule without sites would have nothing to do, and the service may take it for one of all sites.
  const isActive = (is === 'run' || is === 'promote') && ring.sites.length > 0;
  return {
    name: `${policy}: ${ring.name} ${markOf(policy, ring.name)}`,
    schedule: native.schedule,
    sites: [...ring.sites].sort(),
    updates: isActive && updates ? (isNothing(updates) ? nothing : updates) : undefined,
    backup: native.backup,
    visualRegression: native.visual_regression,
    isActive,
    at: isActive ? laterBy(native.at, ring.index * native.apart) : undefined,
  };
};

/** The fields of a schedule that a person may change, as they are compared with what we set. */
export const setIn = ({
  name,
  schedule,
  scope,
  options,
  status,
}: AutoUpdateSchedule): Record<string, string> => ({
  name: name ?? '',
  schedule: schedule ?? '',
  sites: JSON.stringify([...(scope?.sites?.ids ?? [])].sort()),
  updates: JSON.stringify(scope?.updates ?? null),
  options: JSON.stringify(options ?? null),
  status: status ?? '',
});

/** An active schedule that is no ring's, with how many sites of rings it updates. */
export interface Bypassing {
  id: string;
  name: string;
  /** Undefined when the service does not show whether it is active, or which sites it updates. */
  sites: number | undefined;
}

/** Those that update sites of the rings: what they install was proven by no ring. */
export const alsoUpdating = (
  all: readonly AutoUpdateSchedule[],
  ours: ReadonlyMap<string, string>,
  inRings: ReadonlySet<string>,
): Bypassing[] =>
  all.flatMap(({ id, name = id, status, scope }) => {
    const { selection, ids } = scope?.sites ?? {};
    const sites = selection === 'all' ? inRings.size : ids?.filter((site) => inRings.has(site)).length;
    if (status === 'paused' || ours.has(id) || sites === 0) return [];
    return [{ id, name, sites: status === undefined ? undefined : sites }];
  });
