/**
 * What the runs of the rings show about each version: who took it, who broke, what is proven, what is suspected. All
 * functions are pure. An item is `core`, `plugin shop/shop.php` or `theme storefront`.
 */
import { countOf } from '../../src/text.ts';

export type BrokeKind = 'failed' | 'disconnected' | 'hacked' | 'found';

/** A site in a run, with what it was given. */
export interface RunSite {
  id: string;
  /** Its address, for people. */
  url?: string | undefined;
  took: readonly { item: string; version: string }[];
  /** How it broke within the soak, as far as known. */
  broke?: { kind: BrokeKind; why: string } | undefined;
  /** What is not known about it yet: evidence that is missing is not good. */
  missing?: string | undefined;
}

export interface RingRun {
  at: number;
  ended: boolean;
  sites: readonly RunSite[];
  /** Whether its schedule named an item. Missing: not known, or what was named was not given to all of its sites. */
  names?: ((item: string) => boolean) | undefined;
}

/** Whether a run gave an item to each of its sites that needed it, as far as known. */
export const wasOffered = ({ names, sites }: RingRun, item: string): boolean =>
  names?.(item) || sites.some(({ took }) => took.some((one) => one.item === item));

export interface Ring {
  name: string;
  /** Oldest first. */
  runs: readonly RingRun[];
}

export interface Rules {
  soak: number;
  minSites: number;
  most: Readonly<Record<BrokeKind, number>>;
  /** The share of sites, from 0 to 1, that break whatever they were given. */
  usual: number;
  /** A version is suspect when at least as many sites as broke would break by chance with a probability up to this. */
  chance: number;
  /** The versions that a person released, as `core 6.8.3`. */
  released: ReadonlySet<string>;
}

/** A version and the sites that took it. */
interface Version {
  item: string;
  version: string;
  takers: Map<string, Taker>;
}

interface Taker extends RunSite {
  at: number;
  ring: number;
  ended: boolean;
}

export interface Suspect {
  item: string;
  version: string;
  /** The sites that broke, and how many took it. */
  broke: readonly { id: string; url?: string | undefined; why: string }[];
  taken: number;
  /** How probable as many broken sites are by chance. */
  chance: number;
}

export interface Standing {
  item: string;
  version: string;
  is: 'proven' | 'waiting' | 'doubted' | 'quarantined';
  /** Since when it is proven, or when its soak is over. */
  at?: number;
  why: string;
  /** The sites of this ring and those before it that took it, and those of them that broke. */
  taken: number;
  broke: number;
}

const nameOf = (site: Pick<RunSite, 'id' | 'url'> | undefined): string => site?.url ?? site?.id ?? '';
export const keyOf = (item: string, version: string): string => `${item} ${version}`;

/** Who took each version in these rings. A site that took it again after a failed update counts by the last run. */
function versionsOf(rings: readonly Ring[]): Map<string, Version> {
  const versions = new Map<string, Version>();
  const runs = rings.flatMap(({ runs }, ring) => runs.map((run) => ({ ...run, ring })));
  for (const { at, ended, sites, ring } of runs.sort((a, b) => a.at - b.at)) {
    for (const { id, url, took, broke, missing } of sites) {
      for (const { item, version } of took) {
        const key = keyOf(item, version);
        const known = versions.get(key) ?? { item, version, takers: new Map() };
        const before = known.takers.get(id)?.broke;
        const stays = before && before.kind !== 'failed' ? before : undefined;
        known.takers.set(id, { id, url, took, broke: stays ?? broke, missing, at, ring, ended });
        versions.set(key, known);
      }
    }
  }
  return versions;
}

/** When a site took a version for the last time. */
export const lastTaken = ({ takers }: Version): number =>
  Math.max(...[...takers.values()].map(({ at }) => at));

const partsOf = (version: string): string[] => version.toLowerCase().match(/\d+|[a-z]+/g) ?? [];
/** A number is above the end of a version, and a word such as `beta` is below it. */
const rankOf = (part: string | undefined): number =>
  part === undefined ? 0 : /\d/.test(part) ? Number(part) + 1 : -1;

