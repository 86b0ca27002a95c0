/**
 * A simulated month: 300 sites, forty versions of which three are bad, and a person who looks once a day. The rings are
 * decided by the job's own functions; the service and the sites are a few lines.
 */
import { assign, type RingRule } from '../../../jobs/update-rings/assign.ts';
import { type Decision, decide, type Updates } from '../../../jobs/update-rings/decide.ts';
import type { RingRun, RunSite } from '../../../jobs/update-rings/evidence.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const DAYS = 45;
const VERSIONS = 40;
const PLUGINS = 14;
/** How many sites break in a night with updates whatever they get. */
const BY_CHANCE = 0.001;

const evidence = {
  soak: 2 * DAY,
  minSites: 3,
  most: { failed: 0, disconnected: 0, hacked: 0, found: 0 },
  usual: 0.01,
  chance: 0.005,
};

interface Release {
  item: string;
  version: string;
  at: number;
  bad?: { afterMs: number; php?: string };
}

interface SimulatedSite {
  id: string;
  php: string;
  has: Map<string, string | undefined>;
  brokenAt: number;
  repairedAt: number;
}

interface Month {
  /** Sites that a bad version broke. */
  broken: number;
  /** The hours from the release of a good version until every site has it or a newer one. */
  hours: number[];
  good: number;
  /** Good versions that were quarantined at any time, and bad ones. */
  wronglyQuarantined: number;
  quarantined: number;
}

function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function releasesOf(next: () => number): Release[] {
  const releases = Array.from({ length: VERSIONS }, (_, i): Release => {
    const item = `plugin p${Math.floor(next() * PLUGINS)}/p.php`;
    return { item, version: `${i}`, at: Math.floor(next() * 28 * 24) * HOUR };
  });
  const ways = [{ afterMs: 60_000 }, { afterMs: 10 * HOUR }, { afterMs: 60_000, php: '7.4' }];
  for (const [i, bad] of ways.entries()) Object.assign(releases[i * 13 + 1] as Release, { bad });
  return releases.sort((a, b) => a.at - b.at).map((one, i) => ({ ...one, version: `${i}` }));
}

const shareOf = (item: string): number => [1, 0.5, 0.35][Number(/\d+/.exec(item)?.[0]) % 3] ?? 1;

const atOnce: Decision = {
  is: 'run',
  updates: { core: false, plugins: { selection: 'all', filenames: [] }, themes: null },
  why: [],
};

class Simulation {
  private readonly next: () => number;
  private readonly releases: Release[];
  private readonly sites: SimulatedSite[];
  private readonly members: SimulatedSite[][];
  private readonly runs: RingRun[][];
  private readonly released = new Set<string>();
  private readonly except = new Set<string>();
  private readonly quarantined = new Set<string>();
  private readonly broken = new Set<string>();
  private readonly breaks = new Map<RunSite, number>();
  private readonly reached = new Map<Release, number>();

  constructor(
    seed: number,
    count: number,
    private readonly rules: readonly RingRule[],
  ) {
    const next = random(seed);
    this.next = next;
    this.releases = releasesOf(next);
    const items = [...new Set(this.releases.map(({ item }) => item))];
    this.sites = Array.from({ length: count }, (_, i) => ({
      id: `site-${i}`,
      php: next() < 0.3 ? '7.4' : '8.3',
      has: new Map(items.filter((item) => next() < shareOf(item)).map((item) => [item, undefined])),
      brokenAt: Number.POSITIVE_INFINITY,
      repairedAt: 0,
    }));
    this.members = assign(rules, this.sites);
    this.runs = rules.map(() => []);
  }

  /** One night: before the time of each ring a look, and its run if it is active. */
  night(at: number): void {
    for (const one of this.runs.flat().flatMap((run) => run.sites))
      if ((this.breaks.get(one) ?? at) < at) one.broke = { kind: 'disconnected', why: 'it is disconnected' };
    for (const ring of this.rules.keys()) {
      const time = at + ring * 3 * HOUR;
      const decision = this.rules.length === 1 ? atOnce : this.look(time)[ring];
      if (decision?.is !== 'run' && decision?.is !== 'promote') continue;
      const sites = (this.members[ring] ?? []).flatMap((site) => this.update(site, decision, time));
      const names = (item: string) => allows(decision.updates, item);
      this.runs[ring]?.push({ at: time, ended: true, sites, names });
    }
    for (const release of this.releases)
      if (!this.reached.has(release) && release.at <= at && this.isServed(release))
        this.reached.set(release, at);
  }

