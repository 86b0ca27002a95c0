/**
 * Watches the policy files of a daemon and keeps the active version of each policy: files are read again when
 * they change, without a restart. While a file has errors, the last valid version of its policies stays
 * active, also that of an earlier process, and the file is reported. So do all policies when the folder or all of its
 * files are gone.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Clock, isoMinute } from '../clock.ts';
import type { Registry } from '../job/registry.ts';
import type { Log } from '../log.ts';
import type { KeptPolicy } from '../records/presence-store.ts';
import type { LastPolicy } from '../records/version-store.ts';
import { deepFreeze, type Settings } from '../settings/settings.ts';
import { type Diagnostic, placeOf, shortFile } from '../yaml/diagnostic.ts';
import { watchFolders } from './config-watcher.ts';
import { emptyFolder, isPolicyFile, type Loaded, loadPolicies } from './load-policies.ts';
import { Policy } from './policy.ts';
import { changesBetween, formatNames } from './policy-diff.ts';

export interface PolicyWatcher {
  /** The active policies. */
  policies(): readonly Policy[];
  /** The errors in the present files. */
  findings(): readonly Diagnostic[];
  /** Policies that are active although their file has errors. */
  kept(): readonly KeptPolicy[];
  /** When an active policy was changed: by the time of its file, or when this process noticed the change. */
  changedAt(policy: string): number;
  /** The active policies as `last` of a later process. */
  last(): LastPolicy[];
  /** Since when a file has had errors, in milliseconds since 1970. */
  brokenSince(file: string): number;
  /** Soon looks whether something changed, as after a change of the settings. */
  look(): void;
  /** Stops watching. */
  close(): Promise<void>;
}

export interface PolicyWatcherOptions {
  /** The present settings, read at every check: calendars and names under `notifications` may change. */
  settings: () => Settings;
  registry: Registry;
  clock: Clock;
  log: Log;
  /** The policies that were active last, of an earlier process. */
  last?: readonly LastPolicy[];
  /** Called after policies were read again, with the active ones before and now. */
  onChange?: (before: readonly Policy[], now: readonly Policy[]) => void;
}

/** Changed files are read when nothing has changed for this time: a file may be written in parts. */
const QUIET_MS = 2_000;
/** Files that do not stop changing are reported after this time. */
const UNREST_MS = 60_000;

/** Reads the policies, and reads changed files when they stop changing. */
export function watchPolicies(parts: PolicyWatcherOptions): PolicyWatcher {
  const { settings, registry, clock, log } = parts;
  const dir = settings().policiesDir;
  const closing = new AbortController();
  const folder = watchFolders([dir], clock);
  let seen = fingerprintOf(dir, settings());
  const source = () => ({ dir, registry, settings: settings() });
  let state = readAtStart(source(), parts.last ?? [], seen, clock.now());
  logChanges(state, nothing, log);

  /** What changed since the files were read, since when it is as it is, and since when it has been changing. */
  let change: { text: string; since: number; from: number; isReported?: true } | undefined;
  /** Whether the files have stopped changing; otherwise they are looked at again soon. */
  const isQuiet = (text: string): boolean => {
    const now = clock.now();
    if (text !== change?.text) change = { ...change, text, since: now, from: change?.from ?? now };
    if (now - change.since >= QUIET_MS) return true;
    if (now - change.from >= UNREST_MS && !change.isReported) {
      log.warn(
        'the policy files have been changing for a minute: they are read when they are unchanged for 2 s',
      );
      change.isReported = true;
    }
    folder.wake();
    return false;
  };
  const watching = (async () => {
    while (!closing.signal.aborted) {
      await folder.next();
      const now = fingerprintOf(dir, settings());
      if (closing.signal.aborted) continue;
      if (now.text === seen.text) change = undefined;
      else if (isQuiet(now.text)) {
        const read = readAll(source(), state, now, clock.now());
        // It may have been written while it was read.
        if (fingerprintOf(dir, settings()).text !== now.text) folder.wake();
        else {
          const before = state;
          [state, seen, change] = [read, now, undefined];
          logChanges(state, before, log);
          parts.onChange?.(before.policies, state.policies);
        }
      }
    }
  })();
  return {
    policies: () => state.policies,
    findings: () => state.findings,
    kept: () => state.kept,
    changedAt: (policy) => state.changedAt.get(policy) ?? clock.now(),
    last: () =>
      state.policies.map((policy) => ({
        name: policy.name,
        file: relative(dir, policy.file),
        policy,
        hash: policy.hash,
        readAt: state.readAt.get(policy.name) ?? clock.now(),
        changedAt: state.changedAt.get(policy.name) ?? clock.now(),
      })),
    brokenSince: (file) => state.brokenSince.get(file) ?? clock.now(),
    look: folder.wake,
    async close() {
      closing.abort();
      folder.close();
      await watching;
    },
  };
}

interface Fingerprint {
  /** Differs when a person edited, added, renamed or removed a file. */
  text: string;
  /** The inode of each file, which identifies a renamed file. */
  inodes: Map<string, number>;
  /** When each file was written last. */
  writtenAt: Map<string, number>;
}

function fingerprintOf(dir: string, { notifications, calendars }: Settings): Fingerprint {
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
  // A policy is only valid if the names in it exist.
  const named = JSON.stringify([Object.keys(notifications), calendars]);
  return { text: [...lines, named].join('\n'), inodes, writtenAt };
}

