/**
 * The policies active, as the daemon knows them: read again when their files change, without a restart. A
 * file that is broken keeps the last good version of its policies active, and is shown as broken until it
 * is fixed.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, isoMinute } from '../clock.ts';
import type { Registry } from '../job/registry.ts';
import type { Log } from '../log.ts';
import type { KeptPolicy } from '../records/presence-store.ts';
import { deepFreeze } from '../settings/freeze.ts';
import type { Settings } from '../settings/settings.ts';
import { type Diagnostic, placeOf, shortFile } from '../yaml/diagnostic.ts';
import { isPolicyFile, type Loaded, loadPolicies } from './load-policies.ts';
import type { Policy } from './policy.ts';
import { changesBetween, formatNames } from './policy-changes.ts';

export interface PolicyBook {
  policies(): readonly Policy[];
  /** Mistakes in the files as they are now. */
  findings(): readonly Diagnostic[];
  /** Policies that are active although their file is broken. */
  kept(): readonly KeptPolicy[];
  /** When a policy active was changed: by the time of its file, or when this process noticed the change. */
  changedAt(policy: string): number;
  /** Since when a file is broken, in milliseconds since 1970. */
  brokenSince(file: string): number;
  /** Stops looking. */
  close(): Promise<void>;
}

export interface PolicyBookParts {
  /** Those active, asked at every look: calendars and names under `notifications` may change. */
  settings: () => Settings;
  registry: Registry;
  clock: Clock;
  log: Log;
}

const CHECK_INTERVAL_MS = 500;
/** Files that change at every look are read after so many all the same. */
const MAX_UNSETTLED = 5;

/**
 * Reads the policies and keeps looking at their files, twice a second; what changed is read when it changes
 * no more.
 */
export function openPolicyBook(parts: PolicyBookParts): PolicyBook {
  const { settings, registry, clock, log } = parts;
  const dir = settings().policiesDir;
  const closing = new AbortController();
  let looks = looksOf(dir, settings());
  let state = readAll({ dir, registry, settings: settings() }, nothing, looks, clock.now());
  tell(state, nothing, log);

  const looking = (async () => {
    let unsettled: Changes | undefined;
    let times = 0;
    while (!closing.signal.aborted) {
      await clock.sleep(CHECK_INTERVAL_MS, closing.signal);
      const now = looksOf(dir, settings());
      if (closing.signal.aborted || now.text === looks.text) continue;
      times += 1;
      if (now.text !== unsettled?.text && times < MAX_UNSETTLED) {
        unsettled = now;
        continue;
      }
      const before = state;
      state = readAll({ dir, registry, settings: settings() }, before, now, clock.now());
      tell(state, before, log);
      [looks, unsettled, times] = [now, undefined, 0];
    }
  })();
  return {
    policies: () => state.policies,
    findings: () => state.findings,
    kept: () => state.kept,
    changedAt: (policy) => state.changedAt.get(policy) ?? clock.now(),
    brokenSince: (file) => state.brokenSince.get(file) ?? clock.now(),
    async close() {
      closing.abort();
      await looking;
    },
  };
}

interface Changes {
  /** Differs when somebody edited, added, renamed or removed a file. */
  text: string;
  /** The inode of each file, by which one that was renamed is known again. */
  inodes: Map<string, number>;
  /** When each file was written last. */
  writtenAt: Map<string, number>;
}

function looksOf(dir: string, { notifications, calendars }: Settings): Changes {
  const lines: string[] = [];
  const inodes = new Map<string, number>();
  const writtenAt = new Map<string, number>();
  try {
    for (const name of readdirSync(dir).filter(isPolicyFile).sort()) {
      const file = join(dir, name);
      const stats = statSync(file, { throwIfNoEntry: false });
      lines.push(`${name} ${stats?.mtimeMs} ${stats?.ctimeMs} ${stats?.size} ${stats?.ino}`);
      if (stats) inodes.set(file, stats.ino);
      if (stats) writtenAt.set(file, Math.floor(stats.mtimeMs));
    }
  } catch (error) {
    lines.push(`unreadable ${(error as { code?: string }).code ?? ''}`);
  }
  // What a policy may name is part of whether it can be used.
  const named = JSON.stringify([Object.keys(notifications), calendars]);
  return { text: [...lines, named].join('\n'), inodes, writtenAt };
}

interface ReadState {
  policies: readonly Policy[];
  findings: readonly Diagnostic[];
  kept: readonly KeptPolicy[];
  inodes: Map<string, number>;
  /** When the version active of a policy was first read. */
  readAt: Map<string, number>;
  /** When the version active of a policy was changed. */
  changedAt: Map<string, number>;
  /** Since when a file is broken. */
  brokenSince: Map<string, number>;
}