/** Above 0 when version `a` is newer than `b`: 1.10 than 1.9, 2.0 than 2.0-beta. */
function compareVersions(a: string, b: string): number {
  const [x, y] = [partsOf(a), partsOf(b)];
  for (let i = 0; i < Math.max(x.length, y.length); i += 1) {
    const order = rankOf(x[i]) - rankOf(y[i]);
    if (order !== 0) return order;
    if (rankOf(x[i]) < 0 && x[i] !== y[i]) return (x[i] ?? '') > (y[i] ?? '') ? 1 : -1;
  }
  return 0;
}

/**
 * The versions of each item that sites are given now, the newest first. An older one is still given when a site took it
 * after another took the newest, as with an older PHP; it says nothing about the newest.
 */
export function lastVersions(rings: readonly Ring[]): Map<string, [Version, ...Version[]]> {
  const all = new Map<string, Version[]>();
  for (const one of versionsOf(rings).values()) all.set(one.item, [...(all.get(one.item) ?? []), one]);
  const last = new Map<string, [Version, ...Version[]]>();
  for (const [item, versions] of all) {
    const [newest, ...older] = versions.sort((a, b) => compareVersions(b.version, a.version));
    if (!newest) continue;
    const cameOut = Math.min(...[...newest.takers.values()].map(({ at }) => at));
    last.set(item, [newest, ...older.filter((one) => lastTaken(one) >= cameOut)]);
  }
  return last;
}

/**
 * The suspect versions, by the exact binomial test of the sites that broke among those that took it. The most suspect is
 * taken first, and explains the sites that took it: they say nothing about what else they were given. Versions that
 * cannot be told apart, because as many of the same sites took them, are not suspected; `standingsAt` doubts them.
 */
export function suspectsOf(rings: readonly Ring[], { usual, chance, released }: Rules): Suspect[] {
  const open = [...versionsOf(rings).values()].filter(
    ({ item, version }) => !released.has(keyOf(item, version)),
  );
  const explained = new Set<string>();
  const suspects: Suspect[] = [];
  for (;;) {
    const tested = open.map((one) => {
      const takers = [...one.takers.values()].filter(({ id }) => !explained.has(id));
      const broke = takers.filter((taker) => taker.broke);
      return { one, taken: takers.length, broke, chance: atLeast(broke.length, takers.length, usual) };
    });
    const bad = tested.filter((one) => one.chance <= chance).sort((a, b) => a.chance - b.chance);
    const first = bad.find((one) => {
      const ids = new Set(one.broke.map(({ id }) => id));
      const asBad = bad.filter((other) => other !== one && other.chance <= one.chance);
      return asBad.every((other) => !other.broke.some(({ id }) => ids.has(id)));
    });
    if (!first) return suspects;
    const { item, version, takers } = first.one;
    const broke = first.broke.map(({ id, url, broke: how }) => ({ id, url, why: how?.why ?? '' }));
    suspects.push({ item, version, broke, taken: first.taken, chance: first.chance });
    for (const id of takers.keys()) explained.add(id);
    open.splice(open.indexOf(first.one), 1);
  }
}

/** Where the last version of each item stands in each ring, from the first ring on. */
export function standingsOf(
  rings: readonly Ring[],
  suspects: readonly Suspect[],
  rules: Rules,
  now: number,
): Map<string, Standing>[] {
  const all: Map<string, Standing>[] = [];
  for (const index of rings.keys()) all.push(standingsAt(rings, index, all[index - 1], suspects, rules, now));
  return all;
}

function standingsAt(
  rings: readonly Ring[],
  index: number,
  before: ReadonlyMap<string, Standing> | undefined,
  suspects: readonly Suspect[],
  rules: Rules,
  now: number,
): Map<string, Standing> {
  const last = lastVersions(rings.slice(0, index + 1));
  const standings = new Map<string, Standing>();
  for (const [item, [newest, ...older]] of last) {
    const of = (one: Version) =>
      standingOf(one, rings[index] as Ring, index, before?.get(item), suspects, rules, now);
    // The service cannot pin a version: who gets the newest may get an older one that is bad.
    const all = [of(newest), ...older.map(of)];
    const bad = all.find(({ is }) => is === 'quarantined') ?? all.find(({ is }) => is === 'doubted');
    standings.set(item, bad ?? of(newest));
  }
  return standings;
}