interface ReadState {
  policies: readonly Policy[];
  findings: readonly Diagnostic[];
  kept: readonly KeptPolicy[];
  inodes: Map<string, number>;
  /** When the active version of a policy was first read. */
  readAt: Map<string, number>;
  /** When the active version of a policy was changed. */
  changedAt: Map<string, number>;
  /** Since when a file has had errors. */
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

interface WatchedSource {
  dir: string;
  registry: Registry;
  settings: Settings;
}

/** What an earlier process had active is needed only where a file cannot be read, or none is there. */
function readAtStart(
  source: WatchedSource,
  last: readonly LastPolicy[],
  files: Fingerprint,
  now: number,
): ReadState {
  const { writtenAt } = files;
  const read = readAll(source, nothing, files, now, writtenAt);
  if (last.length === 0 || (read.findings.length === 0 && read.policies.length > 0)) return read;
  return readAll(source, stateOf(source.dir, last), files, now, writtenAt);
}

/** What was active in an earlier process. A version that only another release can read is left out. */
function stateOf(dir: string, last: readonly LastPolicy[]): ReadState {
  const known = last.flatMap((one) => {
    const policy = Policy.safeParse(one.policy).data;
    return policy ? [{ ...one, policy: deepFreeze({ ...policy, file: join(dir, one.file) }) }] : [];
  });
  return {
    ...nothing,
    policies: known.map(({ policy }) => policy),
    readAt: new Map(known.map(({ name, readAt }) => [name, readAt])),
    changedAt: new Map(known.map(({ name, changedAt }) => [name, changedAt])),
  };
}

/** `writtenAt`: at the start, when each file was written last; later, a change counts from when it is noticed. */
function readAll(
  source: WatchedSource,
  before: ReadState,
  { inodes }: Fingerprint,
  now: number,
  writtenAt?: ReadonlyMap<string, number>,
): ReadState {
  const read = loadPolicies(source);
  const isEmptied = read.files === 0 && read.findings.length === 0 && before.policies.length > 0;
  if (isEmptied) read.findings.push(emptyFolder(source.dir));
  const since = (file: string) => Math.min(writtenAt?.get(file) ?? now, now);
  const keptPolicies = keptOf(source.dir, before, read, inodes);
  const policies = [...read.policies, ...keptPolicies];
  const versions = new Map(before.policies.map(({ name, hash }) => [name, hash]));
  const readAt = new Map(
    policies.map(({ name, hash }) => [name, (versions.get(name) === hash && before.readAt.get(name)) || now]),
  );
  const changedAt = new Map(
    policies.map(({ name, hash, file }) => {
      const known = versions.get(name) === hash ? before.changedAt.get(name) : undefined;
      return [name, known ?? since(file)] as const;
    }),
  );
  const brokenSince = new Map(
    read.findings.map(({ file }) => [file, before.brokenSince.get(file) ?? since(file)] as const),
  );
  const kept = keptPolicies.map((policy): KeptPolicy => {
    const place = read.broken.find(({ name }) => name === policy.name)?.file ?? policy.file;
    const first = read.findings.find(({ file }) => file === place) ?? read.findings[0];
    return {
      name: policy.name,
      policy,
      file: first?.file ?? policy.file,
      readAt: readAt.get(policy.name) ?? now,
      brokenSince: brokenSince.get(first?.file ?? '') ?? now,
      error: first
        ? `${first.file === source.dir ? '' : `${first.line}:${first.column}: `}${first.message}`
        : '',
    };
  });
  return { policies, findings: read.findings, kept, inodes, readAt, changedAt, brokenSince };
}

/**
 * The policies that stay active although they could not be read now: those of a file with errors, also when
 * it was renamed, and those with errors of their own. All of them while the folder cannot be read or has no file.
 */
function keptOf(
  dir: string,
  before: ReadState,
  read: Loaded,
  inodes: Map<string, number>,
): readonly Policy[] {
  const broken = new Set(
    read.findings.filter((one) => !read.linkFindings.includes(one)).map(({ file }) => file),
  );
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

/** Logs what changed, and each file that has errors now or has none any more. */
function logChanges(now: ReadState, before: ReadState, log: Log): void {
  const reported = brokenFiles(before);
  for (const [file, sentence] of brokenFiles(now)) {
    if (reported.get(file) !== sentence) log.error({ file }, sentence);
  }
  for (const file of reported.keys()) {
    if (!now.brokenSince.has(file) && existsSync(file))
      log.info({ file }, `${shortFile(file)} has no errors now`);
  }
  const facts = { policies: now.policies.length, errors: now.findings.length };
  log.info(
    facts,
    before === nothing
      ? `policies loaded: ${now.policies.length} active`
      : `policies read again: ${formatNames(changesBetween(before.policies, now.policies))}`,
  );
}

/** A sentence about each file with errors. */
function brokenFiles({ findings, kept }: ReadState): Map<string, string> {
  return new Map(
    [...new Set(findings.map(({ file }) => file))].map((file) => {
      const [first, ...others] = findings.filter((finding) => finding.file === file);
      const error = first ? `${placeOf(first)}: ${first.message.replace(/\.$/, '')}` : '';
      const more = others.length > 0 ? ` (and ${others.length} more)` : '';
      const mine = kept.filter((one) => one.file === file);
      const versions = mine.map(({ name, readAt }) => `${name} (read at ${isoMinute(readAt)})`).join(', ');
      const rest =
        mine.length > 0
          ? `the previous version stays active: ${versions}`
          : 'no previous version of it is known';
      return [file, `${error}${more}; ${rest}`];
    }),
  );
}