  private look(at: number): Decision[] {
    const { rings, suspects, standings } = decide(
      this.rules.map(({ name }, i) => ({ name, runs: this.runs[i] ?? [] })),
      { core: false, plugins: true, themes: false, except: [...this.except].map((item) => item.slice(7)) },
      { ...evidence, released: this.released },
      { hold: true, quarantine: true, retry: 7 * DAY },
      at,
    );
    for (const { item, version } of suspects) this.quarantined.add(`${item} ${version}`);
    // A person looks at what is doubted: lets pass what broke by chance, and keeps back what is bad.
    for (const { item, version, is } of standings.flatMap((one) => [...one.values()])) {
      if (is !== 'doubted') continue;
      const isBad = this.releases.some((one) => one.item === item && one.version === version && one.bad);
      if (isBad) this.except.add(item);
      else this.released.add(`${item} ${version}`);
    }
    return rings;
  }

  private update(site: SimulatedSite, { updates }: Decision, at: number): RunSite[] {
    if (at >= site.brokenAt && at < site.repairedAt) return [];
    const newest = new Map(this.releases.filter((one) => one.at <= at).map((one) => [one.item, one]));
    const took = [...newest.values()].filter(
      ({ item, version }) => site.has.has(item) && site.has.get(item) !== version && allows(updates, item),
    );
    if (took.length === 0) return [];
    const bad = took.find((one) => one.bad && (one.bad.php ?? site.php) === site.php);
    const run: RunSite = { id: site.id, took: took.map(({ item, version }) => ({ item, version })) };
    for (const { item, version } of took) site.has.set(item, version);
    if (bad) this.broken.add(site.id + bad.version);
    if (bad || this.next() < BY_CHANCE) {
      site.brokenAt = at + (bad?.bad?.afterMs ?? this.next() * DAY);
      site.repairedAt = site.brokenAt + DAY;
      this.breaks.set(run, site.brokenAt);
    }
    return [run];
  }

  private isServed({ item, version }: Release): boolean {
    const order = this.releases.filter((one) => one.item === item).map((one) => one.version);
    return this.sites.every(
      ({ has }) => !has.has(item) || order.indexOf(has.get(item) ?? '') >= order.indexOf(version),
    );
  }

  result(): Month {
    const { releases, reached, quarantined } = this;
    const good = releases.filter(({ bad }) => !bad);
    const wrongly = good.filter(({ item, version }) => quarantined.has(`${item} ${version}`)).length;
    return {
      broken: this.broken.size,
      hours: good.flatMap((one) => (reached.has(one) ? [((reached.get(one) ?? 0) - one.at) / HOUR] : [])),
      good: good.length,
      wronglyQuarantined: wrongly,
      quarantined: quarantined.size - wrongly,
    };
  }
}

/** `rings: false`: one schedule for all sites. */
function month(seed: number, rings: boolean, count: number): Month {
  const canary = { name: 'canary', holds: ({ id }: { id: string }) => Number(id.slice(5)) < 25 };
  const simulation = new Simulation(
    seed,
    count,
    rings ? [canary, { name: 'early', percent: 20 }, { name: 'rest' }] : [{ name: 'all' }],
  );
  for (let day = 0; day < DAYS; day += 1) simulation.night(day * DAY + 2 * HOUR);
  return simulation.result();
}

const allows = (updates: Updates | undefined, item: string): boolean =>
  updates?.plugins?.selection === 'all' || (updates?.plugins?.filenames.includes(item.slice(7)) ?? false);

/** Several months together. */
export function months(seeds: number, rings: boolean, count = 300) {
  const all = Array.from({ length: seeds }, (_, i) => month(i + 1, rings, count));
  const hours = all.flatMap((one) => one.hours).sort((a, b) => a - b);
  const sum = (of: (one: Month) => number) => all.reduce((total, one) => total + of(one), 0);
  return {
    broken: sum(({ broken }) => broken) / seeds,
    medianDays: (hours[Math.floor(hours.length / 2)] ?? 0) / 24,
    slowDays: (hours[Math.floor(hours.length * 0.95)] ?? 0) / 24,
    reached: hours.length,
    good: sum(({ good }) => good),
    wronglyQuarantined: sum((one) => one.wronglyQuarantined),
    quarantined: sum((one) => one.quarantined),
  };
}