function standingOf(
  { item, version, takers: byId }: Version,
  ring: Ring,
  index: number,
  before: Standing | undefined,
  suspects: readonly Suspect[],
  { soak, minSites, most, released }: Rules,
  now: number,
): Standing {
  const takers = [...byId.values()];
  const known = { item, version, taken: takers.length, broke: takers.filter((one) => one.broke).length };
  const isReleased = released.has(keyOf(item, version));
  const suspect = suspects.find((one) => one.item === item && one.version === version);
  if (suspect && !isReleased) return { ...known, is: 'quarantined', why: suspectText(suspect) };
  const explained = new Set(suspects.flatMap(({ broke }) => broke.map(({ id }) => id)));
  const broke = takers.filter((one) => one.broke && !explained.has(one.id));
  const tooMany = (Object.keys(most) as BrokeKind[]).some(
    (kind) => broke.filter((one) => one.broke?.kind === kind).length > most[kind],
  );
  if (tooMany && !isReleased) {
    const [first] = broke;
    const why = `${countOf(broke.length, 'site')} of ${takers.length} broke: ${nameOf(first)}: ${first?.broke?.why}`;
    return { ...known, is: 'doubted', why };
  }
  const own = takers.filter((one) => one.ring === index);
  const wait = (why: string, at?: number): Standing => ({
    ...known,
    is: 'waiting',
    why,
    ...(at ? { at } : {}),
  });
  if (own.length === 0) {
    if (before?.is !== 'proven') return before ?? wait(`no site of ${ring.name} took it`);
    const passed = ring.runs.find((run) => run.ended && run.at >= (before.at ?? 0) && wasOffered(run, item));
    if (!passed) return wait(`${ring.name} has not run with it since it was proven`);
    return { ...known, is: 'proven', at: passed.at, why: `no site of ${ring.name} needed it` };
  }
  if (own.some(({ ended }) => !ended)) return wait(`a run of ${ring.name} is in progress`);
  if (isReleased)
    return { ...known, is: 'proven', at: Math.min(...own.map(({ at }) => at)), why: 'a person released it' };
  if (takers.length < minSites)
    return wait(`only ${takers.length} of at least ${countOf(minSites, 'site')} took it`);
  const times = takers.map(({ at }) => at).sort((a, b) => a - b);
  const at = Math.max(times[minSites - 1] ?? 0, Math.min(...own.map((one) => one.at))) + soak;
  if (now < at) return wait(`it soaks at ${countOf(takers.length, 'site')}`, at);
  const missing = takers.filter((one) => one.missing && one.at + soak <= at);
  if (missing.length > 0)
    return wait(
      `${countOf(missing.length, 'site')} lack evidence, the first ${nameOf(missing[0])}: ${missing[0]?.missing}`,
    );
  return { ...known, is: 'proven', at, why: `${countOf(takers.length, 'site')} took it and stayed well` };
}

/** `3 of 5 sites broke (by chance: 0.001%): site-1: it is disconnected`. */
export const suspectText = ({ broke, taken, chance }: Suspect): string =>
  `${broke.length} of ${countOf(taken, 'site')} broke (by chance: ${(chance * 100).toPrecision(2)}%), the first ${nameOf(broke[0])}: ${broke[0]?.why}`;

/**
 * The exact binomial distribution: the probability of at least `k` of `n` when each happens with the probability `p`.
 * Sums in logarithms, so that it is exact to about 12 digits for any `n` that an account has.
 */
export function atLeast(k: number, n: number, p: number): number {
  if (k <= 0) return 1;
  if (k > n || p <= 0) return 0;
  if (p >= 1) return 1;
  let choose = 0;
  let sum = 0;
  for (let i = 0; i <= n; i += 1) {
    if (i >= k) sum += Math.exp(choose + i * Math.log(p) + (n - i) * Math.log1p(-p));
    choose += Math.log(n - i) - Math.log(i + 1);
  }
  return Math.min(1, sum);
}