const nothing: ReadState = {
  policies: [],
  findings: [],
  kept: [],
  inodes: new Map(),
  readAt: new Map(),
  changedAt: new Map(),
  brokenSince: new Map(),
};

function readAll(
  source: { dir: string; registry: Registry; settings: Settings },
  before: ReadState,
  { inodes, writtenAt }: Changes,
  now: number,
): ReadState {
  const read = loadPolicies(source);
  const keptPolicies = keptOf(source.dir, before, read, inodes);
  const policies = [...read.policies, ...keptPolicies];
  const versions = new Map(before.policies.map(({ name, hash }) => [name, hash]));
  const readAt = new Map(
    policies.map(({ name, hash }) => [name, (versions.get(name) === hash && before.readAt.get(name)) || now]),
  );
  // What was changed while this process was running was changed just now, whatever the time of the file says.
  const changedAt = new Map(
    policies.map(({ name, hash, file }) => {
      const known = versions.get(name) === hash ? before.changedAt.get(name) : undefined;
      return [name, known ?? (before === nothing ? Math.min(writtenAt.get(file) ?? now, now) : now)] as const;
    }),
  );
  const brokenSince = new Map(
    read.findings.map(({ file }) => [file, before.brokenSince.get(file) ?? now] as const),
  );
  const kept = keptPolicies.map((policy): KeptPolicy => {
    const place = read.broken.find(({ name }) => name === policy.name)?.file ?? policy.file;
    const mistake = read.findings.find(({ file }) => file === place) ?? read.findings[0];
    return {
      name: policy.name,
      policy,
      file: mistake?.file ?? policy.file,
      readAt: readAt.get(policy.name) ?? now,
      brokenSince: brokenSince.get(mistake?.file ?? '') ?? now,
      mistake: mistake ? `${mistake.line}:${mistake.column}: ${mistake.message}` : '',
    };
  });
  return { policies, findings: read.findings, kept, inodes, readAt, changedAt, brokenSince };
}

/**
 * Of what was active and could not be read now, that which stays: policies of a broken file, by whatever
 * name the file goes now, and those that are broken by themselves, in whatever file. All of them while the
 * folder is away.
 */
function keptOf(
  dir: string,
  before: ReadState,
  read: Loaded,
  inodes: Map<string, number>,
): readonly Policy[] {
  const broken = new Set(read.findings.map(({ file }) => file));
  const names = new Set(read.policies.map(({ name }) => name));
  const fileNow = (file: string): string => {
    if (inodes.has(file)) return file;
    const inode = before.inodes.get(file);
    return [...inodes].find(([, one]) => one === inode)?.[0] ?? file;
  };
  return before.policies.flatMap((policy) => {
    const file = fileNow(policy.file);
    if (names.has(policy.name)) return [];
    if (!broken.has(dir) && !broken.has(file) && !read.broken.some(({ name }) => name === policy.name))
      return [];
    return file === policy.file ? [policy] : [deepFreeze({ ...policy, file })];
  });
}

/** One sentence about what changed, and one about each file that broke or was fixed. */
function tell(now: ReadState, before: ReadState, log: Log): void {
  const told = brokenFiles(before);
  for (const [file, sentence] of brokenFiles(now)) {
    if (told.get(file) !== sentence) log.error({ file }, sentence);
  }
  for (const file of told.keys()) {
    if (!now.brokenSince.has(file) && existsSync(file))
      log.info({ file }, `${shortFile(file)} has no errors any more`);
  }
  const facts = { policies: now.policies.length, mistakes: now.findings.length };
  log.info(
    facts,
    before === nothing
      ? `policies loaded: ${now.policies.length} active`
      : `policies read again: ${formatNames(changesBetween(before.policies, now.policies))}`,
  );
}

/** What is said of each broken file. */
function brokenFiles({ findings, kept }: ReadState): Map<string, string> {
  return new Map(
    [...new Set(findings.map(({ file }) => file))].map((file) => {
      const [first, ...others] = findings.filter((finding) => finding.file === file);
      const mistake = first ? `${placeOf(first)}: ${first.message.replace(/\.$/, '')}` : '';
      const more = others.length > 0 ? ` (and ${others.length} more)` : '';
      const mine = kept.filter((one) => one.file === file);
      const versions = mine.map(({ name, readAt }) => `${name} (read at ${isoMinute(readAt)})`).join(', ');
      const rest =
        mine.length > 0 ? `the previous version stays active: ${versions}` : 'no previous version was active';
      return [file, `${mistake}${more}; ${rest}`];
    }),
  );
}
