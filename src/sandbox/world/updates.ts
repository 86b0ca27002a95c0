import type { Site, Update } from '../model/site.ts';
import type {
  Extensions,
  ScheduleFields,
  SiteUpdates,
  TaskInput,
  TroubledEnd,
  UpdateRun,
  UpdateSchedule,
  Updates,
} from '../model/tasks.ts';
import type { World } from '../model/world.ts';
import { sitesProgress, startTask } from '../resources/tasks.ts';
import { idOf, nextNumber, randomFrom, seedOf } from './numbers.ts';
import { isUnderMaintenance } from './sites.ts';
import { DAY, HOUR, MINUTE, nextOccurrence } from './time.ts';

/** An account without schedules and updates. */
export const newUpdates = (): Updates => ({ schedules: new Map(), runs: [], installed: new Map() });

/** Adds a schedule, which is active. One that started in the past continues from there. */
export function addSchedule(world: World, fields: ScheduleFields, now: number): UpdateSchedule {
  const schedule: UpdateSchedule = {
    ...fields,
    id: idOf('schedule', nextNumber(world, 'schedule')),
    status: 'active',
    nextAt: 0,
    createdAt: now,
    updatedAt: now,
  };
  world.updates.schedules.set(schedule.id, schedule);
  planNext(world, schedule, now);
  return schedule;
}

/**
 * Recalculates when the schedule is due. Earlier agenda entries no longer count, because their time differs.
 */
export function planNext(world: World, schedule: UpdateSchedule, after: number): void {
  schedule.nextAt = nextOccurrence(schedule.schedule, schedule.startedAt, after);
  world.agenda.add(schedule.nextAt, { does: 'run-updates', schedule: schedule.id });
}

/** The existing sites of a schedule. */
function sitesOf(world: World, { siteIds }: UpdateSchedule): Site[] {
  if (siteIds === null) return [...world.sites.values()];
  return siteIds.flatMap((id) => world.sites.get(id) ?? []);
}

// Plugins and themes of sites, and their releases. A site's versions are computed from the last installation,
// so that ten thousand sites cost nothing until they are updated.

interface Product {
  kind: 'plugin' | 'theme';
  name: string;
  slug: string;
  filename: string;
  major: number;
  /** The days between two versions. */
  everyDays: number;
}

const plugin = (name: string, slug: string, major: number, everyDays: number): Product => ({
  kind: 'plugin',
  name,
  slug,
  filename: `${slug}/${slug}.php`,
  major,
  everyDays,
});
const theme = (name: string, slug: string, major: number, everyDays: number): Product => ({
  kind: 'theme',
  name,
  slug,
  filename: slug,
  major,
  everyDays,
});

/** Every site has the first plugin and the first theme, and some of the others. */
const products: readonly Product[] = [
  plugin('Contact Form', 'contact-form', 5, 9),
  plugin('Shop', 'shop', 9, 7),
  plugin('Search Ranking', 'search-ranking', 23, 11),
  plugin('Image Gallery', 'image-gallery', 3, 30),
  plugin('Page Cache', 'page-cache', 3, 17),
  plugin('Event Calendar', 'event-calendar', 6, 21),
  theme('Twenty Five', 'twentyfive', 1, 40),
  theme('Storefront', 'storefront', 4, 55),
];

/** The available updates of a site, of its plugins or its themes. */
function updatesOf(world: World, site: Site, kind: Product['kind'], at: number): Update[] {
  return products.flatMap((product, index) => {
    if (product.kind !== kind || !has(site, index)) return [];
    const [installed, newest] = [installedRelease(world, site, product), releaseAt(product, at)];
    if (installed >= newest) return [];
    const { name, slug, filename, major } = product;
    return [
      {
        name,
        slug,
        filename,
        current_version: versionOf(major, installed),
        target_version: versionOf(major, newest),
      },
    ];
  });
}

/** Installs the releases of these products that were the newest at `at`. */
function install(world: World, site: Site, filenames: readonly string[], at: number): void {
  for (const product of products) {
    if (!filenames.includes(product.filename)) continue;
    world.updates.installed.set(keyOf(site, product), releaseAt(product, at));
  }
}

/** Resets the site to the releases from before the sandbox started. */
export function fallBack(world: World, site: Site): void {
  for (const product of products) world.updates.installed.delete(keyOf(site, product));
}

const has = (site: Site, index: number): boolean =>
  index === 0 || products[index]?.slug === 'twentyfive' || (site.number * 7 + index * 5) % 3 === 0;

function installedRelease(world: World, site: Site, product: Product): number {
  const known = world.updates.installed.get(keyOf(site, product));
  if (known !== undefined) return known;
  // The last manual update was within the year before the sandbox started.
  const age = randomFrom(seedOf(world.seed, keyOf(site, product))).between(30, 300);
  return releaseAt(product, world.startedAt - age * DAY);
}

const keyOf = (site: Site, { filename }: Product): string => `${site.id} ${filename}`;

/** How many releases there have been since 2024. */
const releaseAt = ({ everyDays }: Product, at: number): number =>
  Math.max(0, Math.floor((at - Date.UTC(2024, 0, 1)) / (everyDays * DAY)));

const versionOf = (major: number, release: number): string =>
  `${major}.${Math.floor(release / 10)}.${release % 10}`;

// The runs of auto update schedules: which sites get which updates, the task, and the changes after it.

