/** What each ring should do now, from the evidence. Pure. */
import { createHash } from 'node:crypto';
import { isoMinute } from '../../src/clock.ts';
import {
  lastTaken,
  lastVersions,
  type Ring,
  type RingRun,
  type Rules,
  type Standing,
  type Suspect,
  standingsOf,
  suspectsOf,
  wasOffered,
} from './evidence.ts';

export interface Extensions {
  selection: 'all' | 'specific';
  filenames: string[];
}

/** The `scope.updates` of a schedule. */
export interface Updates {
  core: boolean;
  plugins: Extensions | null;
  themes: Extensions | null;
}

/** What a policy lets the rings update. */
export interface Wanted {
  core: boolean;
  plugins: boolean;
  themes: boolean;
  except: readonly string[];
}

export interface Decision {
  is: 'run' | 'promote' | 'wait' | 'hold';
  /** A person holds it. */
  byPerson?: true;
  /** Undefined for a ring that stays paused: what it would update does not matter. */
  updates?: Updates;
  /** Why it waits or holds, and what it leaves out. One sentence each. */
  why: string[];
}

export interface Decisions {
  rings: Decision[];
  /** Those versions that sites are still given. */
  suspects: Suspect[];
  standings: ReadonlyMap<string, Standing>[];
}

/**
 * The first ring always runs. Each later one is promoted for one run when versions are proven in the ring before it that
 * it was not offered yet. With `hold`, nothing is promoted while a version is doubted that no suspect explains.
 */
export function decide(
  rings: readonly Ring[],
  wanted: Wanted,
  rules: Rules,
  when: { hold: boolean; quarantine: boolean; retry: number },
  now: number,
  /** What other schedules of the account did: they may show a newer version. */
  elsewhere: readonly RingRun[] = [],
  /** The rings that a person holds, each with a sentence about it. */
  held: ReadonlyMap<string, string> = new Map(),
): Decisions {
  const suspects = when.quarantine ? suspectsOf(rings, rules) : [];
  const standings = standingsOf(rings, suspects, rules, now);
  const decisions = rings.map((ring, index): Decision => {
    const sentenceOfHold = held.get(ring.name);
    if (sentenceOfHold !== undefined) return { is: 'hold', byPerson: true, why: [sentenceOfHold] };
    if (index === 0)
      return firstRing([...rings, { name: '', runs: elsewhere }], wanted, suspects, now - when.retry);
    const before = [...(standings[index - 1]?.values() ?? [])].filter(({ item }) => isWanted(item, wanted));
    const doubted = before.filter(({ is }) => is === 'doubted');
    const why = before.filter(({ is }) => is !== 'proven').map(sentence);
    if (when.hold && doubted.length > 0)
      return {
        is: 'hold',
        why: [...doubted, ...before.filter((one) => !doubted.includes(one) && one.is !== 'proven')].map(
          sentence,
        ),
      };
    const proven = before.filter(({ is }) => is === 'proven');
    const due = proven.filter(
      ({ item, at = 0 }) => !ring.runs.some((run) => run.at >= at && wasOffered(run, item)),
    );
    if (due.length === 0) {
      const nothing = before.length === 0 ? [`${rings[index - 1]?.name} has not updated anything yet.`] : [];
      return { is: 'wait', why: [...nothing, ...why] };
    }
    return {
      is: 'promote',
      updates: specific(
        due.map(({ item }) => item),
        wanted,
      ),
      why,
    };
  });
  const last = lastVersions(rings);
  return { rings: decisions, suspects: suspects.filter((one) => versionIn(last, one)), standings };
}

/**
 * The first ring takes everything and so shows what exists. While it leaves out a suspect, it can only name what is
 * known; so after a time it takes everything again, which shows newer versions.
 */
function firstRing(
  rings: readonly Ring[],
  wanted: Wanted,
  suspects: readonly Suspect[],
  since: number,
): Decision {
  const { core, plugins, themes } = wanted;
  const all: Extensions = { selection: 'all', filenames: [] };
  const last = lastVersions(rings);
  const out = new Set(
    suspects.flatMap((suspect) => {
      const one = versionIn(last, suspect);
      return one && lastTaken(one) > since ? [suspect.item] : [];
    }),
  );
  if (out.size === 0)
    return {
      is: 'run',
      updates: { core, plugins: plugins ? all : null, themes: themes ? all : null },
      why: [],
    };
  const items = [...last.keys()].filter((item) => !out.has(item));
  const updates = specific([...items, ...(out.has('core') ? [] : ['core'])], { ...wanted, except: [] });
  const restore = (kind: 'plugin' | 'theme', own: Extensions | null) =>
    wanted[`${kind}s`] && ![...out].some((item) => item.startsWith(`${kind} `)) ? all : own;
  return {
    is: 'run',
    updates: {
      ...updates,
      plugins: restore('plugin', updates.plugins),
      themes: restore('theme', updates.themes),
    },
    why: [...out].map((item) => `It leaves out ${item}, which is suspect.`),
  };
}

/** What a later ring is enabled for, in short; empty when it is not. */
export const goalOf = ({ is, updates }: Partial<Decision> = {}): string =>
  is === 'promote' ? createHash('sha256').update(JSON.stringify(updates)).digest('hex').slice(0, 16) : '';

/** The version of a suspect, while sites are still given it. */
const versionIn = (last: ReturnType<typeof lastVersions>, { item, version }: Suspect) =>
  last.get(item)?.find((one) => one.version === version);

/** Whether a schedule with these updates gives an item to sites that need it. */
export function namesItem({ core, plugins, themes }: Updates, item: string): boolean {
  const [kind, file = ''] = item.split(/ (.*)/);
  if (kind === 'core') return core;
  const of = kind === 'plugin' ? plugins : themes;
  return of?.selection === 'all' || (of?.filenames.includes(file) ?? false);
}

const isWanted = (item: string, { core, plugins, themes, except }: Wanted): boolean => {
  const [kind, file = ''] = item.split(/ (.*)/);
  return (kind === 'core' ? core : kind === 'plugin' ? plugins : themes) && !except.includes(file);
};

function specific(items: readonly string[], wanted: Wanted): Updates {
  const named = (kind: string): Extensions | null => {
    const filenames = items
      .filter((item) => item.startsWith(`${kind} `) && isWanted(item, wanted))
      .map((item) => item.slice(kind.length + 1))
      .sort();
    return filenames.length === 0 ? null : { selection: 'specific', filenames };
  };
  return { core: wanted.core && items.includes('core'), plugins: named('plugin'), themes: named('theme') };
}

const sentence = ({ item, version, is, why, at }: Standing): string =>
  `${item} ${version} ${is === 'waiting' ? 'waits' : `is ${is}`}: ${why.replace(/\.$/, '')}${at === undefined ? '' : ` until ${isoMinute(at)}`}.`;