/** The duration of the updates of one site, and the maximum for all. */
const TAKES_AT_A_SITE_MS = 2 * MINUTE;
const TAKES_AT_MOST_MS = 3 * HOUR;

/** Runs a schedule that is due. Does nothing if it was paused, moved or deleted meanwhile. */
export function runUpdates(world: World, scheduleId: string, at: number): void {
  const schedule = world.updates.schedules.get(scheduleId);
  if (schedule?.status !== 'active' || schedule.nextAt !== at) return;
  startUpdateRun(world, schedule, at);
  planNext(world, schedule, at);
}

/** Starts the updates of a schedule, whether they are due or not; returns the id of their task. */
export function startUpdateRun(
  world: World,
  schedule: UpdateSchedule,
  at: number,
  takesMs?: number,
): string | null {
  const sites = sitesOf(world, schedule).flatMap((site) => waitingAt(world, site, schedule, at) ?? []);
  const usual = Math.min(TAKES_AT_MOST_MS, sites.length * TAKES_AT_A_SITE_MS);
  const taskId = sites.length === 0 ? null : startUpdates(world, schedule, sites, at, takesMs ?? usual);
  world.updates.runs.push({
    scheduleId: schedule.id,
    scheduleName: schedule.name,
    performedOn: at,
    taskId,
    sites,
  });
  return taskId;
}

/** After the task: successful sites get the new versions. */
export function applyUpdates(world: World, taskId: string, at: number): void {
  const task = world.tasks.get(taskId);
  const run = world.updates.runs.findLast((one) => one.taskId === taskId);
  if (!task || !run) return;
  for (const { id, status } of sitesProgress(task, at)) {
    const site = world.sites.get(id);
    const updates = run.sites.find((one) => one.id === id);
    if (status === 'completed' && site && updates) applyAt(world, site, updates, run, at);
  }
}

function applyAt(world: World, site: Site, updates: SiteUpdates, run: UpdateRun, at: number): void {
  const filenames = [...updates.plugins, ...updates.themes].map(({ filename }) => filename);
  install(world, site, filenames, run.performedOn);
  if (updates.core) site.core.current = updates.core.target_version;
  site.updatedAt = at;
  for (const { filename, target_version } of [...updates.plugins, ...updates.themes]) {
    const bad = world.updates.bad?.find(
      (one) =>
        one.filename === filename &&
        (one.version ?? target_version) === target_version &&
        (site.server.php_version ?? '').startsWith(one.php ?? ''),
    );
    if (bad) world.agenda.add(at + bad.afterMs, { does: 'break-site', site: site.id });
  }
}

/**
 * The available updates of a site within the schedule's scope; undefined when the site cannot be reached or
 * has none.
 */
function waitingAt(world: World, site: Site, schedule: UpdateSchedule, at: number): SiteUpdates | undefined {
  if (!site.connected || site.locked) return undefined;
  const { current, latest, locked } = site.core;
  const updatesCore = schedule.core && !locked && current !== latest;
  const core = updatesCore ? { current_version: current, target_version: latest } : null;
  const plugins = within(schedule.plugins, () => updatesOf(world, site, 'plugin', at));
  const themes = within(schedule.themes, () => updatesOf(world, site, 'theme', at));
  return core || plugins.length + themes.length > 0 ? { id: site.id, core, plugins, themes } : undefined;
}

function within(extensions: Extensions | null, updates: () => Update[]): Update[] {
  if (extensions === null) return [];
  const { selection, filenames } = extensions;
  return updates().filter(({ filename }) => selection === 'all' || filenames.includes(filename));
}

function startUpdates(
  world: World,
  schedule: UpdateSchedule,
  sites: readonly SiteUpdates[],
  at: number,
  takesMs: number,
): string {
  const { backup, visualRegression } = schedule;
  const options = { backup, visual_regression: visualRegression, sandbox: false };
  const input: TaskInput[] = sites.map(({ id, plugins }) => ({ id, options, plugins }));
  const troubled = troubleAt(world, sites, at);
  const task = startTask(
    world,
    {
      type: 'wp_site_update',
      input,
      takesMs,
      ends: worst(Object.values(troubled)),
      steps: stepsFor(schedule),
      troubled,
    },
    at,
  );
  world.agenda.add(task.endsAt, { does: 'apply-updates', task: task.id });
  return task.id;
}

/** A site whose syncs fail cannot be updated either. The updates of a site under maintenance are aborted. */
function troubleAt(world: World, sites: readonly SiteUpdates[], at: number): Record<string, TroubledEnd> {
  return Object.fromEntries(
    sites.flatMap(({ id }): [string, TroubledEnd][] => {
      const site = world.sites.get(id);
      if (!site) return [];
      if (site.sync.failsWith !== null || site.sync.nextFailsWith !== null) return [[id, 'failed']];
      return isUnderMaintenance(site, at) ? [[id, 'aborted']] : [];
    }),
  );
}

const worst = (ends: readonly TroubledEnd[]) =>
  ends.includes('failed') ? 'failed' : ends.includes('aborted') ? 'aborted' : 'completed';

const stepsFor = ({ core, plugins, themes, backup, visualRegression }: UpdateSchedule): string[] => [
  ...(backup ? ['backup'] : []),
  ...(core ? ['update_core'] : []),
  ...(plugins ? ['update_plugin'] : []),
  ...(themes ? ['update_theme'] : []),
  visualRegression ? 'compare_screenshots' : 'check',
];
